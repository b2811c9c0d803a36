// SPDX-License-Identifier: Apache-2.0
// Suite `coro`, by Corro.

#include <chrono>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "io/loop/yield.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/task/awaitable.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "lab/suites/coro_methods.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

using namespace std::chrono_literals;

// Not inlined, so that every call makes a frame.
[[gnu::noinline]] io::task<std::int64_t> same(std::int64_t value) {
    co_return value;
}
[[gnu::noinline]] io::task<> nothing() {
    co_return;
}
[[gnu::noinline]] io::task<std::int64_t> chain(int depth, std::int64_t value) {
    if (depth <= 1) co_return value;
    co_return co_await chain(depth - 1, value);
}
[[gnu::noinline]] io::task<std::int64_t> same_after_yield(std::int64_t value) {
    co_await io::yield();
    co_return value;
}
[[gnu::noinline]] io::task<std::int64_t> same_after_event(io::manual_event* on, std::int64_t value) {
    const std::error_code error = co_await on->wait();
    co_return error ? -1 : value;
}
[[gnu::noinline]] io::task<> wait_for(io::manual_event* on) {
    co_await on->wait();
}
[[gnu::noinline]] io::task<> lock_and_unlock(io::mutex* lock) {
    const std::error_code error = co_await lock->lock();
    if (!error) lock->unlock();
}

/// Awaits `make(i)` again and again; `take(result, i)` returns i if the result is right.
template <class Timer, class Make, class Take>
io::task<std::int64_t> awaits(std::uint64_t count, Timer timer, Make make, Take take) {
    std::int64_t sum = 0;
    for (std::uint64_t position = 0; position < count; ++position) {
        const auto i = static_cast<std::int64_t>(position);
        timer.begin();
        if constexpr (std::is_void_v<io::detail::await_result<decltype(make(i))>>) {
            co_await make(i);
            sum += i;
        } else {
            sum += take(co_await make(i), i);
        }
        timer.end();
    }
    co_return sum;
}

template <class Timer>
io::task<std::int64_t> suspends_on_events(std::uint64_t count, Timer timer) {
    io::task_scope children(co_await io::this_context());
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        timer.begin();
        io::manual_event happened;
        children.spawn(wait_for(&happened));
        co_await io::yield();
        happened.set();
        co_await children.join();
        timer.end();
        sum += static_cast<std::int64_t>(i);
    }
    co_return sum;
}

template <class Timer>
io::task<std::int64_t> hands_over(std::uint64_t count, Timer timer) {
    io::task_scope children(co_await io::this_context());
    io::mutex lock;
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        timer.begin();
        const std::error_code error = co_await lock.lock();
        children.spawn(lock_and_unlock(&lock));
        co_await io::yield();
        lock.unlock();
        co_await children.join();
        timer.end();
        sum += error ? -1 : static_cast<std::int64_t>(i);
    }
    co_return sum;
}

/// Starts a task from plain code, without leaving the loop for it: as a bridge from callbacks does.
std::int64_t suspend_and_set(io::context& on, std::int64_t value) {
    io::manual_event happened;
    io::task<std::int64_t> waiting = same_after_event(&happened, value);
    waiting.promise().started_by(std::noop_coroutine(), io::environment(&on, io::stop_token()));
    const io::detail::running_section running(on);
    waiting.coroutine().resume();
    happened.set();
    on.run_until_done(waiting.coroutine());
    return waiting.promise().take();
}

/// Puts a row whose operations are made by `operations(count, timer)`, a task, on the list.
template <class Operations>
void add(registry& into, const char* row, Operations operations) {
    into.implement("coro", row, "corro", [operations](const run_parameters& how) {
        io::context on;
        return both_methods(
            how, [&](std::uint64_t count, auto timer) { return io::block_on(on, operations(count, timer)); });
    });
}

template <class Make, class Take>
void add_awaits(registry& into, const char* row, Make make, Take take) {
    add(into, row, [make, take](std::uint64_t count, auto timer) { return awaits(count, timer, make, take); });
}

