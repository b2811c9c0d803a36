// SPDX-License-Identifier: Apache-2.0
// `block_on`: runs a context from plain code until one task has finished.
#pragma once

#include <coroutine>
#include <utility>

#include "io/loop/context.hpp"
#include "io/task/awaitable.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::io {

namespace detail {

/// Leaves the context on every path.
class running_section {
 public:
    explicit running_section(context& on) noexcept : on_(&on) { on.enter(); }
    running_section(const running_section&) = delete;
    running_section& operator=(const running_section&) = delete;
    ~running_section() { on_->leave(); }

 private:
    context* on_;
};

}  // namespace detail

/// Starts `work` on `on` and runs the context until it has ended. Other tasks of the context run as well, and stay
/// unfinished afterwards. `context::stop` does not end it.
///
/// @return  The task's result. Rethrows an exception that escaped from it, or else from a task that was spawned on the
///          context itself. If both failed, the latter is kept for the next `block_on` or `run`.
/// @pre     The context is not running. `work` is not empty (asserted).
template <class T>
T block_on(context& on, task<T> work) {
    CORRO_ASSERT(work.valid(), "an empty task cannot be awaited");
    const detail::running_section section(on);
    work.promise().started_by(std::noop_coroutine(), environment(&on, stop_token()));
    work.coroutine().resume();
    if (!work.done()) on.run_until_done(work.coroutine());
    if (!work.promise().failed()) on.roots().rethrow_failure();
    return work.promise().take();
}

/// The same for anything that can be awaited.
template <class Awaitable>
    requires(!detail::is_task<Awaitable>)
auto block_on(context& on, Awaitable work) -> detail::await_result<Awaitable> {
    return block_on(on, detail::as_task(std::move(work)));
}

}  // namespace corro::io
