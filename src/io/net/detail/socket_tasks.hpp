// SPDX-License-Identifier: Apache-2.0
// Opening, connecting and accepting, for every address family.
//
// Threads: one context.
#pragma once

#include <chrono>
#include <expected>
#include <system_error>

#include "io/loop/backend.hpp"
#include "io/task/task.hpp"

namespace corro::io::detail {

/// The pause of accepting when the process or the system has run out of descriptors or memory.
inline constexpr std::chrono::milliseconds exhausted_retry_delay{10};

/// Opens a socket of `kind` and connects it to `peer`. The descriptor is the caller's.
[[nodiscard]] task<std::expected<descriptor*, std::error_code>> connect_socket(context* on, transport kind,
                                                                               socket_address peer);

/// Takes the next connection from `on`; waits while descriptors or memory have run out. The descriptor is the caller's.
[[nodiscard]] task<std::expected<descriptor*, std::error_code>> accept_patiently(descriptor* on);

}  // namespace corro::io::detail
