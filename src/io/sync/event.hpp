// SPDX-License-Identifier: Apache-2.0
// Events: one task signals, others wait.
//
// `manual_event` stays set until it is reset and releases all waiters; `auto_event` releases one waiter per `set`,
// and remembers at most one `set` without a waiter. The `shared_` forms may be used by any thread; the cheapest way
// to signal one task from another thread is remote_event.hpp.
//
// Threads: one context; any for the `shared_` forms.
// Cost:    waiting on a set event is one branch (shared: one short lock); setting wakes through the ready queue and
// never
//          runs the waiter.
#pragma once

#include <coroutine>
#include <system_error>

#include "io/errors.hpp"
#include "io/sync/detail/shared_wait_list.hpp"
#include "io/sync/detail/wait_list.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {

/// Stays set until it is reset, and releases all waiters.
template <class Waiters>
class basic_manual_event {
    using section = typename Waiters::section;

 public:
    explicit basic_manual_event(bool initially_set = false) noexcept : set_(initially_set) {}

    [[nodiscard]] bool is_set() noexcept {
        const section inside(waiters_);
        return set_;
    }
    /// Sets the event and makes every waiter ready.
    void set() noexcept {
        section inside(waiters_);
        set_ = true;
        while (!waiters_.empty()) inside.wake(waiters_.front());
    }
    void reset() noexcept {
        const section inside(waiters_);
        set_ = false;
    }

    class wait_awaiter {
     public:
        explicit wait_awaiter(basic_manual_event* on) noexcept : on_(on) {}
        bool await_ready() const noexcept { return on_->is_set(); }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            const section inside(on_->waiters_);
            return !on_->set_ && on_->waiters_.suspend(waiter_.make(), self);
        }
        std::error_code await_resume() const noexcept {
            if (waiter_.canceled()) [[unlikely]]
                return operation_canceled();
            return detail::success;
        }

     private:
        basic_manual_event* on_;
        detail::waiter_when_needed<typename Waiters::waiter> waiter_;
    };

    /// Waits until the event is set.
    ///
    /// @error   operation_canceled on stop, if the event was not set first.
    /// @suspend Unless the event is set; resumes through the ready queue.
    /// @overlap Any number of waiters.
    /// @cancel  Observes the task's stop token.
    lazily<wait_awaiter, basic_manual_event*> wait() noexcept {
        return lazily<wait_awaiter, basic_manual_event*>(this);
    }

 private:
    Waiters waiters_;
    bool set_;
};

/// Releases one waiter per `set`; remembers one `set` without a waiter.
template <class Waiters>
class basic_auto_event {
    using section = typename Waiters::section;

 public:
    explicit basic_auto_event(bool initially_set = false) noexcept : set_(initially_set) {}

    [[nodiscard]] bool is_set() noexcept {
        const section inside(waiters_);
        return set_;
    }
    /// Releases the waiter that has waited longest; with none, the next `wait` goes through.
    void set() noexcept {
        section inside(waiters_);
        if (waiters_.empty()) {
            set_ = true;
        } else {
            inside.wake(waiters_.front());
        }
    }
    void reset() noexcept {
        const section inside(waiters_);
        set_ = false;
    }

    class wait_awaiter {
     public:
        explicit wait_awaiter(basic_auto_event* on) noexcept : on_(on) {}
        bool await_ready() const noexcept {
            const section inside(on_->waiters_);
            return on_->take();
        }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            const section inside(on_->waiters_);
            return !on_->take() && on_->waiters_.suspend(waiter_.make(), self);
        }
        std::error_code await_resume() const noexcept {
            if (waiter_.canceled()) [[unlikely]]
                return operation_canceled();
            return detail::success;
        }

     private:
        basic_auto_event* on_;
        detail::waiter_when_needed<typename Waiters::waiter> waiter_;
    };

    /// Waits for a `set` and uses it up.
    ///
    /// @error   operation_canceled on stop; then no `set` was used up.
    /// @suspend Unless the event is set; resumes through the ready queue.
    /// @overlap Any number of waiters, served in the order in which they came.
    /// @cancel  Observes the task's stop token.
    lazily<wait_awaiter, basic_auto_event*> wait() noexcept { return lazily<wait_awaiter, basic_auto_event*>(this); }

 private:
    bool take() noexcept { return std::exchange(set_, false); }

    Waiters waiters_;
    bool set_;
};

/// For tasks of one context.
using manual_event = basic_manual_event<detail::wait_list>;
/// For tasks of one context.
using auto_event = basic_auto_event<detail::wait_list>;
/// For tasks of any contexts; `set` and `reset` from any thread.
using shared_manual_event = basic_manual_event<detail::shared_wait_list>;
/// For tasks of any contexts; `set` and `reset` from any thread.
using shared_auto_event = basic_auto_event<detail::shared_wait_list>;

}  // namespace corro::io
