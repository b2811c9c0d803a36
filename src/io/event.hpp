// Events inside one context: something has happened, go on.
//
// `manual_event` stays set until it is reset and releases everybody; `auto_event` releases one waiter per `set`, and
// remembers at most one `set` that found nobody waiting. For signals from other threads see remote_event.hpp.
//
// Threads: one context.
// Cost:    waiting on a set event is one branch; setting wakes through the ready queue and never runs the waiter.
#pragma once

#include <coroutine>
#include <system_error>

#include "io/errors.hpp"
#include "io/lazily.hpp"
#include "io/wait_list.hpp"

namespace corro::io {

class manual_event {
 public:
    explicit manual_event(bool initially_set = false) noexcept : set_(initially_set) {}

    [[nodiscard]] bool is_set() const noexcept { return set_; }

    /// Sets the event and makes every waiter ready.
    void set() noexcept {
        set_ = true;
        waiters_.wake_all();
    }
    void reset() noexcept { set_ = false; }

    class wait_awaiter : detail::waiter {
     public:
        explicit wait_awaiter(manual_event* on) noexcept : on_(on) {}
        bool await_ready() const noexcept { return on_->set_; }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            return on_->waiters_.suspend(*this, self);
        }
        std::error_code await_resume() const noexcept { return canceled() ? operation_canceled() : std::error_code(); }

     private:
        manual_event* on_;
    };

    /// Waits until the event is set.
    ///
    /// @error   operation_canceled on stop, if the event was not set first.
    /// @suspend Unless the event is set; resumes through the ready queue.
    /// @overlap Any number of waiters.
    /// @cancel  Observes the task's stop token.
    lazily<wait_awaiter, manual_event*> wait() noexcept { return lazily<wait_awaiter, manual_event*>(this); }

 private:
    detail::wait_list waiters_;
    bool set_;
};

class auto_event {
 public:
    explicit auto_event(bool initially_set = false) noexcept : set_(initially_set) {}

    [[nodiscard]] bool is_set() const noexcept { return set_; }

    /// Releases the waiter that has waited longest; with none, the next `wait` goes through.
    void set() noexcept {
        if (waiters_.empty()) {
            set_ = true;
        } else {
            waiters_.front().wake();
        }
    }
    void reset() noexcept { set_ = false; }

    class wait_awaiter : detail::waiter {
     public:
        explicit wait_awaiter(auto_event* on) noexcept : on_(on) {}
        bool await_ready() const noexcept {
            if (!on_->set_) return false;
            on_->set_ = false;
            return true;
        }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            return on_->waiters_.suspend(*this, self);
        }
        std::error_code await_resume() const noexcept { return canceled() ? operation_canceled() : std::error_code(); }

     private:
        auto_event* on_;
    };

    /// Waits for a `set` and uses it up.
    ///
    /// @error   operation_canceled on stop; then no `set` was used up.
    /// @suspend Unless the event is set; resumes through the ready queue.
    /// @overlap Any number of waiters, served in the order in which they came.
    /// @cancel  Observes the task's stop token.
    lazily<wait_awaiter, auto_event*> wait() noexcept { return lazily<wait_awaiter, auto_event*>(this); }

 private:
    detail::wait_list waiters_;
    bool set_;
};

}  // namespace corro::io
