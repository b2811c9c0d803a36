// SPDX-License-Identifier: Apache-2.0
// Awaitables, their results, and their conversion to tasks.
#pragma once

#include <type_traits>
#include <utility>

#include "io/task/task.hpp"

namespace corro::io::detail {

template <class T>
decltype(auto) awaiter_of(T&& awaitable) {
    if constexpr (requires { std::forward<T>(awaitable).operator co_await(); }) {
        return std::forward<T>(awaitable).operator co_await();
    } else {
        return std::forward<T>(awaitable);
    }
}

/// The result of `co_await std::declval<T>()`.
template <class T>
using await_result = decltype(awaiter_of(std::declval<T>()).await_resume());

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

template <class T>
task<T> as_task(task<T> already) noexcept {
    return already;
}

/// Wraps an awaitable into a task of its own.
template <class Awaitable>
    requires(!is_task<Awaitable>)
auto as_task(Awaitable awaitable) -> task<await_result<Awaitable>> {
    co_return co_await std::move(awaitable);
}

/// The same; a task is returned as it is.
template <class Awaitable>
decltype(auto) to_task(Awaitable& awaitable) noexcept {
    if constexpr (is_task<Awaitable>) {
        return std::move(awaitable);
    } else {
        return as_task(std::move(awaitable));
    }
}

/// The type of the task that `as_task` makes, as its value.
template <class Awaitable>
using task_value_of = std::remove_cvref_t<await_result<Awaitable>>;

}  // namespace corro::io::detail
