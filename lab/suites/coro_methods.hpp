// SPDX-License-Identifier: Apache-2.0
// The two methods of timing an operation in the `coro` rows: amortised over batches, and singly.
//
// The single method is that of the source: one pair of readings of the time stamp counter per operation. It includes
// the readings themselves, about 20 ns, and shows the distribution. The amortised method shows the cost.
//
// Threads: one.
#pragma once

#include <cstdint>

#include "lab/measurement.hpp"

namespace corro::lab {

/// Operations per batch of the amortised method: some ten microseconds, so that most batches see no interrupt.
inline constexpr std::uint64_t coro_batch = 1000;

/// Surrounds each operation of the amortised method and does nothing.
class untimed {
 public:
    void begin() noexcept {}
    void end() noexcept {}
};

/// Surrounds and times each operation of the single method.
class timed {
 public:
    explicit timed(base::latency_histogram* into) noexcept : into_(into) {}
    void begin() noexcept { before_ = time_->now_ticks(); }
    void end() noexcept { into_->record(time_->between_ns(before_, time_->now_ticks())); }

 private:
    const io::tick_clock* time_ = &clock();
    base::latency_histogram* into_;
    std::uint64_t before_ = 0;
};

/// Half of the time goes to each method.
///
/// @param run  Called with a count of operations and an `untimed` or a `timed`; runs the operations one after the
/// other,
///             each between `begin()` and `end()`, and returns the sum of their results. Operation i's result is i, so
///             the sum is known.
template <class Run>
measurement both_methods(const run_parameters& how, Run&& run) {
    const auto checked = [&](std::uint64_t count, auto timer) {
        const auto n = static_cast<std::int64_t>(count);
        verify(run(count, timer) == n * (n - 1) / 2, "the operations did not give their results");
    };
    measurement made;
    made.values.push_back(
        fastest_batch_ns(how.seconds / 2, coro_batch, [&](std::uint64_t count) { checked(count, untimed()); }));
    base::latency_histogram latencies;
    base::latency_histogram discarded;
    const timed_run times(how.seconds / 2);
    for (std::uint64_t at = times.now(); !times.over(at) || latencies.empty(); at = times.now()) {
        const bool counts = times.measuring(at) || times.over(at);
        checked(coro_batch, timed(counts ? &latencies : &discarded));
    }
    made.latency_ns = summary_of(latencies);
    made.latency_row = 1;
    made.values.push_back(made.latency_ns->p50);
    return made;
}

/// The same for an operation of plain code. @param operation  Called with i, returns i.
template <class Operation>
measurement both_methods_of(const run_parameters& how, Operation&& operation) {
    return both_methods(how, [&](std::uint64_t count, auto timer) {
        std::int64_t sum = 0;
        for (std::uint64_t i = 0; i < count; ++i) {
            timer.begin();
            sum += operation(static_cast<std::int64_t>(i));
            timer.end();
        }
        return sum;
    });
}

}  // namespace corro::lab
