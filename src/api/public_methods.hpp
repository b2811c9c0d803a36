// SPDX-License-Identifier: Apache-2.0
// The answers to public methods that ask about the market.
//
// Threads: one. Source: docs/spec/api.md.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "api/errors.hpp"
#include "api/market_view.hpp"
#include "api/request.hpp"
#include "api/stage_latencies.hpp"
#include "domain/types.hpp"

namespace corro::api {

/// The version that the API reports.
inline constexpr std::string_view api_version = "2.0.0";

/// What the answers depend on.
struct public_state {
    const market_view* markets = nullptr;
    bool is_joined = false;                      ///< whether the feeds are connected
    std::int64_t now_ms = 0;                     ///< since 1970
    std::string_view currency;                   ///< that prices are in
    const stage_latencies* latencies = nullptr;  ///< nullptr: none are known
};

/// The credits of a request, with those of the book in its answer.
[[nodiscard]] std::uint32_t cost_of(const request& r, const market_view& markets) noexcept;

/// The same of a snapshot of the binary market channel.
[[nodiscard]] std::uint32_t frame_snapshot_cost(const market_view& markets, domain::instrument_id of) noexcept;

/// Answers a request that concerns no connection. @return The result as JSON.
[[nodiscard]] std::expected<std::string, api_error> answer_public(const request& r, const public_state& state);

}  // namespace corro::api
