// SPDX-License-Identifier: Apache-2.0
// Suite `coro`, by Asio's awaitable. Asio has no mutex and no event; a channel of one place does their work.

#include <cstdint>
#include <variant>

#include "lab/suites/asio_channel.hpp"
#include "lab/suites/coro_methods.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

using namespace net::experimental::awaitable_operators;
using std::chrono::nanoseconds;

constexpr nanoseconds an_hour = std::chrono::hours(1);

[[gnu::noinline]] awaitable<std::int64_t> same(std::int64_t value) {
    co_return value;
}
[[gnu::noinline]] awaitable<> nothing() {
    co_return;
}
[[gnu::noinline]] awaitable<std::int64_t> chain(int depth, std::int64_t value) {
    if (depth <= 1) co_return value;
    co_return co_await chain(depth - 1, value);
}
[[gnu::noinline]] awaitable<std::int64_t> same_after_yield(std::int64_t value, executor on) {
    co_await net::post(on, net::deferred);
    co_return value;
}
[[gnu::noinline]] awaitable<std::int64_t> same_after_event(channel& happened, std::int64_t value) {
    const auto [error] = co_await happened.async_receive(as_results);
    co_return error ? -1 : value;
}
[[gnu::noinline]] awaitable<> wait_for(channel& happened) {
    co_await happened.async_receive(as_results);
}
[[gnu::noinline]] awaitable<> expire(timer& limit, nanoseconds after) {
    limit.expires_after(after);
    co_await limit.async_wait(as_results);
}

/// What the operations may use.
struct tools {
    explicit tools(net::io_context& context) : on(context.get_executor()), one_place(on, 1), never(on, 0), limit(on) {}
    executor on;
    channel one_place;
    channel never;
    timer limit;
};

/// Runs `operations(count, timer, tools)`, a coroutine that returns the sum, on a context of its own.
template <class Operations>
void add(registry& into, const char* row, Operations operations) {
    into.implement("coro", row, subject("coroutines"), [operations](const run_parameters& how) {
        net::io_context context(alone);
        tools with(context);
        return both_methods(how, [&](std::uint64_t count, auto timing) {
            std::int64_t result = 0;
            net::co_spawn(with.on, operations(count, timing, with), [&](std::exception_ptr failure, std::int64_t sum) {
                rethrow(failure);
                result = sum;
            });
            context.run();
            context.restart();
            return result;
        });
    });
}

template <class Timing, class Body>
awaitable<std::int64_t> repeat(std::uint64_t count, Timing timing, tools& with, Body body) {
    std::int64_t sum = 0;
    for (std::uint64_t position = 0; position < count; ++position) {
        const auto i = static_cast<std::int64_t>(position);
        timing.begin();
        sum += body.result(co_await body.make(i, with), i, with);
        timing.end();
    }
    co_return sum;
}

