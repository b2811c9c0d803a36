// SPDX-License-Identifier: Apache-2.0
// Work on another context: `resume_on` and `remote_spawn`.
//
// A task stays on its context. Work on another context is a task of its own, which runs there from its start to its
// end while the parent waits; a stop of the parent is sent there as a message. So no stop source, timer or socket is
// ever used by two threads.
//
// Threads: `resume_on`: awaited on any context, for any other. `remote_spawn`: any thread.
// Cost:    two deliveries (one there, one back); a system call only for a loop that sleeps.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "io/loop/context.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/awaitable.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/task/when_all.hpp"

namespace corro::io {

/// Passes `child` to `on`, to run there as a task of the context itself. Any thread.
///
/// @pre `on` outlives the call. Its `run` may return before the task arrives, unless something holds it (`work_guard`).
inline void remote_spawn(context& on, task<void> child) noexcept {
    CORRO_ASSERT(child.valid(), "an empty task cannot be spawned");
    detail::promise_base& promise = child.release().promise();
    promise.arrive = [](remote_item& arrived, context& here) noexcept {
        auto& mine = static_cast<detail::task_promise<void>&>(static_cast<detail::promise_base&>(arrived));
        here.roots().spawn(task<void>(task<void>::handle::from_promise(mine)));
    };
    on.deliver(promise);
}

namespace detail {

/// The state that the parent and the work on the other context share. It is a member of the parent's frame, and the
/// parent resumes only when neither the work nor a stop message can touch it any more.
template <class T>
struct remote_call {
    remote_call(context& here, task<T> what) noexcept : done(here), stop_arrived(here), work(std::move(what)) {
        stop_message.self = this;
        stop_message.arrive = [](remote_item& arrived, context&) noexcept {
            remote_call& mine = *static_cast<message&>(arrived).self;
            mine.stopping.request_stop();
            mine.stop_arrived.set();
        };
    }

    struct message : remote_item {
        remote_call* self;
    };

    remote_event done;
    remote_event stop_arrived;
    message stop_message;
    stop_source stopping;  // used on the other context only, until everything is over
    task<T> work;
    std::optional<stored<T>> value;
    std::exception_ptr failure;
};

template <class T>
task<> run_remote_call(remote_call<T>* shared) {
    stop_relay relay(shared->stopping);
    relay.listen(co_await this_stop_token());
    try {
        if constexpr (std::is_void_v<T>) {
            co_await awaited_under<T>(std::move(shared->work), shared->stopping);
            shared->value.emplace();
        } else {
            shared->value.emplace(co_await awaited_under<T>(std::move(shared->work), shared->stopping));
        }
    } catch (...) {
        shared->failure = std::current_exception();
    }
    relay.unregister();
    shared->done.set();
}

}  // namespace detail

/// Runs `work` on `there`, and returns its result.
///
/// @return  The work's result; rethrows its exception.
/// @pre     `there` runs until the work has ended, and outlives it.
/// @suspend Until the work has ended; resumes on the task's own context.
/// @cancel  Passes the stop on to the work and keeps waiting for it.
template <class T>
task<T> resume_on(context& there, task<T> work) {
    // Not a coroutine itself, because a coroutine must not take references.
    return [](context* elsewhere, task<T> moved) -> task<T> {
        detail::remote_call<T> shared(co_await this_context(), std::move(moved));
        remote_spawn(*elsewhere, detail::run_remote_call<T>(&shared));
        if (const std::error_code stopped = co_await shared.done.wait(); stopped) {
            elsewhere->deliver(shared.stop_message);
            // From here on only the end of the work ends the wait.
            stop_source never;
            co_await detail::awaited_under<std::error_code>(detail::as_task(shared.done.wait()), never);
            co_await detail::awaited_under<std::error_code>(detail::as_task(shared.stop_arrived.wait()), never);
        }
        if (shared.failure) std::rethrow_exception(shared.failure);
        if constexpr (!std::is_void_v<T>) co_return std::move(*shared.value);
    }(&there, std::move(work));
}

}  // namespace corro::io
