// SPDX-License-Identifier: Apache-2.0
// `with_timeout`, `with_deadline`: stop work after a time limit.
//
// At the limit the work is asked to stop and is then joined, as always. If it ended by itself at the same time, its
// result counts and the timeout does not: bytes that were read are never lost.
//
// Threads: one context.
// Cost:    no wrapper, no system call; the timer is not armed at all if the work ends without waiting.
#pragma once

#include <chrono>
#include <coroutine>
#include <expected>
#include <system_error>
#include <utility>

#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/result.hpp"
#include "io/task/awaitable.hpp"
#include "io/task/stop.hpp"
#include "io/task/task.hpp"

namespace corro::io {
namespace detail {

/// Whether a result shows that a stop cut its work short. For results that cannot show it, the answer is whether the
/// work observed the stop.
template <class T>
bool was_stopped(const T&, bool stop_observed) noexcept {
    return stop_observed;
}
inline bool was_stopped(const std::error_code& code, bool) noexcept {
    return code == condition::canceled;
}
inline bool was_stopped(const io_result& result, bool) noexcept {
    return result.bytes == 0 && result.error == condition::canceled;
}
template <class T>
bool was_stopped(const std::expected<T, std::error_code>& result, bool) noexcept {
    return !result.has_value() && result.error() == condition::canceled;
}

/// Whether a result can contain "canceled".
template <class T>
inline constexpr bool can_say_stopped = false;
template <>
inline constexpr bool can_say_stopped<std::error_code> = true;
template <>
inline constexpr bool can_say_stopped<io_result> = true;
template <class T>
inline constexpr bool can_say_stopped<std::expected<T, std::error_code>> = true;

/// A transfer that moved a part of the bytes before the limit keeps its count, and its error becomes timed_out.
template <class T>
void explain_partial(T&) noexcept {}
inline void explain_partial(io_result& result) noexcept {
    if (result.error == condition::canceled) result.error = make_error_code(errc::timed_out);
}

template <class T>
class [[nodiscard("await the result: it starts the work")]] timeout_awaiter : completion_hook, timer_node {
 public:
    timeout_awaiter(task<T>&& work, std::chrono::nanoseconds limit) noexcept
        : timeout_awaiter(std::move(work), limit.count(), false) {}
    timeout_awaiter(task<T>&& work, steady_time limit) noexcept
        : timeout_awaiter(std::move(work), std::chrono::nanoseconds(limit.time_since_epoch()).count(), true) {}
    /// @pre Not awaited yet.
    timeout_awaiter(timeout_awaiter&& other) noexcept
        : timeout_awaiter(std::move(other.work_), other.limit_ns_, other.absolute_) {}
    timeout_awaiter& operator=(timeout_awaiter&&) = delete;
    ~timeout_awaiter() {
        if (armed()) where_->timers().disarm(*this);
    }

    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        const environment& outer = parent.promise().surroundings();
        where_ = outer.where;
        if (outer.stop.stop_requested()) [[unlikely]]
            source_.request_stop();
        const auto started = work_.coroutine();
        started.promise().started_alone(environment(where_, stop_token(source_)));
        if (!where_->start_nested(started)) [[unlikely]] {
            started.promise().waiter = started;
            where_->ready(started.promise());
        } else if (started.done()) {
            return false;
        }
        started.promise().tell(*this);
        parent_ = parent;
        relay_.listen(outer.stop);
        if (absolute_) {
            where_->timers().arm_at(*this, steady_time(std::chrono::nanoseconds(limit_ns_)));
        } else {
            where_->timers().arm_after(*this, std::chrono::nanoseconds(limit_ns_));
        }
        return true;
    }
    std::expected<T, std::error_code> await_resume() {
        relay_.unregister();
        if constexpr (std::is_void_v<T>) {
            work_.promise().take();
            if (source_.stop_observed()) return std::unexpected(reason());
            return {};
        } else {
            T value = work_.promise().take();
            if (timed_out_ || !can_say_stopped<T>) {
                if (was_stopped(value, source_.stop_observed())) return std::unexpected(reason());
            }
            if (timed_out_) explain_partial(value);
            return value;
        }
    }

 private:
    timeout_awaiter(task<T>&& work, std::int64_t limit_ns, bool absolute) noexcept
        : completion_hook(&work_ended),
          timer_node(&on_time),
          relay_(source_),
          limit_ns_(limit_ns),
          absolute_(absolute),
          work_(std::move(work)) {
        CORRO_ASSERT(work_.valid(), "an empty task cannot be awaited");
    }

    [[nodiscard]] std::error_code reason() const noexcept {
        return timed_out_ ? make_error_code(errc::timed_out) : operation_canceled();
    }
    static std::coroutine_handle<> work_ended(completion_hook& self, promise_base&) noexcept {
        auto& ended = static_cast<timeout_awaiter&>(self);
        ended.where_->timers().disarm(ended);
        return ended.parent_;
    }
    static void on_time(timer_node& self) noexcept {
        auto& late = static_cast<timeout_awaiter&>(self);
        late.timed_out_ = true;
        late.source_.request_stop();
    }

    stop_source source_;
    stop_relay relay_;
    std::coroutine_handle<> parent_;
    context* where_ = nullptr;
    std::int64_t limit_ns_;
    bool absolute_;
    bool timed_out_ = false;
    task<T> work_;
};

}  // namespace detail

/// Runs `work` (a task or another awaitable) for at most `limit` from now.
///
/// @return  std::expected of the work's result. Rethrows the work's exception.
/// @error   errc::timed_out if the limit cut the work short. If the result type contains an error (io_result,
///          error_code, expected), the result decides: data or any other error is returned as the value, and an
///          io_result with a part of the bytes is returned as a value whose error is timed_out. operation_canceled if
///          the result type contains no error and the task's own stop stopped the work.
/// @suspend Until the work has ended; resumes on the same context.
/// @cancel  Passes the stop on to the work and keeps waiting for it.
/// A limit of more than 146 years is no limit.
template <class Rep, class Period, class Awaitable>
auto with_timeout(std::chrono::duration<Rep, Period> limit, Awaitable work) {
    return detail::timeout_awaiter<detail::task_value_of<Awaitable>>(detail::to_task(work), detail::saturated(limit));
}

/// The same with a point in time as the limit.
template <class Awaitable>
auto with_deadline(steady_time limit, Awaitable work) {
    return detail::timeout_awaiter<detail::task_value_of<Awaitable>>(detail::to_task(work), limit);
}

}  // namespace corro::io
