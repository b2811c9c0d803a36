// SPDX-License-Identifier: Apache-2.0
// The callback bridge: starts a coroutine from plain code and returns its result by a callback, by a std::future, or
// as the result of a blocking call.
//
//     auto running = start_with_callback(ctx, fetch(url), [](task_outcome<page> got) { ... });
//     std::future<page> later = start_with_future(ctx, fetch(url));
//     page now = start_and_wait(ctx, fetch(url));
//
// Threads: any thread may start; the context runs on its own. Callbacks run on the context's thread.
// Cost:    two frames, one or two allocations, one delivery; a system call only while the loop sleeps.
#pragma once

#include <exception>
#include <expected>
#include <future>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>

#include "io/errors.hpp"
#include "io/loop/context.hpp"
#include "io/task/resume_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// The outcome of a started task: its result, or the exception that escaped from it.
template <class T>
using task_outcome = std::expected<T, std::exception_ptr>;

/// A task that was started from plain code. Dropping this object does not stop it.
class started_task {
 public:
    started_task() noexcept = default;

    /// Asks the task to stop; harmless after its end. Any thread. @pre The context has not been destroyed.
    void request_stop() const {
        if (state_ != nullptr) remote_spawn(*state_->where, stop_there(state_));
    }

    /// The state that the task and its holders share.
    struct state {
        explicit state(context& on) noexcept : where(&on) {}
        context* where;        ///< Where the task runs.
        stop_source stopping;  ///< Used on that context only.
    };
    explicit started_task(std::shared_ptr<state> of) noexcept : state_(std::move(of)) {}

 private:
    static task<> stop_there(std::shared_ptr<state> of) {
        of->stopping.request_stop();
        co_return;
    }
    std::shared_ptr<state> state_;
};

namespace detail {

/// Calls back exactly once: with the outcome, or, if the task is destroyed before its end, with operation_canceled.
template <class T, class Done>
class calls_back_once {
 public:
    explicit calls_back_once(Done done) : done_(std::move(done)) {}
    calls_back_once(const calls_back_once&) = delete;
    calls_back_once& operator=(const calls_back_once&) = delete;
    ~calls_back_once() {
        if (called_) return;
        try {
            done_(task_outcome<T>(std::unexpect, std::make_exception_ptr(
                                                     std::system_error(operation_canceled(), "the context has gone"))));
        } catch (...) {  // NOLINT(bugprone-empty-catch): nobody is left to be told
        }
    }
    void operator()(task_outcome<T> outcome) {
        called_ = true;
        done_(std::move(outcome));
    }

 private:
    Done done_;
    bool called_ = false;
};

template <class T, class Done>
task<> run_and_call(std::shared_ptr<started_task::state> state, task<T> work,
                    std::unique_ptr<calls_back_once<T, Done>> done) {
    // A stop of the context's own tasks stops this one too.
    stop_relay relay(state->stopping);
    relay.listen(co_await this_stop_token());
    task_outcome<T> outcome(std::unexpect, nullptr);
    try {
        if constexpr (std::is_void_v<T>) {
            co_await awaited_under<T>(std::move(work), state->stopping);
            outcome = task_outcome<T>();
        } else {
            outcome = task_outcome<T>(co_await awaited_under<T>(std::move(work), state->stopping));
        }
    } catch (...) {
        outcome = task_outcome<T>(std::unexpect, std::current_exception());
    }
    relay.unregister();
    (*done)(std::move(outcome));
}

}  // namespace detail

/// Starts `work` on `on`, and calls `done` with its outcome, exactly once, on the context's thread.
///
/// @param done  Takes a `task_outcome<T>`. `context::run` rethrows its exceptions. If the context is destroyed
///              before the task has ended, `done` gets operation_canceled.
/// @pre         `on` outlives the call. A `work_guard` keeps its `run` from returning before the task arrives.
template <class T, class Done>
    requires std::invocable<Done&, task_outcome<T>>
started_task start_with_callback(context& on, task<T> work, Done done) {
    auto state = std::make_shared<started_task::state>(on);
    auto once = std::make_unique<detail::calls_back_once<T, Done>>(std::move(done));
    remote_spawn(on, detail::run_and_call<T, Done>(state, std::move(work), std::move(once)));
    return started_task(std::move(state));
}

/// Starts `work` on `on`; the future gets its result or its exception. Do not wait for it on the context's thread.
/// If the context is destroyed before the task has ended, the future gets a std::system_error, operation_canceled.
template <class T>
[[nodiscard]] std::future<T> start_with_future(context& on, task<T> work) {
    auto promise = std::make_shared<std::promise<T>>();
    std::future<T> result = promise->get_future();
    start_with_callback(on, std::move(work), [promise](task_outcome<T> outcome) {
        if (!outcome) {
            promise->set_exception(outcome.error());
        } else if constexpr (std::is_void_v<T>) {
            promise->set_value();
        } else {
            promise->set_value(std::move(*outcome));
        }
    });
    return result;
}

/// Starts `work` on `on`, which another thread runs, and waits for its result; rethrows its exception.
/// @pre Not called on the context's thread, which would then wait for itself.
template <class T>
T start_and_wait(context& on, task<T> work) {
    return start_with_future(on, std::move(work)).get();
}

}  // namespace corro::io