const auto itself = [](std::int64_t value, std::int64_t) { return value; };
const auto no_error = [](std::error_code error, std::int64_t i) { return error ? -1 : i; };

void implement_tasks(registry& into) {
    add_awaits(into, "task_int_await", [](std::int64_t i) { return same(i); }, itself);
    add_awaits(into, "task_void_await", [](std::int64_t) { return nothing(); }, itself);
    add_awaits(into, "chain_of_ten", [](std::int64_t i) { return chain(10, i); }, itself);
    add_awaits(into, "yield", [](std::int64_t) { return io::yield(); }, itself);
    into.implement("coro", "task_run_plain", "corro", [](const run_parameters& how) {
        io::context on;
        return both_methods_of(how, [&](std::int64_t i) { return io::block_on(on, same(i)); });
    });
}

void implement_synchronisation(registry& into) {
    into.implement("coro", "mutex_uncontended", "corro", [](const run_parameters& how) {
        io::context on;
        io::mutex lock;
        const auto take = [&](std::error_code error, std::int64_t i) {
            lock.unlock();
            return no_error(error, i);
        };
        return both_methods(how, [&](std::uint64_t count, auto timer) {
            return io::block_on(on, awaits(count, timer, [&](std::int64_t) { return lock.lock(); }, take));
        });
    });
    into.implement("coro", "shared_mutex_uncontended", "corro", [](const run_parameters& how) {
        io::context on;
        io::shared_mutex lock;
        const auto take = [&](std::error_code error, std::int64_t i) {
            lock.unlock();
            return no_error(error, i);
        };
        return both_methods(how, [&](std::uint64_t count, auto timer) {
            return io::block_on(on, awaits(count, timer, [&](std::int64_t) { return lock.lock(); }, take));
        });
    });
    into.implement("coro", "event_set", "corro", [](const run_parameters& how) {
        io::context on;
        io::manual_event happened(true);
        return both_methods(how, [&](std::uint64_t count, auto timer) {
            return io::block_on(on, awaits(count, timer, [&](std::int64_t) { return happened.wait(); }, no_error));
        });
    });
    into.implement("coro", "event_suspend", "corro", [](const run_parameters& how) {
        io::context on;
        return both_methods_of(how, [&](std::int64_t i) { return suspend_and_set(on, i); });
    });
    add(into, "event_suspend_spawned",
        [](std::uint64_t count, auto timer) { return suspends_on_events(count, timer); });
    add(into, "mutex_hand_over", [](std::uint64_t count, auto timer) { return hands_over(count, timer); });
}

void implement_combinators(registry& into) {
    add_awaits(
        into, "when_all_3", [](std::int64_t i) { return io::when_all(same(i), same(1), same(-1)); },
        [](auto all, std::int64_t) { return std::get<0>(all) + std::get<1>(all) + std::get<2>(all); });
    // An event that is never set. No task waits for it between operations.
    static io::manual_event never;
    add_awaits(
        into, "when_any_2", [](std::int64_t i) { return io::when_any(same_after_event(&never, i), same(i)); },
        [](auto any, std::int64_t) { return any.index == 1 ? *std::get<1>(any.values) : -1; });
    const auto value_of = [](auto result, std::int64_t) { return result ? *result : -1; };
    add_awaits(into, "with_timeout_at_once", [](std::int64_t i) { return io::with_timeout(1h, same(i)); }, value_of);
    add_awaits(
        into, "with_timeout_armed", [](std::int64_t i) { return io::with_timeout(1h, same_after_yield(i)); }, value_of);
    add_awaits(
        into, "with_timeout_fires", [](std::int64_t i) { return io::with_timeout(0ns, same_after_event(&never, i)); },
        [](auto result, std::int64_t i) { return !result && result.error() == io::condition::timed_out ? i : -1; });
}

}  // namespace

void implement_coro_corro(registry& into) {
    implement_tasks(into);
    implement_synchronisation(into);
    implement_combinators(into);
}

}  // namespace corro::lab
