// SPDX-License-Identifier: Apache-2.0
// `when_all`: runs several tasks concurrently and waits for all of them.
//
// Threads: one context; the children start in order, each until it first waits.
// Cost:    only the children's frames: no wrapper, no allocation for a fixed number of children.
#pragma once

#include <coroutine>
#include <cstddef>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "io/loop/context.hpp"
#include "io/task/awaitable.hpp"
#include "io/task/stop.hpp"
#include "io/task/task.hpp"

namespace corro::io {
namespace detail {

/// The type that stores a result, also for `void`.
template <class T>
using stored = std::conditional_t<std::is_void_v<T>, std::monostate, T>;

template <class T>
stored<T> take_stored(task<T>& ended) {
    if constexpr (std::is_void_v<T>) {
        ended.promise().take();
        return {};
    } else {
        return ended.promise().take();
    }
}

/// Moves a task into its place among its siblings.
template <class T>
[[nodiscard]] task<T> moved_alone(task<T>& from) noexcept {
    CORRO_ASSERT(from.valid(), "an empty task cannot be awaited");
    return task<T>(task<T>::handle::from_address(by_itself(from.release().address())));
}

/// The base of `when_all` and `when_any`: children under one stop source, and the parent that waits for them.
class joining_hook : public completion_hook {
 public:
    explicit joining_hook(completion_hook::function told) noexcept : completion_hook(told), relay_(source_) {}
    joining_hook(const joining_hook&) = delete;
    joining_hook& operator=(const joining_hook&) = delete;

 protected:
    ~joining_hook() = default;

    template <promise_with_environment Promise>
    environment begin(std::coroutine_handle<Promise> parent) noexcept {
        const environment& outer = parent.promise().surroundings();
        parent_ = parent;
        if (outer.stop.stop_requested()) [[unlikely]]
            source_.request_stop();
        return {outer.where, stop_token(source_)};
    }
    /// @return true if the child has ended already; the hook is then not called for it.
    template <class T>
    [[nodiscard]] bool start(task<T>& child, const environment& inner) noexcept {
        CORRO_ASSERT(child.valid(), "an empty task cannot be awaited");
        const auto started = child.coroutine();
        started.promise().started_alone(inner);
        if (!inner.where->start_nested(started)) [[unlikely]] {
            started.promise().waiter = started;
            inner.where->ready(started.promise());
        } else if (started.done()) {
            return true;
        }
        started.promise().tell(*this);
        ++pending_count_;
        return false;
    }
    /// @return true if there are children to wait for; a stop of the parent then reaches them.
    bool all_started(stop_token outer) noexcept {
        if (--pending_count_ == 0) return false;
        relay_.listen(outer);
        return true;
    }
    std::coroutine_handle<> one_ended() noexcept {
        return --pending_count_ == 0 ? parent_ : std::coroutine_handle<>(std::noop_coroutine());
    }

    stop_source source_;
    stop_relay relay_;
    std::coroutine_handle<> parent_;
    std::size_t pending_count_ = 1;     // one for the starter, so that the parent is not resumed while it starts them
    promise_base* decisive_ = nullptr;  // the first child that failed (when_all) or ended (when_any)
};

class all_hook : public joining_hook {
 protected:
    all_hook() noexcept : joining_hook(&child_ended) {}
    ~all_hook() = default;

    template <class T>
    void run(task<T>& child, const environment& inner) noexcept {
        if (start(child, inner)) judge(child.promise());
    }

 private:
    void judge(promise_base& child) noexcept {
        if (child.failed() && decisive_ == nullptr) [[unlikely]] {
            decisive_ = &child;
            source_.request_stop();
        }
    }
    static std::coroutine_handle<> child_ended(completion_hook& self, promise_base& child) noexcept {
        auto& all = static_cast<all_hook&>(self);
        all.judge(child);
        return all.one_ended();
    }
};

template <class... Ts>
class [[nodiscard("await the result: it starts the tasks")]] all_of_awaiter : all_hook {
 public:
    template <class... Children>
    explicit all_of_awaiter(std::in_place_t, Children&&... children) noexcept : children_(moved_alone(children)...) {}
    /// @pre Not awaited yet.
    all_of_awaiter(all_of_awaiter&& other) noexcept : children_(std::move(other.children_)) {}
    all_of_awaiter& operator=(all_of_awaiter&&) = delete;
    ~all_of_awaiter() = default;
    bool await_ready() const noexcept { return sizeof...(Ts) == 0; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        const environment inner = this->begin(parent);
        std::apply([&](auto&... child) { (this->run(child, inner), ...); }, children_);
        return this->all_started(parent.promise().surroundings().stop);
    }
    std::tuple<stored<Ts>...> await_resume() {
        this->relay_.unregister();
        return std::apply(
            [&](auto&... child) {
                if (this->decisive_ != nullptr) [[unlikely]]
                    (rethrow(child), ...);
                return std::tuple<stored<Ts>...>(take_stored(child)...);
            },
            children_);
    }

 private:
    template <class T>
    void rethrow(task<T>& child) {
        if (&child.promise() == this->decisive_) child.promise().take();
    }

    std::tuple<task<Ts>...> children_;
};

template <class T>
class [[nodiscard("await the result: it starts the tasks")]] all_in_awaiter : all_hook {
 public:
    explicit all_in_awaiter(std::vector<task<T>>&& children) noexcept : children_(std::move(children)) {}
    /// @pre Not awaited yet.
    all_in_awaiter(all_in_awaiter&& other) noexcept : children_(std::move(other.children_)) {}
    all_in_awaiter& operator=(all_in_awaiter&&) = delete;
    ~all_in_awaiter() = default;
    bool await_ready() const noexcept { return children_.empty(); }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        const environment inner = this->begin(parent);
        for (task<T>& child : children_) this->run(child, inner);
        return this->all_started(parent.promise().surroundings().stop);
    }
    auto await_resume() {
        this->relay_.unregister();
        if (this->decisive_ != nullptr) [[unlikely]] {
            for (task<T>& child : children_) {
                if (&child.promise() == this->decisive_) child.promise().take();
            }
        }
        if constexpr (!std::is_void_v<T>) {
            std::vector<T> values;
            values.reserve(children_.size());
            for (task<T>& child : children_) values.push_back(child.promise().take());
            return values;
        }
    }

 private:
    std::vector<task<T>> children_;
};

}  // namespace detail

/// Runs all of `work` (tasks or other awaitables) and waits for all.
///
/// @return  A tuple of the results, std::monostate for void. If a child fails, the others are stopped and joined,
///          and the first failure is rethrown.
/// @suspend Until the last child has ended; resumes on the same context.
/// @cancel  Passes the stop on to the children and keeps waiting for them.
template <class... Awaitables>
auto when_all(Awaitables... work) {
    return detail::all_of_awaiter<detail::task_value_of<Awaitables>...>(std::in_place, detail::to_task(work)...);
}

/// The same for any number of tasks. @return A vector of the results in the order of the tasks; nothing for void.
template <class T>
auto when_all(std::vector<task<T>> work) {
    return detail::all_in_awaiter<T>(std::move(work));
}

}  // namespace corro::io
