// SPDX-License-Identifier: Apache-2.0
// `await_callback`: awaits an API that reports its end by a callback.
//
//     auto length = co_await await_callback<int>([&](callback<int> done) { library_measure(handle, done); });
//
// The callback may be called on any thread, at once or later; the first call counts. If the library drops every copy of
// it without calling, the task resumes with operation_canceled.
//
// Threads: awaited on a context; called back on any thread.
// Cost:    one allocation per operation, one delivery.
#pragma once

#include <concepts>
#include <expected>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <tuple>
#include <utility>

#include "io/errors.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/awaitable.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"

namespace corro::io {

namespace detail {

/// The state that the task and the callback share; the last of them destroys it.
template <class... Results>
struct awaited_call {
    explicit awaited_call(context& on) noexcept : done(on) {}

    void end(std::optional<std::tuple<Results...>> with) noexcept {
        const std::scoped_lock lock(guard);
        if (over || abandoned) return;
        over = true;
        result = std::move(with);
        done.set();
    }

    std::mutex guard;
    bool over = false;       // guarded
    bool abandoned = false;  // the task is destroyed, perhaps with its context; guarded
    std::optional<std::tuple<Results...>> result;
    remote_event done;
};

/// The library's end. Every copy of a callback shares one.
template <class... Results>
struct callback_end {
    explicit callback_end(std::shared_ptr<awaited_call<Results...>> whose) noexcept : call(std::move(whose)) {}
    callback_end(const callback_end&) = delete;
    callback_end& operator=(const callback_end&) = delete;
    ~callback_end() { call->end(std::nullopt); }
    std::shared_ptr<awaited_call<Results...>> call;
};

/// The task's end: marks in its destructor that the task has gone.
template <class... Results>
class callback_interest {
 public:
    explicit callback_interest(std::shared_ptr<awaited_call<Results...>> in) noexcept : in_(std::move(in)) {}
    callback_interest(const callback_interest&) = delete;
    callback_interest& operator=(const callback_interest&) = delete;
    ~callback_interest() {
        const std::scoped_lock lock(in_->guard);
        in_->abandoned = true;
    }

 private:
    std::shared_ptr<awaited_call<Results...>> in_;
};

/// The placeholder for a library that cannot be stopped.
struct no_cancel {
    no_cancel() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions
    void operator()() const noexcept {}
};

template <class... Results>
struct callback_value {
    using type = std::tuple<Results...>;
    static type from(std::tuple<Results...>&& all) { return std::move(all); }
};
template <class Result>
struct callback_value<Result> {
    using type = Result;
    static type from(std::tuple<Result>&& all) { return std::get<0>(std::move(all)); }
};
template <>
struct callback_value<> {
    using type = void;
};

}  // namespace detail

/// The callback for a library to call, once, on any thread. Copies are one callback.
template <class... Results>
class callback {
 public:
    explicit callback(std::shared_ptr<detail::callback_end<Results...>> end) noexcept : end_(std::move(end)) {}

    /// Ends the wait with `results`; later calls do nothing. Any thread.
    void operator()(Results... results) const { end_->call->end(std::tuple<Results...>(std::move(results)...)); }

 private:
    std::shared_ptr<detail::callback_end<Results...>> end_;
};

/// Starts an operation that calls back, and waits for that.
///
/// @param initiate  Called once, at once, with a `callback<Results...>`. The await rethrows its exceptions.
/// @param cancel    Called on a stop, on the context's thread; asks the library to call back soon. The task then
/// waits for the callback.
/// @return          std::expected of the callback's arguments: nothing, one value, or a tuple.
/// @error           operation_canceled if the library dropped the callback; and on stop without a `cancel`, when a
///                  later callback is dropped.
/// @suspend         Until the callback is called; resumes on the task's context.
/// @cancel          As above. With a `cancel`, the library's result counts.
template <class... Results, class Initiate, class Cancel>
    requires std::invocable<Initiate&, callback<Results...>> && std::invocable<Cancel&>
[[nodiscard]] auto await_callback(Initiate initiate, Cancel cancel)
    -> task<std::expected<typename detail::callback_value<Results...>::type, std::error_code>> {
    const auto shared = std::make_shared<detail::awaited_call<Results...>>(co_await this_context());
    const detail::callback_interest<Results...> interest(shared);
    initiate(callback<Results...>(std::make_shared<detail::callback_end<Results...>>(shared)));
    const std::error_code stopped = co_await shared->done.wait();
    if (stopped) {
        if constexpr (std::same_as<Cancel, detail::no_cancel>) {
            co_return std::unexpected(stopped);
        } else {
            cancel();
            stop_source never;
            co_await detail::awaited_under<std::error_code>(detail::as_task(shared->done.wait()), never);
        }
    }
    std::optional<std::tuple<Results...>> result;
    {
        const std::scoped_lock lock(shared->guard);
        result = std::move(shared->result);
    }
    if (!result) co_return std::unexpected(operation_canceled());
    if constexpr (sizeof...(Results) == 0) {
        co_return std::expected<void, std::error_code>();
    } else {
        co_return detail::callback_value<Results...>::from(std::move(*result));
    }
}

/// The same for a library that cannot be stopped.
template <class... Results, class Initiate>
    requires std::invocable<Initiate&, callback<Results...>>
[[nodiscard]] auto await_callback(Initiate initiate)
    -> task<std::expected<typename detail::callback_value<Results...>::type, std::error_code>> {
    return await_callback<Results...>(std::move(initiate), detail::no_cancel());
}

}  // namespace corro::io
