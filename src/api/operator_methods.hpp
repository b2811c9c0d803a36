// SPDX-License-Identifier: Apache-2.0
// The answers to an operator's methods: kill switches, clearing, phases, limits, settlements, the venue's status.
//
// They are methods of a key like the others. The venue decides whether the key's account is an operator's, and journals
// each request with its answer, refusals included.
//
// Threads: one context. Source: docs/spec/api.md; docs/howto/sandbox.md.
#pragma once

#include <expected>
#include <string>

#include "api/account.hpp"
#include "api/errors.hpp"
#include "api/private_methods.hpp"
#include "api/request.hpp"
#include "io/task/task.hpp"

namespace corro::api {

/// Whether `answer_operator` answers the method.
[[nodiscard]] bool is_for_operators(method_id id) noexcept;

/// Answers a request of such a method. @return The result as JSON.
/// @param r, of, by  Valid until the await returns.
/// @suspend Until the venue has answered; at most account::request_timeout.
[[nodiscard]] io::task<std::expected<std::string, api_error>> answer_operator(const request* r, account* of,
                                                                              const private_caller* by);

}  // namespace corro::api
