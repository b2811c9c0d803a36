// SPDX-License-Identifier: Apache-2.0
// Mutexes for tasks: one at a time, first come first served.
//
// A lock may be held across a suspension. `unlock` passes the lock to the longest-waiting task, through its ready
// queue, and never runs it.
//
// Threads: `mutex`: one context. `shared_mutex`: any; the waiting task resumes on its own context.
// Cost:    uncontended `mutex`: a branch to lock, a branch to unlock; `shared_mutex`: one compare-and-swap each. No
//          allocation.
#pragma once

#include <atomic>
#include <coroutine>
#include <cstdint>
#include <expected>
#include <system_error>
#include <utility>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/sync/detail/shared_wait_list.hpp"
#include "io/sync/detail/wait_list.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {

/// Unlocks a mutex at its end. Move-only.
template <class Mutex>
class [[nodiscard("the lock is released at the end of this object")]] mutex_guard {
 public:
    explicit mutex_guard(Mutex& locked) noexcept : locked_(&locked) {}
    mutex_guard(mutex_guard&& other) noexcept : locked_(std::exchange(other.locked_, nullptr)) {}
    mutex_guard& operator=(mutex_guard&& other) noexcept {
        if (this != &other) {
            unlock();
            locked_ = std::exchange(other.locked_, nullptr);
        }
        return *this;
    }
    ~mutex_guard() { unlock(); }

    void unlock() noexcept {
        if (locked_ != nullptr) std::exchange(locked_, nullptr)->unlock();
    }

 private:
    Mutex* locked_;
};

namespace detail {

/// The base of the awaiters of a lock.
template <class Mutex>
class lock_awaiter {
 public:
    explicit lock_awaiter(Mutex* on) noexcept : on_(on) {}
    bool await_ready() const noexcept { return on_->try_lock(); }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        return on_->suspend(waiter_.make(), self);
    }
    std::error_code await_resume() const noexcept {
        if (this->waiter_.canceled()) [[unlikely]]
            return operation_canceled();
        return success;
    }

 protected:
    Mutex* on_;
    waiter_when_needed<typename Mutex::waiters::waiter> waiter_;
};

template <class Mutex>
class guard_awaiter : public lock_awaiter<Mutex> {
 public:
    using lock_awaiter<Mutex>::lock_awaiter;
    std::expected<mutex_guard<Mutex>, std::error_code> await_resume() const noexcept {
        if (this->waiter_.canceled()) [[unlikely]]
            return std::unexpected(operation_canceled());
        return mutex_guard<Mutex>(*this->on_);
    }
};

}  // namespace detail

/// For tasks of one context.
class mutex {
 public:
    /// The tasks that wait for the lock.
    using waiters = detail::wait_list;

    mutex() noexcept = default;
    mutex(const mutex&) = delete;
    mutex& operator=(const mutex&) = delete;

    [[nodiscard]] bool try_lock() noexcept { return !std::exchange(locked_, true); }

    /// Locks; without an error the caller must `unlock`.
    ///
    /// @error   operation_canceled on stop; then the lock is not held.
    /// @suspend While the mutex is locked; resumes through the ready queue, with the lock.
    /// @overlap Any number of waiters, served in the order in which they came.
    /// @cancel  Observes the task's stop token.
    lazily<detail::lock_awaiter<mutex>, mutex*> lock() noexcept {
        return lazily<detail::lock_awaiter<mutex>, mutex*>(this);
    }
    /// Locks and returns a guard that unlocks. Otherwise as `lock`.
    lazily<detail::guard_awaiter<mutex>, mutex*> scoped_lock() noexcept {
        return lazily<detail::guard_awaiter<mutex>, mutex*>(this);
    }

    /// @pre The caller holds the lock (asserted as far as possible).
    void unlock() noexcept {
        CORRO_ASSERT(locked_, "only a locked mutex can be unlocked");
        if (waiters_.empty()) [[likely]] {
            locked_ = false;
        } else {
            waiters::section(waiters_).wake(waiters_.front());
        }
    }

 private:
    friend class detail::lock_awaiter<mutex>;
    template <class Promise>
    bool suspend(waiters::waiter& item, std::coroutine_handle<Promise> self) noexcept {
        return waiters_.suspend(item, self);
    }

    bool locked_ = false;
    waiters waiters_;
};

/// For tasks of any contexts.
class shared_mutex {
 public:
    /// The tasks that wait for the lock.
    using waiters = detail::shared_wait_list;

    shared_mutex() noexcept = default;
    shared_mutex(const shared_mutex&) = delete;
    shared_mutex& operator=(const shared_mutex&) = delete;

    [[nodiscard]] bool try_lock() noexcept {
        std::uint8_t expected = unlocked;
        return state_.compare_exchange_strong(expected, locked, std::memory_order_acquire, std::memory_order_relaxed);
    }
    /// As `mutex::lock`; the task resumes on its own context.
    lazily<detail::lock_awaiter<shared_mutex>, shared_mutex*> lock() noexcept {
        return lazily<detail::lock_awaiter<shared_mutex>, shared_mutex*>(this);
    }
    lazily<detail::guard_awaiter<shared_mutex>, shared_mutex*> scoped_lock() noexcept {
        return lazily<detail::guard_awaiter<shared_mutex>, shared_mutex*>(this);
    }
    /// Any thread may unlock on behalf of the holder.
    void unlock() noexcept {
        std::uint8_t expected = locked;
        if (state_.compare_exchange_strong(expected, unlocked, std::memory_order_release, std::memory_order_relaxed)) {
            return;
        }
        waiters::section inside(waiters_);
        if (waiters_.empty()) {
            state_.store(unlocked, std::memory_order_release);
            return;
        }
        // The lock passes to the waiter without ever being free.
        inside.wake(waiters_.front());
        if (waiters_.empty()) state_.store(locked, std::memory_order_relaxed);
    }

 private:
    friend class detail::lock_awaiter<shared_mutex>;
    template <class Promise>
    bool suspend(waiters::waiter& item, std::coroutine_handle<Promise> self) noexcept {
        const waiters::section inside(waiters_);
        std::uint8_t seen = state_.load(std::memory_order_relaxed);
        for (;;) {
            // Free again since the attempt: take it. Otherwise mark it as contended.
            const std::uint8_t next = seen == unlocked ? locked : contended;
            if (state_.compare_exchange_weak(seen, next, std::memory_order_acquire, std::memory_order_relaxed)) break;
        }
        return seen != unlocked && waiters_.suspend(item, self);
    }

    // state_: unlocked -> locked (anybody), locked -> unlocked (the holder); locked -> contended (a waiter, inside the
    // section), contended -> locked or unlocked (the holder, inside the section).
    static constexpr std::uint8_t unlocked = 0;
    static constexpr std::uint8_t locked = 1;
    static constexpr std::uint8_t contended = 2;

    std::atomic<std::uint8_t> state_{unlocked};
    waiters waiters_;
};

}  // namespace corro::io
