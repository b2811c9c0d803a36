// SPDX-License-Identifier: Apache-2.0
// Suite `dispatch`, by Corro.

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/context_group.hpp"
#include "io/task/resume_on.hpp"
#include "io/task/scope.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/dispatch_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

[[gnu::noinline]] io::task<> increment(std::uint64_t* counter) {
    ++*counter;
    co_return;
}
[[gnu::noinline]] io::task<> increment_own(padded_counter* counter) {
    counter->add_alone(1);
    co_return;
}

/// Releases the guard on the context's own thread.
io::task<> release(std::unique_ptr<io::work_guard>) {
    co_return;
}

measurement post(const run_parameters& how, io::platform* kind, int batch) {
    io::context on{io::context_options(*kind)};
    std::uint64_t counter = 0;
    return post_and_run(how, batch, counter, [&](int count) {
        for (int i = 0; i < count; ++i) io::spawn(on, increment(&counter));
        on.run();
    });
}

std::uint64_t total(const std::deque<padded_counter>& counters) {
    std::uint64_t sum = 0;
    for (const padded_counter& one : counters) sum += one.value.load();
    return sum;
}

/// Contexts and counters for a number of threads.
struct contexts {
    contexts(io::platform* kind, int count) {
        for (int i = 0; i < count; ++i) {
            each.emplace_back(io::context_options(*kind));
            counters.emplace_back();
        }
    }
    std::deque<io::context> each;
    std::deque<padded_counter> counters;
};

measurement runners(const run_parameters& how, io::platform* kind, int runners_count) {
    contexts all(kind, runners_count);
    // Idle contexts wait for more until the feeder is done.
    std::deque<std::unique_ptr<io::work_guard>> held;
    for (io::context& one : all.each) held.push_back(std::make_unique<io::work_guard>(one));
    const auto count = static_cast<std::size_t>(runners_count);
    const auto work = [&](int thread, const timed_run& run) -> std::uint64_t {
        if (thread != runners_count) {
            all.each[static_cast<std::size_t>(thread)].run();
            return 0;
        }
        const std::uint64_t fed = feed(run, [&](std::uint64_t number) {
            const std::size_t at = number % count;
            io::remote_spawn(all.each[at], increment_own(&all.counters[at]));
        });
        for (std::size_t i = 0; i < count; ++i) {
            io::remote_spawn(all.each[i], release(std::move(held[i])));
        }
        return fed;
    };
    return on_threads(how, runners_count + 1, work, [&] { return total(all.counters); });
}

measurement concurrent(const run_parameters& how, io::platform* kind, int threads_count) {
    contexts all(kind, threads_count);
    const auto work = [&](int thread, const timed_run& run) {
        io::context& on = all.each[static_cast<std::size_t>(thread)];
        padded_counter& counter = all.counters[static_cast<std::size_t>(thread)];
        std::uint64_t handed_over = 0;
        while (!run.over(run.now())) {
            for (int i = 0; i < concurrent_batch; ++i) io::spawn(on, increment_own(&counter));
            on.run();
            handed_over += concurrent_batch;
        }
        return handed_over;
    };
    return on_threads(how, threads_count, work, [&] { return total(all.counters); });
}

[[gnu::noinline]] io::task<> increment_shared(padded_counter* counter) {
    counter->value.fetch_add(1, std::memory_order_relaxed);
    co_return;
}

measurement runners_of_group(const run_parameters& how, io::platform* kind, int runners_count) {
    io::context_group group(static_cast<std::size_t>(runners_count), io::context_options(*kind));
    padded_counter counter;
    group.hold();
    const auto work = [&](int thread, const timed_run& run) -> std::uint64_t {
        if (thread != runners_count) {
            group.run();
            return 0;
        }
        const std::uint64_t fed = feed(run, [&](std::uint64_t) { group.spawn(increment_shared(&counter)); });
        group.release();
        return fed;
    };
    return on_threads(how, runners_count + 1, work, [&] { return counter.value.load(); });
}

measurement concurrent_on_group(const run_parameters& how, io::platform* kind, int threads_count) {
    io::context_group group(static_cast<std::size_t>(threads_count), io::context_options(*kind));
    padded_counter counter;
    const auto work = [&](int, const timed_run& run) {
        std::uint64_t handed_over = 0;
        while (!run.over(run.now())) {
            for (int i = 0; i < concurrent_batch; ++i) group.spawn(increment_shared(&counter));
            group.poll();
            handed_over += concurrent_batch;
        }
        return handed_over;
    };
    return on_threads(how, threads_count, work, [&] {
        // What the last to poll found in another thread's hands.
        group.run();
        return counter.value.load();
    });
}

}  // namespace

void implement_dispatch_corro(registry& into, std::span<const int> threads) {
    for (const corro_backend& by : corro_backends()) {
        io::platform* const kind = by.kind;
        into.implement("dispatch", "post_single_thread", by.subject,
                       [kind](const run_parameters& how) { return post(how, kind, post_batch); });
        into.implement("dispatch", "post_run_interleaved", by.subject,
                       [kind](const run_parameters& how) { return post(how, kind, interleaved_batch); });
        for (const int n : threads) {
            into.implement("dispatch", threads_row("runners", n, false), by.subject,
                           [kind, n](const run_parameters& how) { return runners(how, kind, n); });
            into.implement("dispatch", threads_row("concurrent", n, false), by.subject,
                           [kind, n](const run_parameters& how) { return concurrent(how, kind, n); });
            if (n == 1) continue;
            into.implement("dispatch", threads_row("runners", n, true), by.subject,
                           [kind, n](const run_parameters& how) { return runners_of_group(how, kind, n); });
            into.implement("dispatch", threads_row("concurrent", n, true), by.subject,
                           [kind, n](const run_parameters& how) { return concurrent_on_group(how, kind, n); });
        }
    }
}

}  // namespace corro::lab
