// SPDX-License-Identifier: Apache-2.0
// Waiting for time to pass: `sleep_for`, `sleep_until`, and `steady_timer`, which can be moved and cancelled.
//
// Units:   std::chrono durations; the steady clock of the context's backend.
// Limits:  a delay counts from the end of the loop turn that armed it, so a timer is never early.
// Threads: one context.
// Cost:    no system call and no reading of the clock per timer; no allocation.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstdint>
#include <system_error>
#include <type_traits>

#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/sync/detail/wait_list.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {
namespace detail {

/// `given` in nanoseconds; a duration that does not fit becomes the longest one, positive or negative.
template <class Rep, class Period>
    requires std::is_convertible_v<std::chrono::duration<Rep, Period>, std::chrono::nanoseconds>
[[nodiscard]] constexpr std::chrono::nanoseconds saturated(std::chrono::duration<Rep, Period> given) noexcept {
    using std::chrono::nanoseconds;
    using wide = std::chrono::duration<std::common_type_t<Rep, std::int64_t>, Period>;
    constexpr wide longest = std::chrono::duration_cast<wide>(nanoseconds::max());
    if (wide(given) > longest) return nanoseconds::max();
    if (wide(given) < -longest) return nanoseconds::min();
    return nanoseconds(wide(given));
}

class sleep_awaiter : ready_item, stop_callback, timer_node {
 public:
    explicit sleep_awaiter(std::chrono::nanoseconds delay) noexcept
        : stop_callback(&on_stop), timer_node(&on_time), delay_(delay), absolute_(false) {}
    explicit sleep_awaiter(steady_time due) noexcept
        : stop_callback(&on_stop), timer_node(&on_time), due_(due), absolute_(true) {}
    ~sleep_awaiter() {
        if (armed()) where_->timers().disarm(*this);
    }

    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        const environment& around = self.promise().surroundings();
        if (around.stop.stop_requested()) [[unlikely]] {
            canceled_ = true;
            return false;
        }
        where_ = around.where;
        waiter = self;
        if (absolute_) {
            where_->timers().arm_at(*this, due_);
        } else if (delay_.count() <= 0) {
            // Due already: the wheel is not needed, but other tasks run first.
            where_->ready(*this);
            return true;
        } else {
            where_->timers().arm_after(*this, delay_);
        }
        around.stop.add(*this);
        return true;
    }
    std::error_code await_resume() const noexcept { return canceled_ ? operation_canceled() : detail::success; }

 private:
    friend class io::context;
    static void on_time(timer_node& self) noexcept {
        auto& woken = static_cast<sleep_awaiter&>(self);
        woken.unregister();
        woken.where_->ready(woken);
    }
    static void on_stop(stop_callback& self) noexcept {
        auto& stopped = static_cast<sleep_awaiter&>(self);
        stopped.where_->timers().disarm(stopped);
        stopped.canceled_ = true;
        stopped.where_->ready(stopped);
    }

    context* where_ = nullptr;
    union {
        std::chrono::nanoseconds delay_;
        steady_time due_;
    };
    bool absolute_;
    bool canceled_ = false;
};

}  // namespace detail

/// Waits for `delay` to pass; zero or less is a yield. A delay of more than 146 years never ends.
///
/// @error   operation_canceled on stop.
/// @suspend Unless the task is stopped already; resumes through the ready queue.
/// @cancel  Observes the task's stop token.
template <class Rep, class Period>
lazily<detail::sleep_awaiter, std::chrono::nanoseconds> sleep_for(std::chrono::duration<Rep, Period> delay) noexcept {
    return lazily<detail::sleep_awaiter, std::chrono::nanoseconds>(detail::saturated(delay));
}

/// Waits until `due`; a time in the past is due at the end of this turn of the loop. Otherwise as `sleep_for`.
inline lazily<detail::sleep_awaiter, steady_time> sleep_until(steady_time due) noexcept {
    return lazily<detail::sleep_awaiter, steady_time>(due);
}

/// A timer that outlives its waits. When the deadline moves, waiting tasks wait for the new one. So each message can
/// move an idle timer at the cost of two list operations.
class steady_timer : timer_node {
 public:
    explicit steady_timer(context& on) noexcept : timer_node(&on_time), context_(&on) {}
    steady_timer(const steady_timer&) = delete;
    steady_timer& operator=(const steady_timer&) = delete;
    /// Waiting tasks get operation_canceled.
    ~steady_timer() { cancel(); }

    /// Sets the deadline `delay` ahead, instead of any earlier setting. With no delay and no waiting task the timer
    /// expires at once, without the wheel or the clock; the next wait is then a yield.
    template <class Rep, class Period>
    void expires_after(std::chrono::duration<Rep, Period> given) noexcept {
        const std::chrono::nanoseconds delay = detail::saturated(given);
        context_->timers().disarm(*this);
        yield_owed_ = delay.count() <= 0 && waiters_.empty();
        if (yield_owed_) return;
        context_->timers().arm_after(*this, delay);
    }
    /// Sets the deadline, instead of any earlier setting.
    void expires_at(steady_time due) noexcept {
        context_->timers().disarm(*this);
        yield_owed_ = false;
        context_->timers().arm_at(*this, due);
    }
    /// Removes the deadline. Waiting tasks get operation_canceled. @return Whether the timer was armed.
    bool cancel() noexcept {
        const bool was_armed = armed();
        context_->timers().disarm(*this);
        yield_owed_ = false;
        wake_all(true);
        return was_armed;
    }
    [[nodiscard]] bool armed() const noexcept { return timer_node::armed(); }

    class wait_awaiter : detail::wait_list::waiter {
     public:
        explicit wait_awaiter(steady_timer* on) noexcept : on_(on) {}
        bool await_ready() const noexcept { return !on_->armed() && !on_->yield_owed_; }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            const environment& around = self.promise().surroundings();
            if (on_->yield_owed_ && !around.stop.stop_requested()) {
                on_->yield_owed_ = false;
                ready_item::waiter = self;
                around.where->ready(*this);
                return true;
            }
            return on_->waiters_.suspend(*this, self);
        }
        std::error_code await_resume() const noexcept {
            return canceled() || timer_canceled_ ? operation_canceled() : detail::success;
        }

     private:
        friend class steady_timer;
        steady_timer* on_;  // may be destroyed when the task resumes
        bool timer_canceled_ = false;
    };

    /// Waits until the deadline has passed, also when it moves during the wait. A timer that is not armed has
    /// expired.
    ///
    /// @error   operation_canceled on `cancel`, on stop, and when the timer is destroyed.
    /// @suspend While the timer is armed, and once after it was set to no delay; resumes through the ready queue.
    /// @overlap Any number of waiters.
    /// @cancel  Observes the task's stop token; the timer stays armed.
    lazily<wait_awaiter, steady_timer*> wait() noexcept { return lazily<wait_awaiter, steady_timer*>(this); }

 private:
    static void on_time(timer_node& self) noexcept { static_cast<steady_timer&>(self).wake_all(false); }
    void wake_all(bool canceled) noexcept {
        detail::wait_list::section inside(waiters_);
        while (!waiters_.empty()) {
            auto& first = static_cast<wait_awaiter&>(waiters_.front());
            first.timer_canceled_ = canceled;
            inside.wake(first);
        }
    }

    context* context_;
    bool yield_owed_ = false;  // expired when it was set, and no task has waited since
    detail::wait_list waiters_;
};

}  // namespace corro::io
