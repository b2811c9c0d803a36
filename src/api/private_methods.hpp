// SPDX-License-Identifier: Apache-2.0
// The answers to private methods: orders, their state, trades, positions.
//
// Threads: one context. Source: docs/spec/api.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "api/account.hpp"
#include "api/authentication.hpp"
#include "api/errors.hpp"
#include "api/market_view.hpp"
#include "api/request.hpp"
#include "io/task/task.hpp"

namespace corro::api {

/// The answer to public/auth, and whose it is.
struct authenticated {
    std::string result;
    account* of = nullptr;
};
[[nodiscard]] std::expected<authenticated, api_error> answer_auth(const request& r, authentication& keys,
                                                                  std::int64_t now_ms, io::steady_time now);

/// Open orders in an answer, the oldest ones.
inline constexpr std::size_t open_orders_per_answer_max = 10'000;

/// What the answers depend on, beside the account.
struct private_caller {
    const market_view* markets = nullptr;
    /// Whether the feeds are connected. Before that, instruments may be missing.
    bool is_joined = false;
    /// Whether orders entered now are cancelled with the connection; they are added to `entered`.
    bool cancels_on_disconnect = false;
    std::vector<domain::order_id>* entered = nullptr;
    std::vector<domain::instrument_id>* quoted = nullptr;  ///< the same for quotes, by instrument
};

/// The answer when a request to the venue did not succeed; nothing if it did.
[[nodiscard]] std::optional<api_error> problem_of(const outcome& result);

/// Answers a request. @return The result as JSON.
/// @param r, of, by  Valid until the await returns.
/// @suspend Until the venue has answered, if it is asked; at most account::request_timeout for each question.
[[nodiscard]] io::task<std::expected<std::string, api_error>> answer_private(const request* r, account* of,
                                                                             const private_caller* by);

}  // namespace corro::api
