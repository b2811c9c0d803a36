// SPDX-License-Identifier: Apache-2.0
// `channel<T>`: a bounded queue between tasks, with an end.
//
// Many senders, many receivers; values come out in the order in which they went in. A closed channel takes no more
// values; receivers get the remaining values before the error.
//
// Limits:  the capacity, at least 1, allocated when the channel is made.
// Threads: `channel`: one context. `shared_channel`: any.
// Cost:    no allocation after construction; a value for a waiting receiver does not pass through the queue.
#pragma once

#include <coroutine>
#include <cstddef>
#include <expected>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "io/errors.hpp"
#include "io/sync/detail/shared_wait_list.hpp"
#include "io/sync/detail/wait_list.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {

/// A bounded queue between tasks, with an end.
template <class T, class Waiters>
class basic_channel {
    using section = typename Waiters::section;
    using waiter = typename Waiters::waiter;

 public:
    /// Set-up: allocates `capacity` slots. @pre At least 1 (asserted).
    explicit basic_channel(std::size_t capacity) : slots_(capacity) {
        CORRO_ASSERT(capacity != 0, "a channel holds at least one value");
    }
    basic_channel(const basic_channel&) = delete;
    basic_channel& operator=(const basic_channel&) = delete;

    [[nodiscard]] std::size_t size() noexcept {
        const section inside(receivers_);
        return size_;
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return slots_.size(); }
    [[nodiscard]] bool is_closed() noexcept {
        const section inside(receivers_);
        return closed_;
    }

    /// Closes the channel. Waiting senders and, once the channel is empty, receivers get errc::channel_closed.
    void close() noexcept {
        section inside(receivers_);
        closed_ = true;
        while (!senders_.empty()) inside.wake(senders_.front());
        while (!receivers_.empty()) inside.wake(receivers_.front());
    }

    /// Sends without waiting. @return false if the channel is full or closed; then `value` is untouched.
    [[nodiscard]] bool try_send(T& value) noexcept {
        section inside(receivers_);
        return !closed_ && put(inside, value);
    }
    /// Receives without waiting.
    [[nodiscard]] std::optional<T> try_receive() noexcept {
        section inside(receivers_);
        std::optional<T> taken;
        take(inside, taken);
        return taken;
    }

    class send_awaiter : waiter {
     public:
        send_awaiter(basic_channel* on, T value) noexcept : on_(on), value_(std::move(value)) {}
        bool await_ready() const noexcept { return false; }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            section inside(on_->receivers_);
            if (on_->closed_) return false;
            sent_ = on_->put(inside, value_);
            return !sent_ && on_->senders_.suspend(*this, self);
        }
        std::error_code await_resume() const noexcept {
            if (sent_) [[likely]]
                return detail::success;
            return this->canceled() ? operation_canceled() : make_error_code(errc::channel_closed);
        }

     private:
        friend class basic_channel;
        basic_channel* on_;
        T value_;
        bool sent_ = false;
    };

    class receive_awaiter : waiter {
     public:
        explicit receive_awaiter(basic_channel* on) noexcept : on_(on) {}
        bool await_ready() const noexcept { return false; }
        template <promise_with_environment Promise>
        bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
            section inside(on_->receivers_);
            on_->take(inside, value_);
            return !value_ && !on_->closed_ && on_->receivers_.suspend(*this, self);
        }
        std::expected<T, std::error_code> await_resume() noexcept {
            if (value_) [[likely]]
                return std::move(*value_);
            return std::unexpected(this->canceled() ? operation_canceled() : make_error_code(errc::channel_closed));
        }

     private:
        friend class basic_channel;
        basic_channel* on_;
        std::optional<T> value_;
    };

    /// Sends `value`.
    ///
    /// @error   errc::channel_closed; operation_canceled on stop. In both cases the value is gone.
    /// @suspend While the channel is full; resumes through the ready queue.
    /// @overlap Any number of senders, served in the order in which they came.
    /// @cancel  Observes the task's stop token.
    lazily<send_awaiter, basic_channel*, T> send(T value) noexcept {
        return lazily<send_awaiter, basic_channel*, T>(this, std::move(value));
    }

    /// Receives the oldest value.
    ///
    /// @error   errc::channel_closed when it is closed and empty; operation_canceled on stop, and then no value is
    /// taken.
    /// @suspend While the channel is empty and open; resumes through the ready queue.
    /// @overlap Any number of receivers, served in the order in which they came.
    /// @cancel  Observes the task's stop token.
    lazily<receive_awaiter, basic_channel*> receive() noexcept { return lazily<receive_awaiter, basic_channel*>(this); }

 private:
    /// Passes `value` to the first receiver, or stores it. @return false if the channel is full.
    bool put(section& inside, T& value) noexcept {
        if (!receivers_.empty()) {
            auto& first = static_cast<receive_awaiter&>(receivers_.front());
            first.value_.emplace(std::move(value));
            inside.wake(first);
            return true;
        }
        if (size_ == slots_.size()) return false;
        slots_[(first_ + size_) % slots_.size()].emplace(std::move(value));
        ++size_;
        return true;
    }

    /// Takes the oldest value, if there is one, and stores the first waiting sender's value.
    void take(section& inside, std::optional<T>& into) noexcept {
        if (size_ == 0) return;
        into = std::move(slots_[first_]);
        slots_[first_].reset();
        first_ = (first_ + 1) % slots_.size();
        --size_;
        if (senders_.empty()) return;
        auto& next = static_cast<send_awaiter&>(senders_.front());
        slots_[(first_ + size_) % slots_.size()].emplace(std::move(next.value_));
        ++size_;
        next.sent_ = true;
        inside.wake(next);
    }

    // One section guards everything: that of the receivers. Senders wait in a list of their own.
    Waiters receivers_;
    Waiters senders_{detail::guarded_by_t(), receivers_};
    std::vector<std::optional<T>> slots_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    bool closed_ = false;
};

template <class T>
/// Between tasks of one context.
using channel = basic_channel<T, detail::wait_list>;
template <class T>
/// Between tasks of any contexts; `try_send`, `try_receive` and `close` from any thread.
using shared_channel = basic_channel<T, detail::shared_wait_list>;

}  // namespace corro::io
