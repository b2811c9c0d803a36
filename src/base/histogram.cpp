// SPDX-License-Identifier: Apache-2.0
#include "base/histogram.hpp"

#include <cmath>

namespace corro::base {

latency_histogram::latency_histogram() : counts_(index_of(value_max) + 1, page_touch::no) {
    static_assert(value_max >= 100'000'000'000, "a hundred seconds in nanoseconds");
    static_assert(lowest_of(index_of(value_max)) <= value_max && highest_of(index_of(value_max)) == value_max);
    static_assert(index_of(2047) == 2047 && index_of(2048) == 2048 && lowest_of(2048) == 2048 &&
                  highest_of(2048) == 2049);
}

void latency_histogram::merge(const latency_histogram& other) noexcept {
    for (std::size_t i = other.first(); i < other.end(); ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    saturated_ += other.saturated_;
    min_ = std::min(min_, other.min_);
    max_ = std::max(max_, other.max_);
    sum_ += other.sum_;
}

void latency_histogram::reset() noexcept {
    for (std::size_t i = first(); i < end(); ++i) counts_[i] = 0;
    count_ = 0;
    saturated_ = 0;
    min_ = ~std::uint64_t{0};
    max_ = 0;
    sum_ = 0;
}

double latency_histogram::mean() const noexcept {
    return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

std::uint64_t latency_histogram::value_at_percentile(double percentile) const noexcept {
    if (count_ == 0) return 0;
    // Computed in integers: in floating point 99.99 / 100 x 10,000 is a little more than 9,999, and its ceiling is
    // wrong. The comparison makes a NaN 0.
    constexpr std::uint64_t whole = 1'000'000;
    const double clamped = percentile > 0 ? std::min(percentile, 100.0) : 0.0;
    const auto parts = static_cast<std::uint64_t>(std::llround(clamped * 10'000));
    const auto rank = static_cast<std::uint64_t>((static_cast<uint128>(count_) * parts + whole - 1) / whole);
    const std::uint64_t wanted = std::max<std::uint64_t>(rank, 1);
    std::uint64_t seen = 0;
    for (std::size_t i = first(); i < end(); ++i) {
        seen += counts_[i];
        if (seen >= wanted) return std::min(highest_of(i), max_);
    }
    return max_;
}

std::uint64_t latency_histogram::count_at_or_below(std::uint64_t value) const noexcept {
    const std::size_t behind = std::min(index_of(std::min(value, value_max)) + 1, end());
    std::uint64_t seen = 0;
    for (std::size_t i = first(); i < behind; ++i) seen += counts_[i];
    return seen;
}

}  // namespace corro::base
