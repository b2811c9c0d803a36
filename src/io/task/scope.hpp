// SPDX-License-Identifier: Apache-2.0
// `task_scope`: children that run side by side and are joined before their scope ends.
//
// Threads: one context.
// Cost:    a spawned task costs its frame, a list link and one pass through the ready queue.
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/task/detail/lazily.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// Owns running children. If one of them fails, the others are asked to stop and `join` rethrows the failure.
class task_scope : detail::completion_hook {
 public:
    explicit task_scope(context& on) noexcept : completion_hook(&child_finished), context_(&on) {}
    /// The tag for a context's own scope: a failure stops the current children, but not later ones.
    struct for_roots_t {};
    /// The scope of a context's own tasks.
    task_scope(context& on, for_roots_t) noexcept : task_scope(on) { stops_later_ones_ = false; }
    task_scope(const task_scope&) = delete;
    task_scope& operator=(const task_scope&) = delete;

    /// @pre Every child has ended (asserted), except while the context itself is torn down.
    ~task_scope() {
        CORRO_ASSERT(size_ == 0 || context_->tearing_down(), "a scope is joined before it ends");
        destroy_children();
        // Volatile, so that the store is not optimised away at the object's end: `spawn` checks it.
        *const_cast<context* volatile*>(&context_) = nullptr;  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    }

    /// Starts `child` through the ready queue: it runs after the caller next suspends. The child's frame owns its
    /// arguments; take them by value.
    /// @pre The scope has not ended (asserted as far as possible), and `child` is not empty (asserted).
    void spawn(task<void> child) noexcept {
        CORRO_ASSERT(child.valid(), "an empty task cannot be spawned");
        CORRO_ASSERT(context_ != nullptr, "a task is spawned into a scope that has not ended");
        detail::task_promise<void>& promise = child.promise();
        if (renewal_due_) [[unlikely]]
            renew();
        promise.started_by(*this, environment(context_, stop_token(*current_)));
        promise.waiter = child.release();
        promise.previous_sibling = nullptr;
        promise.next_sibling = first_;
        if (first_ != nullptr) first_->previous_sibling = &promise;
        first_ = &promise;
        ++size_;
        context_->work_begins();
        context_->ready(promise);
    }

    /// Asks every child, present and future, to stop. They must still be joined.
    void request_stop() noexcept {
        renewal_due_ = false;
        current_->request_stop();
    }
    [[nodiscard]] bool stop_requested() const noexcept { return current_->stop_requested(); }
    [[nodiscard]] stop_token token() noexcept { return stop_token(source()); }

    /// The number of children that have not ended yet.
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] context& where() const noexcept { return *context_; }

    class join_awaiter;

    /// Waits until every child has ended.
    ///
    /// @return  Nothing; rethrows the first exception that escaped from a child.
    /// @suspend Until the last child has ended, unless there is none.
    /// @overlap One join at a time (asserted).
    /// @cancel  Passes the stop on to the children and keeps waiting for them.
    lazily<join_awaiter, task_scope*> join() noexcept;

    /// Records a failure, as if a child had failed: the children are asked to stop and `join` rethrows the first
    /// failure.
    void fail(std::exception_ptr failure) noexcept {
        if (!failure_) failure_ = std::move(failure);
        if (!stops_later_ones_ && !current_->stop_requested()) renewal_due_ = true;
        current_->request_stop();
    }

    /// Rethrows the first exception that escaped from a child, once.
    void rethrow_failure() {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

    /// Destroys children that have not ended, without resuming them. Only while the context is torn down.
    void destroy_children() noexcept;

    [[nodiscard]] stop_source& source() noexcept {
        if (renewal_due_) [[unlikely]]
            renew();
        return *current_;
    }

 private:
    static std::coroutine_handle<> child_finished(completion_hook& self, detail::promise_base& promise) noexcept;
    void renew() noexcept;
    void unlink(detail::promise_base& promise) noexcept {
        (promise.previous_sibling == nullptr ? first_ : promise.previous_sibling->next_sibling) = promise.next_sibling;
        if (promise.next_sibling != nullptr) promise.next_sibling->previous_sibling = promise.previous_sibling;
        --size_;
        context_->work_ends();
    }

    context* context_;
    stop_source source_;
    stop_source* current_ = &source_;  // of later children
    bool stops_later_ones_ = true;
    bool renewal_due_ = false;  // a failure has stopped the earlier children
    // Each group of children that a failure has stopped keeps its source until it has no children; the first group uses
    // `source_`.
    std::vector<std::unique_ptr<stop_source>> later_sources_;
    std::size_t later_sources_used_count_ = 0;
    detail::promise_base* first_ = nullptr;
    std::size_t size_ = 0;
    std::coroutine_handle<> joiner_;
    std::exception_ptr failure_;
};

