// SPDX-License-Identifier: Apache-2.0
// Cancellation and time: how a task is stopped, what it sees of it, limits, timers.
#include <chrono>
#include <iostream>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

// [loop]
/// A recurring job. A stop ends the pause at once, and with it the loop.
io::task<> heartbeat() {
    int beats = 0;
    for (;;) {
        const std::error_code stopped = co_await io::sleep_for(5ms);
        if (stopped) break;
        ++beats;
    }
    std::cout << "the heart has stopped" << (beats == 0 ? " before it beat" : "") << std::endl;
}

io::task<> work_for_a_while() {
    co_await io::sleep_for(200ms);
    std::cout << "the work is done" << std::endl;
}

io::task<> work_with_heartbeat() {
    co_await io::when_any(work_for_a_while(), heartbeat());
    std::cout << "both have ended" << std::endl;
}
// [/loop]

// [compute]
/// Long computations ask themselves, and let others run now and then.
io::task<long> add_up(long limit) {
    const io::stop_token stop = co_await io::this_stop_token();
    long sum = 0;
    for (long number = 1; number <= limit; ++number) {
        sum += number;
        if (number % 1000 != 0) continue;
        co_await io::yield();
        if (stop.stop_requested()) break;
    }
    co_return sum;
}
// [/compute]

// [timeout]
io::task<> with_a_limit() {
    const auto fast = co_await io::with_timeout(10s, add_up(1000));
    if (fast) std::cout << "sum: " << *fast << std::endl;

    io::manual_event never;
    const auto slow = co_await io::with_timeout(10ms, never.wait());
    if (!slow) std::cout << "event: " << slow.error().message() << std::endl;
}
// [/timeout]

// [deadline]
/// One limit for several steps: a point in time, not a duration.
io::task<> several_steps() {
    io::context& here = co_await io::this_context();
    const io::steady_time limit = here.now() + 100ms;
    int steps = 0;
    for (; steps < 10; ++steps) {
        const auto ended = co_await io::with_deadline(limit, io::sleep_for(60ms));
        if (!ended) break;
    }
    std::cout << "steps in time: " << steps << std::endl;
}
// [/deadline]

// [idle]
/// Ends when nothing has happened for a while. Each sign of life pushes the deadline ahead.
io::task<> watch(io::steady_timer* idle) {
    const std::error_code stopped = co_await idle->wait();
    std::cout << (stopped ? "still busy" : "idle") << std::endl;
}

io::task<> live(io::steady_timer* idle) {
    for (int sign = 0; sign < 3; ++sign) {
        co_await io::sleep_for(20ms);
        idle->expires_after(500ms);
    }
    std::cout << "no more signs" << std::endl;
    co_await io::sleep_for(1h);
}

io::task<> watch_a_life() {
    io::steady_timer idle(co_await io::this_context());
    idle.expires_after(500ms);
    co_await io::when_any(watch(&idle), live(&idle));
}
// [/idle]

int main() {
    io::context ctx;
    io::block_on(ctx, work_with_heartbeat());
    io::block_on(ctx, with_a_limit());
    io::block_on(ctx, several_steps());
    io::block_on(ctx, watch_a_life());
}
