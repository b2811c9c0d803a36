// SPDX-License-Identifier: Apache-2.0
// The result of one run of a benchmark, and the clock of the run.
//
// Units:   latencies in nanoseconds; rates and times in the unit of their row.
// Threads: one per `timed_run`; give each thread its own and merge.
// Cost:    a lap is one reading of the clock and one histogram update, about 15 ns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "base/histogram.hpp"
#include "io/loop/tick_clock.hpp"

namespace corro::lab {

struct latency_summary {
    double mean = 0;
    double deviation = 0;  ///< the standard deviation
    double min = 0;
    double p50 = 0;
    double p90 = 0;
    double p95 = 0;
    double p99 = 0;
    double p999 = 0;
    double p9999 = 0;
    double max = 0;

    friend bool operator==(const latency_summary&, const latency_summary&) = default;
};

[[nodiscard]] latency_summary summary_of(const base::latency_histogram& recorded);

/// The result of one run: a value for each row of its benchmark, in their order.
struct measurement {
    std::vector<double> values;
    std::optional<latency_summary> latency_ns;
    std::size_t latency_row = 0;  ///< which row the latencies belong to
    /// A checksum of the work that must be equal for all subjects and runs; empty if there is none.
    std::string checksum{};
};

struct run_parameters {
    /// Duration of the measured part, without the warm-up.
    double seconds = 0.3;
};

/// The measured subject did not do its work. The lab reports this and drops the run.
class wrong_result : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// @throws wrong_result unless `good`.
void verify(bool good, std::string_view what);
/// @throws wrong_result, with both numbers, unless they are equal.
void verify_equal(std::uint64_t found, std::uint64_t expected, std::string_view what);

/// The process's calibrated clock.
[[nodiscard]] const io::tick_clock& clock();

/// Processor time of this thread: what other programs take in between is not counted.
[[nodiscard]] std::uint64_t thread_ns() noexcept;
[[nodiscard]] double thread_seconds() noexcept;

/// Prevents the optimiser from removing the computation of `value`.
template <class T>
inline void keep(T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

/// The time of one run: a warm-up, then the measured part.
class timed_run {
 public:
    /// The duration of the warm-up, as a part of the measured time.
    static constexpr double warm_up_part = 0.2;

    /// Starts now.
    explicit timed_run(double seconds);
    /// Shares the times of another run, for another thread or connection.
    timed_run(const timed_run& same, int) : measured_from_(same.measured_from_), ends_(same.ends_) {}

    [[nodiscard]] std::uint64_t now() const noexcept { return clock_->now_ticks(); }
    [[nodiscard]] bool over(std::uint64_t at) const noexcept { return at >= ends_; }
    /// Whether the run continues: its time is not over, or nothing was counted yet (on a busy machine).
    [[nodiscard]] bool goes_on(std::uint64_t at) const noexcept { return at < ends_ || amount_ == 0; }

    /// An operation that began at `begun` has ended. Only operations within the measured time count.
    /// @return  The time now, for the next operation's beginning; 0 when the run is over and something was counted.
    [[nodiscard]] std::uint64_t lap(std::uint64_t begun) noexcept { return lap(begun, 1); }
    /// The same for an operation that counts as `amount`, such as bytes or a batch.
    [[nodiscard]] std::uint64_t lap(std::uint64_t begun, std::uint64_t amount) noexcept {
        const std::uint64_t at = now();
        if (begun >= measured_from_) {
            latencies_.record(clock_->between_ns(begun, at));
            amount_ += amount;
            last_ = at;
        }
        return goes_on(at) ? at : 0;
    }
    /// As `lap`, without a record of the latency.
    [[nodiscard]] std::uint64_t count(std::uint64_t begun, std::uint64_t amount) noexcept {
        const std::uint64_t at = now();
        if (begun >= measured_from_) {
            amount_ += amount;
            last_ = at;
        }
        return goes_on(at) ? at : 0;
    }

    [[nodiscard]] bool measuring(std::uint64_t at) const noexcept { return at >= measured_from_ && at < ends_; }

    [[nodiscard]] std::uint64_t amount() const noexcept { return amount_; }
    [[nodiscard]] const base::latency_histogram& latencies() const noexcept { return latencies_; }
    [[nodiscard]] base::latency_histogram& latencies() noexcept { return latencies_; }

    /// Adds what another run of the same times has measured.
    void merge(const timed_run& other) noexcept;

    /// Amount per second of measured time. @throws wrong_result if nothing was measured.
    [[nodiscard]] double rate() const;

 private:
    const io::tick_clock* clock_ = &clock();
    std::uint64_t measured_from_;
    std::uint64_t ends_;
    std::uint64_t last_ = 0;
    std::uint64_t amount_ = 0;
    base::latency_histogram latencies_;
};

/// A rate with its latencies.
[[nodiscard]] measurement rate_with_latencies(const timed_run& run);
/// A rate alone.
[[nodiscard]] measurement rate_of(const timed_run& run);

/// Times `batch(operations_count)` again and again, for `seconds`.
/// @return  Nanoseconds per operation of the fastest batch, which is the one that nothing disturbed.
template <class Batch>
double fastest_batch_ns(double seconds, std::uint64_t operations_count, Batch&& batch) {
    const io::tick_clock& time = clock();
    const std::uint64_t begin = time.now_ticks();
    std::uint64_t least = ~std::uint64_t{0};
    batch(operations_count);
    do {
        const std::uint64_t before = time.now_ticks_ordered();
        batch(operations_count);
        const std::uint64_t after = time.now_ticks_ordered();
        if (after - before < least) least = after - before;
    } while (static_cast<double>(time.between_ns(begin, time.now_ticks())) < seconds * 1e9);
    return static_cast<double>(least) * 1e9 / time.calibration().ticks_per_second /
           static_cast<double>(operations_count);
}

}  // namespace corro::lab
