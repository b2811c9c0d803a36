// SPDX-License-Identifier: Apache-2.0
#include "lab/measurement.hpp"

#include <fmt/format.h>
#include <time.h>

#include <cmath>

namespace corro::lab {
namespace {

// Exact enough for runs of a second (30 ppm), and short, because every run is a new process.
constexpr std::uint64_t calibration_ns = 4'000'000;

double deviation_of(const base::latency_histogram& recorded) {
    if (recorded.empty()) return 0;
    double sum = 0;
    recorded.for_each([&](std::uint64_t lowest, std::uint64_t highest, std::uint64_t count) {
        const double from_mean = static_cast<double>(lowest + highest) / 2 - recorded.mean();
        sum += static_cast<double>(count) * from_mean * from_mean;
    });
    return std::sqrt(sum / static_cast<double>(recorded.count()));
}

}  // namespace

std::uint64_t thread_ns() noexcept {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

double thread_seconds() noexcept {
    return static_cast<double>(thread_ns()) / 1e9;
}

latency_summary summary_of(const base::latency_histogram& recorded) {
    latency_summary summary;
    summary.mean = recorded.mean();
    summary.deviation = deviation_of(recorded);
    summary.min = static_cast<double>(recorded.min());
    summary.p50 = static_cast<double>(recorded.value_at_percentile(50));
    summary.p90 = static_cast<double>(recorded.value_at_percentile(90));
    summary.p95 = static_cast<double>(recorded.value_at_percentile(95));
    summary.p99 = static_cast<double>(recorded.value_at_percentile(99));
    summary.p999 = static_cast<double>(recorded.value_at_percentile(99.9));
    summary.p9999 = static_cast<double>(recorded.value_at_percentile(99.99));
    summary.max = static_cast<double>(recorded.max());
    return summary;
}

void verify(bool good, std::string_view what) {
    if (!good) throw wrong_result(std::string(what));
}

void verify_equal(std::uint64_t found, std::uint64_t expected, std::string_view what) {
    if (found != expected) throw wrong_result(fmt::format("{}: {} instead of {}", what, found, expected));
}

const io::tick_clock& clock() {
    static const io::tick_clock one(io::clock_source::tsc, calibration_ns);
    return one;
}

timed_run::timed_run(double seconds) {
    const double per_second = clock_->calibration().ticks_per_second;
    const std::uint64_t begin = clock_->now_ticks();
    measured_from_ = begin + static_cast<std::uint64_t>(seconds * warm_up_part * per_second);
    ends_ = measured_from_ + static_cast<std::uint64_t>(seconds * per_second);
}

void timed_run::merge(const timed_run& other) noexcept {
    amount_ += other.amount_;
    if (other.last_ > last_) last_ = other.last_;
    latencies_.merge(other.latencies_);
}

double timed_run::rate() const {
    verify(amount_ != 0, "nothing ended within the measured time");
    return static_cast<double>(amount_) * 1e9 / static_cast<double>(clock_->between_ns(measured_from_, last_));
}

measurement rate_with_latencies(const timed_run& run) {
    measurement result = rate_of(run);
    result.latency_ns = summary_of(run.latencies());
    return result;
}

measurement rate_of(const timed_run& run) {
    measurement result;
    result.values.push_back(run.rate());
    return result;
}

}  // namespace corro::lab
