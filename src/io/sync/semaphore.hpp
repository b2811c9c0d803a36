// SPDX-License-Identifier: Apache-2.0
// Counting semaphores and latches for tasks.
//
// Threads: one context; any for the `shared_` forms.
// Cost:    no allocation; waking goes through the ready queue.
#pragma once

#include <coroutine>
#include <cstddef>
#include <system_error>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/sync/detail/shared_wait_list.hpp"
#include "io/sync/detail/wait_list.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {

/// A number of units to take and give back. First come, first served.
template <class Waiters>
class basic_semaphore {
    using section = typename Waiters::section;

 public:
    explicit basic_semaphore(std::size_t units_count) noexcept : units_count_(units_count) {}

    [[nodiscard]] std::size_t available() noexcept {
        const section inside(waiters_);
        return units_count_;
    }
    [[nodiscard]] bool try_acquire() noexcept {
        const section inside(waiters_);
        return take();
    }
    /// Gives `count` units back, or adds them.
    void release(std::size_t count = 1) noexcept {
        section inside(waiters_);
        for (; count != 0 && !waiters_.empty(); --count) inside.wake(waiters_.front());
        units_count_ += count;
    }

    class acquire_awaiter : Waiters::waiter {
     public:
        explicit acquire_awaiter(basic_semaphore* on) noexcept : on_(on) {}
        bool await_ready() const noexcept { return on_->try_acquire(); }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            const section inside(on_->waiters_);
            return !on_->take() && on_->waiters_.suspend(*this, self);
        }
        std::error_code await_resume() const noexcept {
            if (this->canceled()) [[unlikely]]
                return operation_canceled();
            return detail::success;
        }

     private:
        basic_semaphore* on_;
    };

    /// Takes one unit; without an error the caller must `release` it.
    ///
    /// @error   operation_canceled on stop; then nothing was taken.
    /// @suspend While there is no unit; resumes through the ready queue.
    /// @overlap Any number of waiters, served in the order in which they came.
    /// @cancel  Observes the task's stop token.
    lazily<acquire_awaiter, basic_semaphore*> acquire() noexcept {
        return lazily<acquire_awaiter, basic_semaphore*>(this);
    }

 private:
    bool take() noexcept {
        if (units_count_ == 0) return false;
        --units_count_;
        return true;
    }

    Waiters waiters_;
    std::size_t units_count_;
};

/// Opens once, when it has been counted down to zero.
template <class Waiters>
class basic_latch {
    using section = typename Waiters::section;

 public:
    explicit basic_latch(std::size_t count) noexcept : left_count_(count) {}

    /// @pre `count` is at most the remaining count (asserted).
    void count_down(std::size_t count = 1) noexcept {
        section inside(waiters_);
        CORRO_ASSERT(count <= left_count_, "a latch cannot be counted down below zero");
        left_count_ -= count;
        if (left_count_ != 0) return;
        while (!waiters_.empty()) inside.wake(waiters_.front());
    }
    [[nodiscard]] bool is_open() noexcept {
        const section inside(waiters_);
        return left_count_ == 0;
    }

    class wait_awaiter : Waiters::waiter {
     public:
        explicit wait_awaiter(basic_latch* on) noexcept : on_(on) {}
        bool await_ready() const noexcept { return on_->is_open(); }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            const section inside(on_->waiters_);
            return on_->left_count_ != 0 && on_->waiters_.suspend(*this, self);
        }
        std::error_code await_resume() const noexcept {
            if (this->canceled()) [[unlikely]]
                return operation_canceled();
            return detail::success;
        }

     private:
        basic_latch* on_;
    };

    /// Waits until the latch is open.
    ///
    /// @error   operation_canceled on stop.
    /// @suspend Unless the latch is open; resumes through the ready queue.
    /// @overlap Any number of waiters.
    /// @cancel  Observes the task's stop token; the count stays as it is.
    lazily<wait_awaiter, basic_latch*> wait() noexcept { return lazily<wait_awaiter, basic_latch*>(this); }

 private:
    Waiters waiters_;
    std::size_t left_count_;
};

/// For tasks of one context.
using semaphore = basic_semaphore<detail::wait_list>;
/// For tasks of one context.
using latch = basic_latch<detail::wait_list>;
/// For tasks of any contexts; `release` and `try_acquire` from any thread.
using shared_semaphore = basic_semaphore<detail::shared_wait_list>;
/// For tasks of any contexts; `count_down` from any thread.
using shared_latch = basic_latch<detail::shared_wait_list>;

}  // namespace corro::io
