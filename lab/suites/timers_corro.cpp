// SPDX-License-Identifier: Apache-2.0
// Suite `timers`, by Corro.

#include <chrono>
#include <deque>
#include <optional>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/suites.hpp"
#include "lab/suites/timer_shapes.hpp"

namespace corro::lab {
namespace {

io::task<> one_turn() {
    co_await io::yield();
}

measurement schedule_and_cancel(const run_parameters& how, io::platform* kind) {
    io::context on{io::context_options(*kind)};
    timed_run run(how.seconds);
    for (std::uint64_t at = run.now(); at != 0; at = run.count(at, timer_batch)) {
        int cancelled = 0;
        for (int i = 0; i < timer_batch; ++i) {
            io::steady_timer timer(on);
            timer.expires_after(timer_far_away);
            cancelled += timer.cancel() ? 1 : 0;
        }
        verify(cancelled == timer_batch, "a timer was not armed");
        io::block_on(on, one_turn());
    }
    return rate_of(run);
}

io::task<> wait_in_vain(io::steady_timer* timer, int* cancelled) {
    timer->expires_after(timer_far_away);
    const std::error_code error = co_await timer->wait();
    if (error == io::condition::canceled) ++*cancelled;
}

io::task<> cancel_waiters(timed_run* run) {
    io::context& on = co_await io::this_context();
    io::task_scope waiters(on);
    for (std::uint64_t at = run->now(); at != 0; at = run->count(at, timer_batch)) {
        int cancelled = 0;
        std::deque<io::steady_timer> timers;
        for (int i = 0; i < timer_batch; ++i) waiters.spawn(wait_in_vain(&timers.emplace_back(on), &cancelled));
        co_await io::yield();
        for (io::steady_timer& one : timers) one.cancel();
        co_await waiters.join();
        verify(cancelled == timer_batch, "a waiter was not told");
    }
}

io::task<> fire(timed_run* run) {
    io::steady_timer timer(co_await io::this_context());
    for (std::uint64_t at = run->now(); at != 0; at = run->count(at, 1)) {
        timer.expires_after(std::chrono::nanoseconds(0));
        const std::error_code error = co_await timer.wait();
        verify(!error, "a timer was cancelled by nobody");
    }
}

io::task<> fire_at_intervals(lateness_run* run, std::chrono::nanoseconds interval) {
    io::steady_timer timer(co_await io::this_context());
    for (;;) {
        const auto due = std::chrono::steady_clock::now() + interval;
        timer.expires_at(due);
        const std::error_code error = co_await timer.wait();
        verify(!error, "a timer was cancelled by nobody");
        if (!run->fired(due)) co_return;
    }
}

measurement concurrent(const run_parameters& how, io::platform* kind, int timers) {
    io::context on{io::context_options(*kind)};
    lateness_run run(how.seconds);
    for (int i = 0; i < timers; ++i) io::spawn(on, fire_at_intervals(&run, interval_of(i, timers)));
    on.run();
    return run.result();
}

using task_of_run = io::task<> (*)(timed_run*);

measurement one_task(const run_parameters& how, io::platform* kind, task_of_run work) {
    io::context on{io::context_options(*kind)};
    timed_run run(how.seconds);
    io::block_on(on, work(&run));
    return rate_of(run);
}

}  // namespace

void implement_timers_corro(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        io::platform* const kind = by.kind;
        into.implement("timers", "schedule_cancel", by.subject,
                       [kind](const run_parameters& how) { return schedule_and_cancel(how, kind); });
        into.implement("timers", "schedule_cancel_waiter", by.subject,
                       [kind](const run_parameters& how) { return one_task(how, kind, &cancel_waiters); });
        into.implement("timers", "fire_zero_delay", by.subject,
                       [kind](const run_parameters& how) { return one_task(how, kind, &fire); });
        for (const int timers : concurrent_timer_counts) {
            into.implement("timers", fmt::format("{}_fires", concurrent_timers_row(timers)), by.subject,
                           [kind, timers](const run_parameters& how) { return concurrent(how, kind, timers); });
        }
    }
}

}  // namespace corro::lab
