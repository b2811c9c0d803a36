// SPDX-License-Identifier: Apache-2.0
// Names to addresses.
//
// Numeric addresses are parsed at once. Names go to the system's resolver, which blocks, so each lookup has a thread
// of its own while it lasts.
//
// Limits:  `lookups_max` lookups at a time in one process; more fail with resource_unavailable_try_again.
// Threads: one context per call.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <system_error>
#include <vector>

#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// Lookups of names at a time, in one process.
inline constexpr unsigned lookups_max = 32;

/// Looks up `host`, a name or a numeric address, and returns its endpoints with `port`, in the system's order.
///
/// @error   errc::host_not_found; errc::resolver_failed (temporarily or permanently); operation_canceled on
///          stop.
/// @suspend For names; resumes on the task's own context.
/// @cancel  Observes the task's stop token; the lookup continues by itself, and its result is dropped.
[[nodiscard]] task<std::expected<std::vector<endpoint>, std::error_code>> resolve(std::string host, std::uint16_t port);

}  // namespace corro::io