class task_scope::join_awaiter {
 public:
    explicit join_awaiter(task_scope* scope) noexcept : scope_(scope), relay_(*scope->current_) {}
    bool await_ready() const noexcept { return scope_->size_ == 0; }
    template <promise_with_environment Promise>
    void await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        CORRO_ASSERT(!scope_->joiner_, "a scope is joined by one task at a time");
        scope_->joiner_ = parent;
        relay_.listen(parent.promise().surroundings().stop);
    }
    void await_resume() {
        relay_.unregister();
        scope_->rethrow_failure();
    }

 private:
    task_scope* scope_;
    stop_relay relay_;
};

inline lazily<task_scope::join_awaiter, task_scope*> task_scope::join() noexcept {
    return lazily<join_awaiter, task_scope*>(this);
}

inline std::coroutine_handle<> task_scope::child_finished(completion_hook& self,
                                                          detail::promise_base& promise) noexcept {
    auto& scope = static_cast<task_scope&>(self);
    auto& child = static_cast<detail::task_promise<void>&>(promise);
    scope.unlink(child);
    if (child.failed()) [[unlikely]] {
        scope.fail(child.failure());
    }
    std::coroutine_handle<detail::task_promise<void>>::from_promise(child).destroy();
    if (scope.size_ == 0 && scope.joiner_) return std::exchange(scope.joiner_, nullptr);
    return std::noop_coroutine();
}

/// Spawns a task that belongs to the context itself: `context::run` waits for it and rethrows its failure, `block_on`
/// rethrows it too. The failure stops the tasks that were spawned before it, but not later ones.
inline void spawn(context& on, task<void> child) noexcept {
    on.roots().spawn(std::move(child));
}

namespace detail {

/// Awaits a task under a different stop source than the parent's.
template <class T>
class awaited_under {
 public:
    awaited_under(task<T> child, stop_source& source) noexcept : child_(std::move(child)), source_(&source) {
        CORRO_ASSERT(child_.valid(), "an empty task cannot be awaited");
    }
    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        child_.promise().started_by(parent, environment(parent.promise().surroundings().where, stop_token(*source_)));
        return child_.coroutine();
    }
    T await_resume() { return child_.promise().take(); }

 private:
    task<T> child_;
    stop_source* source_;
};

template <class T>
struct task_value;
template <class T>
struct task_value<task<T>> {
    using type = T;
};

}  // namespace detail

/// Runs `body(scope)`, then waits for every child that it spawned.
///
/// @param body  Called once with a `task_scope&`; returns a task. Kept alive until everything has ended.
/// @return      The body's result. If the body or a child fails, the others are stopped and joined, and the
///              first failure is rethrown.
/// @suspend     May suspend; resumes on the same context.
/// @cancel      Body and children are stopped, then joined.
template <class Body>
auto with_scope(Body body) -> task<typename detail::task_value<std::invoke_result_t<Body&, task_scope&>>::type> {
    using value = typename detail::task_value<std::invoke_result_t<Body&, task_scope&>>::type;
    task_scope scope(co_await this_context());
    stop_relay relay(scope.source());
    relay.listen(co_await this_stop_token());
    if constexpr (std::is_void_v<value>) {
        try {
            co_await detail::awaited_under<void>(body(scope), scope.source());
        } catch (...) {
            scope.fail(std::current_exception());
        }
        co_await scope.join();
    } else {
        std::optional<value> result;
        try {
            result.emplace(co_await detail::awaited_under<value>(body(scope), scope.source()));
        } catch (...) {
            scope.fail(std::current_exception());
        }
        co_await scope.join();
        co_return std::move(*result);
    }
}

}  // namespace corro::io
