// SPDX-License-Identifier: Apache-2.0
// `after_events`: lets all tasks run first for which the loop has an event already.
//
// The loop takes events from its kernel in batches and handles them one after the other. A task that gathers the
// output of the tasks behind these events (answers to be sent, bytes to be written) waits for the end of the batch
// with this: under load it runs once for many events, and with one event it does not wait. On Asio's loop, which does
// not expose its ready events, every batch is one event.
#pragma once

#include <coroutine>

#include "io/loop/context.hpp"
#include "io/task/detail/lazily.hpp"

namespace corro::io {
namespace detail {

class after_events_awaiter : ready_item {
 public:
    after_events_awaiter() noexcept {}  // NOLINT: ready_item is filled in when the task suspends
    bool await_ready() const noexcept { return false; }
    template <promise_with_environment Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
        waiter = self;
        self.promise().surroundings().where->ready_after_events(*this);
    }
    void await_resume() const noexcept {}
};

}  // namespace detail

/// @suspend Always; resumes through the ready queue, once the events that the loop has collected are handled and the
///          tasks that they made ready have run; before the loop asks for more events or sleeps.
/// @cancel  Does not observe the stop token.
inline lazily<detail::after_events_awaiter> after_events() noexcept {
    return lazily<detail::after_events_awaiter>();
}

}  // namespace corro::io
