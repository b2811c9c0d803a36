// SPDX-License-Identifier: Apache-2.0
// `task<T>`: a coroutine that does nothing until it is awaited or spawned.
//
// A task starts when its parent awaits it (by symmetric transfer: no stack grows), inherits the parent's environment
// (context and stop token), and passes its result or its exception to the `co_await` that waits for it.
//
// Threads: a task runs on one context; its parent and its children run there too.
// Cost:    one recycled frame per task; awaiting is two indirect jumps.
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"
#include "io/loop/detail/ready.hpp"
#include "io/task/allocation.hpp"
#include "io/task/detail/coroutine_rules.hpp"
#include "io/task/environment.hpp"

namespace corro::io {

template <class T = void>
class task;

namespace detail {

class promise_base;

/// The notification of a task's end for a starter that does not simply await it (a scope, a combinator).
class completion_hook {
 public:
    /// Called when the task has reached its end. Returns the coroutine to resume (a no-op coroutine for none). The hook
    /// may destroy the finished frame.
    using function = std::coroutine_handle<> (*)(completion_hook&, promise_base&) noexcept;

    explicit completion_hook(function told) noexcept : finished_(told) {}
    completion_hook(const completion_hook&) = delete;
    completion_hook& operator=(const completion_hook&) = delete;

    std::coroutine_handle<> finished(promise_base& promise) noexcept { return finished_(*this, promise); }

 protected:
    ~completion_hook() = default;

 private:
    function finished_;
};

/// The part of every task's promise that is independent of the result type.
///
/// The bases `ready_item` and `remote_item` and the sibling links are used, and initialised, only for a task that was
/// spawned.
class promise_base : public ready_item, public remote_item, public task_allocated {
 public:
    promise_base() noexcept {}  // NOLINT: the links stay uninitialised until the task is spawned
    promise_base(const promise_base&) = delete;
    promise_base& operator=(const promise_base&) = delete;

    [[nodiscard]] const environment& surroundings() const noexcept { return environment_; }
    [[nodiscard]] bool failed() const noexcept { return outcome_ == outcome::failed; }

    std::suspend_always initial_suspend() const noexcept { return {}; }

    struct final_awaiter {
        bool await_ready() const noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) const noexcept {
            promise_base& promise = self.promise();
            if (promise.hook_ == nullptr) return std::coroutine_handle<>::from_address(promise.continuation_);
            return promise.hook_->finished(promise);
        }
        void await_resume() const noexcept {}
    };
    final_awaiter final_suspend() const noexcept { return {}; }

    /// Prepares a start by an awaiting coroutine.
    void started_by(std::coroutine_handle<> parent, const environment& from) noexcept {
        continuation_ = parent.address();
        hook_ = nullptr;
        environment_ = from;
    }

    /// Prepares a start by plain code, which checks afterwards whether the task has ended at once, and sets a hook if
    /// it has not.
    void started_alone(const environment& from) noexcept {
        continuation_ = std::noop_coroutine().address();
        hook_ = nullptr;
        environment_ = from;
    }
    void tell(completion_hook& hook) noexcept { hook_ = &hook; }

    /// Prepares a start by `hook`, which is called when the task has ended.
    void started_by(completion_hook& hook, const environment& from) noexcept {
        hook_ = &hook;
        environment_ = from;
    }

 protected:
    enum class outcome : unsigned char { none, value, failed };
    ~promise_base() = default;

    outcome outcome_ = outcome::none;

 private:
    friend class io::context;
    template <class>
    friend class io::task;

    // Filled in when the task starts.
    void* continuation_;
    completion_hook* hook_;
    environment environment_;

 public:
    // Links among the children of one scope, owned by the scope.
    promise_base* previous_sibling;
    promise_base* next_sibling;
};

template <class T>
class task_promise final : public promise_base {
 public:
    static_assert(!std::is_reference_v<T>, "a task returns by value; return a pointer instead");

    task_promise() noexcept {}
    task_promise(const task_promise&) = delete;
    task_promise& operator=(const task_promise&) = delete;
    ~task_promise() {
        if (outcome_ == outcome::value) {
            std::destroy_at(std::addressof(value_));
        } else if (outcome_ == outcome::failed) {
            std::destroy_at(std::addressof(failure_));
        }
    }

    task<T> get_return_object() noexcept;

