// SPDX-License-Identifier: Apache-2.0
// `generator<T>`: a coroutine that makes a sequence of values and may wait between them.
//
//     io::generator<std::string> lines(io::tcp_stream* from);     // its body: co_await reads, co_yield lines
//
//     io::generator<std::string> all = lines(&stream);
//     for (;;) {
//         const auto line = co_await all.next();
//         if (!line) break;                                       // the body has returned
//         ...
//     }
//
// The body runs only while a task awaits `next`, as a part of that task: it has the task's context and its stop token,
// and an exception that escapes from the body reaches the `co_await`. So a sequence needs no scope, no channel and no
// second task. To make values while the consumer works on earlier ones, use a task and a `channel`.
//
// Limits:  `context::dump` lists tasks only: one that waits in a body is shown as waiting for something else.
// Threads: one context.
// Cost:    one recycled frame for the whole sequence; each value costs two indirect jumps and is moved twice.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/task/allocation.hpp"
#include "io/task/detail/coroutine_rules.hpp"
#include "io/task/environment.hpp"

namespace corro::io {

template <class T>
class generator;

namespace detail {

template <class T>
class generator_promise final : public frame_allocated {
 public:
    generator_promise() noexcept = default;
    generator_promise(const generator_promise&) = delete;
    generator_promise& operator=(const generator_promise&) = delete;
    ~generator_promise() = default;

    generator<T> get_return_object() noexcept;
    std::suspend_always initial_suspend() const noexcept { return {}; }

    /// Goes on with the task that awaits `next`.
    class hand_over {
     public:
        hand_over() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_yield expressions
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<generator_promise> self) const noexcept {
            return std::exchange(self.promise().consumer_, nullptr);
        }
        void await_resume() const noexcept {}
    };
    hand_over final_suspend() const noexcept { return hand_over(); }

    template <class U = T>
        requires std::is_constructible_v<T, U&&>
    hand_over yield_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
        value_.emplace(std::forward<U>(value));
        return hand_over();
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { failure_ = std::current_exception(); }

    /// Those of the task that awaits `next`.
    [[nodiscard]] const environment& surroundings() const noexcept { return environment_; }

    void begin_next(std::coroutine_handle<> consumer, const environment& from) noexcept {
        CORRO_ASSERT(!consumer_, "a generator is asked for one value at a time");
        consumer_ = consumer;
        environment_ = from;
    }
    /// The value that the body has yielded; none if it has ended. Rethrows what escaped from it, once.
    [[nodiscard]] std::optional<T> take() {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
        return std::exchange(value_, std::nullopt);
    }
    /// Whether a task waits for the next value.
    [[nodiscard]] bool is_awaited() const noexcept { return static_cast<bool>(consumer_); }

 private:
    std::optional<T> value_;
    std::exception_ptr failure_;
    std::coroutine_handle<> consumer_;
    environment environment_;  // filled in by the first `next`, before the body begins
};

}  // namespace detail

/// A lazy sequence of values of type T. Move-only; owns its frame.
///
/// In the body, `co_yield value` hands a value to the consumer and waits for the next `next`; `co_return` ends the
/// sequence. What a task may await, the body may await too. Between two values the token of `this_stop_token` may
/// change: ask again after a `co_yield`.
template <class T>
class [[nodiscard("a generator does nothing until its values are asked for")]] generator {
 public:
    static_assert(std::is_object_v<T> && !std::is_const_v<T>, "a generator yields values; yield a pointer instead");

    /// Required by the language.
    using promise_type = detail::generator_promise<T>;
    /// Refers to the coroutine.
    using handle = std::coroutine_handle<promise_type>;

    /// A sequence without values.
    generator() noexcept = default;
    explicit generator(handle owned) noexcept : handle_(owned) {}
    generator(generator&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    generator& operator=(generator&& other) noexcept {
        if (this != &other) {
            destroy();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    /// Destroys the local variables of a body that has not ended, wherever it has yielded.
    /// @pre No task awaits `next` (asserted), except while the context itself is torn down.
    ~generator() { destroy(); }

    class next_awaiter {
     public:
        explicit next_awaiter(handle of) noexcept : of_(of) {}
        bool await_ready() const noexcept { return !of_ || of_.done(); }
        template <promise_with_environment Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> consumer) noexcept {
            of_.promise().begin_next(consumer, consumer.promise().surroundings());
            return of_;
        }
        std::optional<T> await_resume() {
            if (!of_) return std::nullopt;
            return of_.promise().take();
        }

     private:
        handle of_;
    };

    /// Runs the body until it yields, ends or fails.
    ///
    /// @return  The value; none when the body has returned, and after that every time. Rethrows, once, what escaped
    ///          from the body, which has then ended.
    /// @suspend While the body waits; resumes on the same context.
    /// @overlap One `next` at a time (asserted).
    /// @cancel  The body's waits observe the stop token of the task that awaits `next`. What a stop means for the
    ///          sequence is the body's choice: most return, so that there is no further value.
    /// @pre     The generator is not moved or destroyed before the await returns.
    [[nodiscard("await the next value")]] next_awaiter next() noexcept { return next_awaiter(handle_); }

    /// Whether the body has ended, by itself or by an exception: `next` would return none at once.
    [[nodiscard]] bool has_ended() const noexcept { return !handle_ || handle_.done(); }

 private:
    void destroy() noexcept {
        if (!handle_) return;
        CORRO_ASSERT(!handle_.promise().is_awaited() || handle_.promise().surroundings().where->tearing_down(),
                     "a generator outlives the wait for its next value");
        handle_.destroy();
    }

    handle handle_;
};

namespace detail {

template <class T>
generator<T> generator_promise<T>::get_return_object() noexcept {
    return generator<T>(std::coroutine_handle<generator_promise>::from_promise(*this));
}

}  // namespace detail
}  // namespace corro::io

/// @cond
// The parameters of a generator follow the rules of a task's: its body runs later than its call.
template <class T, class... Arguments>
struct std::coroutine_traits<corro::io::generator<T>, Arguments...> : corro::io::detail::coroutine_rules<Arguments...> {
    using promise_type = corro::io::detail::generator_promise<T>;
};
/// @endcond
