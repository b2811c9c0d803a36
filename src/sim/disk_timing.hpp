// SPDX-License-Identifier: Apache-2.0
// How long the calls on a simulated disk take.
//
// Units:   nanoseconds of the time of the context that calls.
// Threads: one.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>

#include "base/random.hpp"
#include "io/loop/context.hpp"
#include "io/task/detail/lazily.hpp"
#include "io/task/environment.hpp"
#include "sim/disk_faults.hpp"

namespace corro::sim {

/// Whether other tasks run during a call that takes no time.
enum class disk_pace : std::uint8_t {
    at_once,   // calls complete without suspending
    in_turns,  // the context's other ready tasks run first, except before a read
};

/// The shortest and the longest time of a call; each time between them is equally likely.
struct time_range {
    std::chrono::nanoseconds least{0};
    std::chrono::nanoseconds most{0};
};

/// The times of calls; none by default.
struct disk_latency {
    time_range read;
    time_range write;
    time_range sync_data;
    time_range names;   ///< opening, renaming, removing, syncing a directory
    time_range resize;  ///< preallocating and truncating
};

/// The time of one call. It takes effect between the two parts, so that a process or a machine may end on either side.
struct call_time {
    std::chrono::nanoseconds before{0};
    std::chrono::nanoseconds after{0};

    [[nodiscard]] std::chrono::nanoseconds whole() const noexcept { return before + after; }
};

/// Draws the time of a call: from its range, and longer when it hangs.
[[nodiscard]] call_time draw_call_time(const disk_latency& ranges, disk_call kind, disk_faults& faults,
                                       base::prng& random) noexcept;

namespace detail {

class call_sleep : io::ready_item, io::timer_node {
 public:
    explicit call_sleep(std::chrono::nanoseconds time) noexcept : timer_node(&on_time), time_(time) {}
    ~call_sleep() {
        if (where_ != nullptr) where_->timers().disarm(*this);
    }
    [[nodiscard]] bool await_ready() const noexcept { return time_.count() <= 0; }
    template <io::promise_with_environment Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
        waiter = self;
        where_ = self.promise().surroundings().where;
        where_->timers().arm_after(*this, time_);
    }
    void await_resume() const noexcept {}

 private:
    static void on_time(timer_node& self) noexcept {
        auto& woken = static_cast<call_sleep&>(self);
        woken.where_->ready(woken);
    }

    io::context* where_ = nullptr;
    std::chrono::nanoseconds time_;
};

}  // namespace detail

/// Waits until a call has taken its time.
///
/// @suspend Unless it takes none; resumes through the ready queue.
/// @cancel  Does not observe the stop token: a call in progress on a file cannot be interrupted.
inline io::lazily<detail::call_sleep, std::chrono::nanoseconds> spend(std::chrono::nanoseconds time) noexcept {
    return io::lazily<detail::call_sleep, std::chrono::nanoseconds>(time);
}

}  // namespace corro::sim
