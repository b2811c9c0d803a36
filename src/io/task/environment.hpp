// SPDX-License-Identifier: Apache-2.0
// The environment of a running task: the context that it runs on and the token that may stop it.
//
// The environment is a member of each promise, copied from the awaiting parent when a child starts. Awaiters read it
// from the promise of the coroutine that awaits them.
//
// Threads: one context.
#pragma once

#include <concepts>
#include <coroutine>

#include "io/task/stop.hpp"

namespace corro::io {

class context;

namespace detail {

/// Returns the same pointer through a register. Loading two neighbours as one vector right after storing them one by
/// one stalls the processor for longer than a whole task takes; this keeps the compiler from doing that.
template <class T>
[[nodiscard]] T* by_itself(T* pointer) noexcept {
#if defined(__GNUC__)
    asm("" : "+r"(pointer));
#endif
    return pointer;
}

}  // namespace detail

/// The members that a task inherits from the one that awaits it.
struct environment {
    /// Uninitialised: filled in before it is read.
    environment() noexcept {}  // NOLINT: a promise gets its environment when its task starts
    /// For a task on `on` that `token` may stop.
    environment(context* on, stop_token token) noexcept : where(on), stop(token) {}
    /// The same context, the same token.
    environment(const environment& other) noexcept : where(detail::by_itself(other.where)), stop(other.stop) {}
    /// The same context, the same token.
    environment& operator=(const environment& other) noexcept {
        where = detail::by_itself(other.where);
        stop = other.stop;
        return *this;
    }
    ~environment() = default;

    /// The context that runs the task.
    context* where;
    /// The token that may stop it.
    stop_token stop;
};

/// A promise whose coroutine may await the operations of this library.
template <class Promise>
concept promise_with_environment = requires(Promise& promise) {
    { promise.surroundings() } noexcept -> std::same_as<const environment&>;
};

namespace detail {

class context_query {
 public:
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        where_ = self.promise().surroundings().where;
        return false;
    }
    [[nodiscard]] context& await_resume() const noexcept { return *where_; }

 private:
    /// The context that runs the task.
    context* where_ = nullptr;
};

class stop_token_query {
 public:
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
        token_ = self.promise().surroundings().stop;
        return false;
    }
    [[nodiscard]] stop_token await_resume() const noexcept { return token_; }

 private:
    stop_token token_;
};

}  // namespace detail

/// `co_await this_context()` gives the context that runs the task. Never suspends.
[[nodiscard]] inline detail::context_query this_context() noexcept {
    return {};
}

/// `co_await this_stop_token()` gives the token that may stop the task. Never suspends.
[[nodiscard]] inline detail::stop_token_query this_stop_token() noexcept {
    return {};
}

}  // namespace corro::io
