// SPDX-License-Identifier: Apache-2.0
// The coroutine of an agent: what it does, as straight-line code.
//
//     market::behaviour buys_now_and_then(market::agent& me) {
//         for (;;) {
//             const bool goes_on = co_await me.sleep(...);
//             if (!goes_on) co_return;
//             me.enter(...);
//         }
//     }
//
// A result is named before it is tested, as here: where conditions await, g++ 12 makes wrong code of some loops and of
// some functions (CONTRIBUTING.md, rule 8 of coroutines).
//
// A behaviour starts when its market starts. It waits with the awaitables of its agent (market/agent.hpp), and may
// await another behaviour, which then runs to its end. It takes the agent by reference: the agent outlives it.
//
// Threads: the market's.
// Cost:    one recycled frame; a resumption is one indirect jump.
// Source:  docs/decisions/0018-agents-without-a-context.md.
#pragma once

#include <coroutine>
#include <exception>
#include <utility>

#include "io/task/allocation.hpp"

namespace corro::market {

class [[nodiscard("a behaviour does nothing until a market starts it or a behaviour awaits it")]] behaviour {
 public:
    /// Required by the language.
    struct promise_type : io::frame_allocated {
        behaviour get_return_object() noexcept {
            return behaviour(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() const noexcept { return {}; }
        struct final_awaiter {
            bool await_ready() const noexcept { return false; }
            std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) const noexcept {
                return self.promise().continuation;
            }
            void await_resume() const noexcept {}
        };
        final_awaiter final_suspend() const noexcept { return {}; }
        void return_void() const noexcept {}
        void unhandled_exception() noexcept { failure = std::current_exception(); }

        std::coroutine_handle<> continuation = std::noop_coroutine();
        std::exception_ptr failure;
    };
    using handle = std::coroutine_handle<promise_type>;

    behaviour() noexcept = default;
    explicit behaviour(handle owned) noexcept : handle_(owned) {}
    behaviour(behaviour&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    behaviour& operator=(behaviour&& other) noexcept {
        if (this != &other) {
            if (handle_) handle_.destroy();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~behaviour() {
        if (handle_) handle_.destroy();
    }

    [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(handle_); }
    [[nodiscard]] bool done() const noexcept { return handle_.done(); }
    [[nodiscard]] handle coroutine() const noexcept { return handle_; }
    [[nodiscard]] std::exception_ptr failure() const noexcept { return handle_.promise().failure; }

    class awaiter {
     public:
        explicit awaiter(handle child) noexcept : child_(child) {}
        bool await_ready() const noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) noexcept {
            child_.promise().continuation = parent;
            return child_;
        }
        void await_resume() {
            if (child_.promise().failure) std::rethrow_exception(child_.promise().failure);
        }

     private:
        handle child_;
    };
    /// Runs it to its end. @suspend Until then. @pre Not empty, not started.
    awaiter operator co_await() && noexcept { return awaiter(handle_); }

 private:
    handle handle_;
};

}  // namespace corro::market
