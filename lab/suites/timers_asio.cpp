// SPDX-License-Identifier: Apache-2.0
// Suite `timers`, by Asio with callbacks and with coroutines.

#include <deque>

#include "lab/suites/asio.hpp"
#include "lab/suites/timer_shapes.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

measurement schedule_and_cancel(const run_parameters& how) {
    net::io_context on(alone);
    timed_run run(how.seconds);
    for (std::uint64_t at = run.now(); at != 0; at = run.count(at, timer_batch)) {
        for (int i = 0; i < timer_batch; ++i) {
            timer one(on.get_executor());
            one.expires_after(timer_far_away);
            verify(one.cancel() == 0, "somebody waited");
        }
        on.poll();
        on.restart();
    }
    return rate_of(run);
}

template <class Wait>
measurement cancel_waiters(const run_parameters& how, Wait&& wait) {
    net::io_context on(alone);
    timed_run run(how.seconds);
    for (std::uint64_t at = run.now(); at != 0; at = run.count(at, timer_batch)) {
        int cancelled = 0;
        std::deque<timer> timers;
        for (int i = 0; i < timer_batch; ++i) wait(timers.emplace_back(on.get_executor()), cancelled);
        on.poll();
        on.restart();
        for (timer& one : timers) one.cancel();
        on.poll();
        on.restart();
        verify(cancelled == timer_batch, "a waiter was not told");
    }
    return rate_of(run);
}

awaitable<> wait_in_vain(timer& one, int& cancelled) {
    one.expires_after(timer_far_away);
    const auto [error] = co_await one.async_wait(as_results);
    if (error == net::error::operation_aborted) ++cancelled;
}

measurement cancel_callbacks(const run_parameters& how) {
    return cancel_waiters(how, [](timer& one, int& cancelled) {
        one.expires_after(timer_far_away);
        one.async_wait([&cancelled](const error_code& error) {
            if (error == net::error::operation_aborted) ++cancelled;
        });
    });
}

measurement cancel_coroutines(const run_parameters& how) {
    return cancel_waiters(how, [](timer& one, int& cancelled) {
        net::co_spawn(one.get_executor(), wait_in_vain(one, cancelled), rethrow);
    });
}

class firing {
 public:
    firing(net::io_context& on, timed_run& run) : timer_(on.get_executor()), run_(run), at_(run.now()) {}

    void start() {
        timer_.expires_after(std::chrono::nanoseconds(0));
        timer_.async_wait([this](const error_code& error) {
            verify_ok(error, "waiting");
            at_ = run_.count(at_, 1);
            if (at_ != 0) start();
        });
    }

 private:
    timer timer_;
    timed_run& run_;
    std::uint64_t at_;
};

measurement fire_callbacks(const run_parameters& how) {
    net::io_context on(alone);
    timed_run run(how.seconds);
    firing one(on, run);
    one.start();
    on.run();
    return rate_of(run);
}

awaitable<> fire(timer one, timed_run& run) {
    for (std::uint64_t at = run.now(); at != 0; at = run.count(at, 1)) {
        one.expires_after(std::chrono::nanoseconds(0));
        const auto [error] = co_await one.async_wait(as_results);
        verify_ok(error, "waiting");
    }
}

measurement fire_coroutines(const run_parameters& how) {
    net::io_context on(alone);
    timed_run run(how.seconds);
    net::co_spawn(on.get_executor(), fire(timer(on.get_executor()), run), rethrow);
    on.run();
    return rate_of(run);
}

class interval_timer {
 public:
    interval_timer(net::io_context& on, lateness_run& run, std::chrono::nanoseconds interval)
        : timer_(on.get_executor()), run_(run), interval_(interval) {}

    void start() {
        due_ = std::chrono::steady_clock::now() + interval_;
        timer_.expires_at(due_);
        timer_.async_wait([this](const error_code& error) {
            verify_ok(error, "waiting");
            if (run_.fired(due_)) start();
        });
    }

 private:
    timer timer_;
    lateness_run& run_;
    std::chrono::nanoseconds interval_;
    std::chrono::steady_clock::time_point due_;
};

measurement concurrent_callbacks(const run_parameters& how, int timers) {
    net::io_context on(alone);
    lateness_run run(how.seconds);
    std::deque<interval_timer> all;
    for (int i = 0; i < timers; ++i) all.emplace_back(on, run, interval_of(i, timers)).start();
    on.run();
    return run.result();
}

awaitable<> fire_at_intervals(timer one, lateness_run& run, std::chrono::nanoseconds interval) {
    for (;;) {
        const auto due = std::chrono::steady_clock::now() + interval;
        one.expires_at(due);
        const auto [error] = co_await one.async_wait(as_results);
        verify_ok(error, "waiting");
        if (!run.fired(due)) co_return;
    }
}

measurement concurrent_coroutines(const run_parameters& how, int timers) {
    net::io_context on(alone);
    lateness_run run(how.seconds);
    for (int i = 0; i < timers; ++i) {
        net::co_spawn(on.get_executor(), fire_at_intervals(timer(on.get_executor()), run, interval_of(i, timers)),
                      rethrow);
    }
    on.run();
    return run.result();
}

}  // namespace

void implement_timers(registry& into) {
    // Nothing waits for the timers, so there is nothing to await: one subject for both styles.
    into.implement("timers", "schedule_cancel", subject("callbacks"), &schedule_and_cancel);
    into.implement("timers", "schedule_cancel_waiter", subject("callbacks"), &cancel_callbacks);
    into.implement("timers", "schedule_cancel_waiter", subject("coroutines"), &cancel_coroutines);
    into.implement("timers", "fire_zero_delay", subject("callbacks"), &fire_callbacks);
    into.implement("timers", "fire_zero_delay", subject("coroutines"), &fire_coroutines);
    for (const int timers : concurrent_timer_counts) {
        const std::string row = fmt::format("{}_fires", concurrent_timers_row(timers));
        into.implement("timers", row, subject("callbacks"),
                       [timers](const run_parameters& how) { return concurrent_callbacks(how, timers); });
        into.implement("timers", row, subject("coroutines"),
                       [timers](const run_parameters& how) { return concurrent_coroutines(how, timers); });
    }
}

}  // namespace corro::lab::CORRO_LAB_ASIO
