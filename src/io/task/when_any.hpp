// SPDX-License-Identifier: Apache-2.0
// `when_any`: runs several tasks concurrently; the first to end stops the others, and all are joined.
//
// Threads: one context; the children start in order, each until it first waits. Once one has ended, those not yet
// started
//          never start.
// Cost:    only the children's frames.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "io/task/when_all.hpp"

namespace corro::io {

/// The index of the first child to end, and the values of all. A child that was stopped has a value too if it ran to
/// its end: usually an error for the stop, or its data if it completed at the same time.
template <class... Ts>
class any_of_result {
 public:
    /// The index of the first child to end, from 0.
    std::size_t index;
    /// The values of the children; empty for one that never started.
    std::tuple<std::optional<detail::stored<Ts>>...> values;

    explicit any_of_result(std::size_t first) noexcept : index(first) {}
};

/// The same for a vector of children.
template <class T>
class any_in_result {
 public:
    /// The index of the first child to end, from 0.
    std::size_t index;
    /// The values of the children; empty for one that never started.
    std::vector<std::optional<detail::stored<T>>> values;

    explicit any_in_result(std::size_t first) noexcept : index(first) {}
};

namespace detail {

class any_hook : public joining_hook {
 protected:
    any_hook() noexcept : joining_hook(&child_ended) {}
    ~any_hook() = default;

    template <class T>
    void start_unless_decided(task<T>& child, const environment& inner) noexcept {
        if (decisive_ == nullptr && start(child, inner)) decide(child.promise());
    }
    template <class T>
    void collect(task<T>& child, std::size_t position, std::size_t& first, std::optional<stored<T>>& value) {
        if (&child.promise() == decisive_) first = position;
        if (child.done()) value.emplace(take_stored(child));
    }

 private:
    void decide(promise_base& child) noexcept {
        if (decisive_ != nullptr) return;
        decisive_ = &child;
        source_.request_stop();
    }
    static std::coroutine_handle<> child_ended(completion_hook& self, promise_base& child) noexcept {
        auto& any = static_cast<any_hook&>(self);
        any.decide(child);
        return any.one_ended();
    }
};

template <class... Ts>
class [[nodiscard("await the result: it starts the tasks")]] any_of_awaiter : any_hook {
 public:
    template <class... Children>
    explicit any_of_awaiter(std::in_place_t, Children&&... children) noexcept : children_(moved_alone(children)...) {}
    /// @pre Not awaited yet.
    any_of_awaiter(any_of_awaiter&& other) noexcept : children_(std::move(other.children_)) {}
    any_of_awaiter& operator=(any_of_awaiter&&) = delete;
    ~any_of_awaiter() = default;
    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        const environment inner = this->begin(parent);
        std::apply([&](auto&... child) { (this->start_unless_decided(child, inner), ...); }, children_);
        return this->all_started(parent.promise().surroundings().stop);
    }
    any_of_result<Ts...> await_resume() {
        this->relay_.unregister();
        any_of_result<Ts...> result(0);
        [&]<std::size_t... I>(std::index_sequence<I...>) {
            (this->collect(std::get<I>(children_), I, result.index, std::get<I>(result.values)), ...);
        }(std::index_sequence_for<Ts...>());
        return result;
    }

 private:
    std::tuple<task<Ts>...> children_;
};

template <class T>
class [[nodiscard("await the result: it starts the tasks")]] any_in_awaiter : any_hook {
 public:
    explicit any_in_awaiter(std::vector<task<T>>&& children) noexcept : children_(std::move(children)) {}
    /// @pre Not awaited yet.
    any_in_awaiter(any_in_awaiter&& other) noexcept : children_(std::move(other.children_)) {}
    any_in_awaiter& operator=(any_in_awaiter&&) = delete;
    ~any_in_awaiter() = default;
    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) noexcept {
        const environment inner = this->begin(parent);
        for (task<T>& child : children_) this->start_unless_decided(child, inner);
        return this->all_started(parent.promise().surroundings().stop);
    }
    any_in_result<T> await_resume() {
        this->relay_.unregister();
        any_in_result<T> result(0);
        result.values.resize(children_.size());
        for (std::size_t i = 0; i < children_.size(); ++i) {
            this->collect(children_[i], i, result.index, result.values[i]);
        }
        return result;
    }

 private:
    std::vector<task<T>> children_;
};

}  // namespace detail

/// Runs `work` (tasks or other awaitables, at least one) until the first has ended; stops and joins the others.
///
/// @return  The index of the first child to end, and the values of all that ran to their end. A failure of any
///          child is rethrown.
/// @suspend Until the last child has ended; resumes on the same context.
/// @cancel  Passes the stop on to the children and keeps waiting for them.
template <class... Awaitables>
    requires(sizeof...(Awaitables) != 0)
auto when_any(Awaitables... work) {
    return detail::any_of_awaiter<detail::task_value_of<Awaitables>...>(std::in_place, detail::to_task(work)...);
}

/// The same for any number of tasks. @pre `work` is not empty (asserted).
template <class T>
auto when_any(std::vector<task<T>> work) {
    CORRO_ASSERT(!work.empty(), "when_any needs at least one task");
    return detail::any_in_awaiter<T>(std::move(work));
}

}  // namespace corro::io
