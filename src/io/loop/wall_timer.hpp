// SPDX-License-Identifier: Apache-2.0
// Waiting for a time of day, also when the clock is set during the wait.
//
// Limits:  a clock that is set while a task waits is noticed within `wall_clock_check`.
// Threads: one context.
// Cost:    one wake-up per `wall_clock_check` and waiting task.
#pragma once

#include <chrono>
#include <system_error>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// The interval at which a wait reads the clock again.
inline constexpr std::chrono::milliseconds wall_clock_check{500};

/// Waits until the wall clock shows `due` or later. When the clock is set forward it ends within `wall_clock_check`;
/// when it is set back the wait continues.
///
/// @error   operation_canceled on stop.
/// @suspend Unless `due` has passed; resumes through the ready queue.
/// @cancel  Observes the task's stop token.
inline task<std::error_code> sleep_until(std::chrono::system_clock::time_point due) {
    context& here = co_await this_context();
    for (;;) {
        const auto now = here.wall_now();
        if (due <= now) co_return std::error_code();
        // Compared before subtracting: the difference of two points in time may not fit a duration.
        const bool soon = now > due - wall_clock_check;
        const std::chrono::nanoseconds pause = soon ? due - now : wall_clock_check;
        if (const std::error_code stopped = co_await sleep_for(pause)) co_return stopped;
    }
}

}  // namespace corro::io