    template <class U = T>
        requires std::is_constructible_v<T, U&&>
    void return_value(U&& value) noexcept(std::is_nothrow_constructible_v<T, U&&>) {
        std::construct_at(std::addressof(value_), std::forward<U>(value));
        outcome_ = outcome::value;
    }

    void unhandled_exception() noexcept {
        // `return_value` itself may have thrown; there is then no value to destroy.
        std::construct_at(std::addressof(failure_), std::current_exception());
        outcome_ = outcome::failed;
    }

    /// Moves the result out, or rethrows. @pre The task has ended.
    T take() {
        if (outcome_ == outcome::failed) std::rethrow_exception(failure_);
        CORRO_ASSERT(outcome_ == outcome::value, "the task has ended");
        return std::move(value_);
    }

    [[nodiscard]] std::exception_ptr failure() const noexcept {
        return outcome_ == outcome::failed ? failure_ : std::exception_ptr{};
    }

 private:
    union {
        T value_;
        std::exception_ptr failure_;
    };
};

template <>
class task_promise<void> final : public promise_base {
 public:
    task<void> get_return_object() noexcept;

    void return_void() noexcept { outcome_ = outcome::value; }
    void unhandled_exception() noexcept {
        failure_ = std::current_exception();
        outcome_ = outcome::failed;
    }

    /// Rethrows the task's exception, if there is one. @pre The task has ended.
    void take() {
        if (outcome_ == outcome::failed) std::rethrow_exception(failure_);
        CORRO_ASSERT(outcome_ == outcome::value, "the task has ended");
    }

    [[nodiscard]] std::exception_ptr failure() const noexcept { return failure_; }

 private:
    std::exception_ptr failure_;
};

}  // namespace detail

/// A lazy coroutine with a result of type T. Move-only; owns its frame.
template <class T>
class [[nodiscard("a task does nothing until it is awaited or spawned")]] task {
 public:
    /// Required by the language.
    using promise_type = detail::task_promise<T>;
    /// Refers to the coroutine.
    using handle = std::coroutine_handle<promise_type>;
    /// The result of awaiting.
    using value_type = T;

    task() noexcept = default;
    explicit task(handle owned) noexcept : handle_(owned) {}
    task(task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    task& operator=(task&& other) noexcept {
        if (this != &other) {
            if (handle_) handle_.destroy();
            handle_ = std::exchange(other.handle_, nullptr);
        }
        return *this;
    }
    ~task() {
        if (handle_) handle_.destroy();
    }

    [[nodiscard]] bool valid() const noexcept { return static_cast<bool>(handle_); }
    [[nodiscard]] bool done() const noexcept { return handle_.done(); }
    [[nodiscard]] promise_type& promise() const noexcept { return handle_.promise(); }
    [[nodiscard]] handle coroutine() const noexcept { return handle_; }
    [[nodiscard]] handle release() noexcept { return std::exchange(handle_, nullptr); }

    class awaiter {
     public:
        explicit awaiter(handle child) noexcept : child_(child) {}
        awaiter(const awaiter&) = delete;
        awaiter& operator=(const awaiter&) = delete;
        ~awaiter() { child_.destroy(); }
        bool await_ready() const noexcept { return false; }
        template <promise_with_environment Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
            child_.promise().started_by(parent, parent.promise().surroundings());
            return child_;
        }
        T await_resume() { return child_.promise().take(); }

     private:
        handle child_;
    };

    /// Starts the task and waits for its end.
    ///
    /// @return  The task's result; rethrows an exception that escaped from its body.
    /// @suspend The parent, until the task has ended; resumes on the same context.
    /// @cancel  The task inherits the parent's stop token; awaiting itself always waits for the task's end.
    /// @pre     The task is not empty: not awaited, spawned or moved from before (asserted).
    awaiter operator co_await() && noexcept {
        CORRO_ASSERT(handle_, "a task can be awaited only once");
        return awaiter(release());
    }
    /// A named task must be moved into its `co_await`.
    template <class Refused = void>
    awaiter operator co_await() & noexcept {
        static_assert(!std::is_void_v<Refused>, "a task is awaited once: write co_await std::move(task)");
        return awaiter(release());
    }

 private:
    handle handle_;
};

namespace detail {

template <class T>
task<T> task_promise<T>::get_return_object() noexcept {
    return task<T>(std::coroutine_handle<task_promise>::from_promise(*this));
}

inline task<void> task_promise<void>::get_return_object() noexcept {
    return task<void>(std::coroutine_handle<task_promise>::from_promise(*this));
}

}  // namespace detail
}  // namespace corro::io
