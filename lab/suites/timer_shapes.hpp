// SPDX-License-Identifier: Apache-2.0
// The shapes of the timer rows, shared by all subjects.
//
// Threads: any.
#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>

#include "lab/measurement.hpp"

namespace corro::lab {

inline constexpr int timer_batch = 1000;
inline constexpr std::chrono::hours timer_far_away{1};
inline constexpr std::array<int, 3> concurrent_timer_counts{10, 100, 1000};

[[nodiscard]] inline std::string concurrent_timers_row(int timers) {
    return fmt::format("concurrent_{}", timers);
}

/// The interval of one of `timers` timers: from 100 to 1,000 microseconds, evenly.
[[nodiscard]] constexpr std::chrono::nanoseconds interval_of(int timer, int timers) noexcept {
    return std::chrono::microseconds(100 + 900 * timer / (timers > 1 ? timers - 1 : 1));
}

/// Gathers how late timers fire. One for all timers of a run, on one thread.
class lateness_run {
 public:
    explicit lateness_run(double seconds) : run_(seconds) {}

    using time = std::chrono::steady_clock::time_point;

    /// A timer that was due at `due` has fired. @return Whether it should go on.
    [[nodiscard]] bool fired(time due) {
        const time now = std::chrono::steady_clock::now();
        const auto late = std::chrono::duration_cast<std::chrono::nanoseconds>(now - due).count();
        verify(late >= 0, "a timer fired before its time");
        const std::uint64_t at = run_.now();
        if (run_.measuring(at) || run_.over(at)) {
            late_.record(static_cast<std::uint64_t>(late));
            // The row's value is a rate: the lap is counted as an operation that began and ended now.
            (void)run_.count(at, 1);
        }
        return run_.goes_on(at);
    }

    /// Rate, P50 and P99 of the lateness.
    [[nodiscard]] measurement result() const {
        measurement made = rate_of(run_);
        made.latency_ns = summary_of(late_);
        made.values.push_back(made.latency_ns->p50);
        made.values.push_back(made.latency_ns->p99);
        return made;
    }

 private:
    timed_run run_;
    base::latency_histogram late_;
};

}  // namespace corro::lab