struct await_int {
    static awaitable<std::int64_t> make(std::int64_t i, tools&) { return same(i); }
    static std::int64_t result(std::int64_t value, std::int64_t, tools&) { return value; }
};
struct await_chain : await_int {
    static awaitable<std::int64_t> make(std::int64_t i, tools&) { return chain(10, i); }
};
struct lock_and_unlock {
    static auto make(std::int64_t, tools& with) { return with.one_place.async_send(error_code(), as_results); }
    static std::int64_t result(std::tuple<error_code> locked, std::int64_t i, tools& with) {
        const bool unlocked = with.one_place.try_receive([](const error_code&) {});
        return std::get<0>(locked) || !unlocked ? -1 : i;
    }
};
struct all_of_three {
    static auto make(std::int64_t i, tools&) { return same(i) && same(1) && same(-1); }
    static std::int64_t result(std::tuple<std::int64_t, std::int64_t, std::int64_t> all, std::int64_t, tools&) {
        return std::get<0>(all) + std::get<1>(all) + std::get<2>(all);
    }
};
struct any_of_two {
    static auto make(std::int64_t i, tools& with) { return same_after_event(with.never, i) || same(i); }
    static std::int64_t result(std::variant<std::int64_t, std::int64_t> any, std::int64_t, tools&) {
        return any.index() == 1 ? std::get<1>(any) : -1;
    }
};
struct timeout_at_once {
    static auto make(std::int64_t i, tools& with) { return same(i) || expire(with.limit, an_hour); }
    static std::int64_t result(std::variant<std::int64_t, std::monostate> any, std::int64_t, tools&) {
        return any.index() == 0 ? std::get<0>(any) : -1;
    }
};
struct timeout_armed : timeout_at_once {
    static auto make(std::int64_t i, tools& with) {
        return same_after_yield(i, with.on) || expire(with.limit, an_hour);
    }
};
struct timeout_fires {
    static auto make(std::int64_t i, tools& with) {
        return same_after_event(with.never, i) || expire(with.limit, nanoseconds(0));
    }
    static std::int64_t result(std::variant<std::int64_t, std::monostate> any, std::int64_t i, tools&) {
        return any.index() == 1 ? i : -1;
    }
};

template <class Body>
void add_body(registry& into, const char* row) {
    add(into, row, [](std::uint64_t count, auto timing, tools& with) { return repeat(count, timing, with, Body()); });
}

template <class Timing>
awaitable<std::int64_t> await_nothing(std::uint64_t count, Timing timing, tools&) {
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        timing.begin();
        co_await nothing();
        timing.end();
        sum += static_cast<std::int64_t>(i);
    }
    co_return sum;
}

template <class Timing>
awaitable<std::int64_t> yields(std::uint64_t count, Timing timing, tools& with) {
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        timing.begin();
        co_await net::post(with.on, net::deferred);
        timing.end();
        sum += static_cast<std::int64_t>(i);
    }
    co_return sum;
}

template <class Timing>
awaitable<std::int64_t> suspends_on_events(std::uint64_t count, Timing timing, tools& with) {
    std::int64_t sum = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        timing.begin();
        bool ended = false;
        net::co_spawn(with.on, wait_for(with.one_place), [&](std::exception_ptr failure) {
            rethrow(failure);
            ended = true;
        });
        co_await net::post(with.on, net::deferred);
        const bool told = with.one_place.try_send(error_code());
        while (!ended) co_await net::post(with.on, net::deferred);
        timing.end();
        sum += told ? static_cast<std::int64_t>(i) : -1;
    }
    co_return sum;
}

}  // namespace

void implement_coro(registry& into) {
    add_body<await_int>(into, "task_int_await");
    add_body<await_chain>(into, "chain_of_ten");
    add_body<lock_and_unlock>(into, "mutex_uncontended");
    add_body<all_of_three>(into, "when_all_3");
    add_body<any_of_two>(into, "when_any_2");
    add_body<timeout_at_once>(into, "with_timeout_at_once");
    add_body<timeout_armed>(into, "with_timeout_armed");
    add_body<timeout_fires>(into, "with_timeout_fires");
    add(into, "task_void_await",
        [](std::uint64_t count, auto timing, tools& with) { return await_nothing(count, timing, with); });
    add(into, "yield", [](std::uint64_t count, auto timing, tools& with) { return yields(count, timing, with); });
    add(into, "event_suspend_spawned",
        [](std::uint64_t count, auto timing, tools& with) { return suspends_on_events(count, timing, with); });
    into.implement("coro", "task_run_plain", subject("coroutines"), [](const run_parameters& how) {
        net::io_context context(alone);
        return both_methods_of(how, [&](std::int64_t i) {
            std::int64_t result = 0;
            net::co_spawn(context, same(i), [&](std::exception_ptr failure, std::int64_t value) {
                rethrow(failure);
                result = value;
            });
            context.run();
            context.restart();
            return result;
        });
    });
}

}  // namespace corro::lab::CORRO_LAB_ASIO
