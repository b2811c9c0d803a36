// SPDX-License-Identifier: Apache-2.0
// What the clients of a simulated run have in common: how they judge errors and measure silence.
//
// Threads: any.
#pragma once

#include <chrono>
#include <expected>
#include <system_error>

#include "io/errors.hpp"
#include "io/loop/context.hpp"

namespace corro::simulation {

/// How long a logon may take, and how long a client waits before the next attempt.
inline constexpr std::chrono::seconds logon_patience{2};
inline constexpr std::chrono::milliseconds reconnect_pause{50};

/// Whether an error means a lost connection, and not a refusal of the venue.
[[nodiscard]] inline bool is_broken_connection(std::error_code error) {
    return error.category() == std::system_category() || error.category() == std::generic_category() ||
           error == io::condition::end_of_stream || error == io::condition::timed_out ||
           error == io::condition::canceled;
}

/// The error of work that had a time limit.
[[nodiscard]] inline std::error_code error_of(const std::expected<std::error_code, std::error_code>& tried) {
    return tried ? *tried : tried.error();
}

[[nodiscard]] inline std::chrono::nanoseconds since_beginning(const io::context& here) {
    return here.now().time_since_epoch();
}

}  // namespace corro::simulation
