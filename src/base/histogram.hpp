// SPDX-License-Identifier: Apache-2.0
// A histogram of latencies with three significant digits at every magnitude, in fixed memory.
//
// Values up to 2,047 have a counter each; above, every power of two is divided into 1,024 counters of equal width, so
// that a counter is never wider than 1/1024 of its values (0.098%).
//
// Units:   whatever is recorded; nanoseconds by convention.
// Limits:  0 to value_max (137 s in nanoseconds). Larger values are counted as value_max and reported by `saturated`.
// Threads: one; give each thread its own and `merge`.
// Cost:    229 KB, reserved at construction; a page of it (512 counters) is occupied from its first use on, which costs
//          one page fault. `record` is O(1) without a branch, about 2 ns; everything else walks the counters between
//          the least and the largest recorded value.
// Source:  the bucket layout is that of HdrHistogram (Gil Tene).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/int128.hpp"
#include "base/large_array.hpp"

namespace corro::base {

class latency_histogram {
 public:
    /// The largest value that is distinguished from larger ones, which are saturated.
    static constexpr std::uint64_t value_max = (std::uint64_t{1} << 37) - 1;

    latency_histogram();

    void record(std::uint64_t value) noexcept { record(value, 1); }

    /// Records `value` `times` times.
    void record(std::uint64_t value, std::uint64_t times) noexcept {
        saturated_ += value > value_max ? times : 0;
        const std::uint64_t kept = std::min(value, value_max);
        counts_[index_of(kept)] += times;
        count_ += times;
        sum_ += static_cast<uint128>(kept) * times;
        min_ = std::min(min_, kept | (times == 0 ? ~std::uint64_t{0} : 0));
        max_ = std::max(max_, times == 0 ? 0 : kept);
    }

    /// Adds all values of `other`.
    void merge(const latency_histogram& other) noexcept;

    /// Resets all counters; keeps the memory.
    void reset() noexcept;

    /// Values recorded, saturated ones included.
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
    /// Values recorded that were larger than `value_max`.
    [[nodiscard]] std::uint64_t saturated() const noexcept { return saturated_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }

    /// Exact, but for saturated values; 0 when empty.
    [[nodiscard]] std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
    [[nodiscard]] double mean() const noexcept;

    /// A value that `percentile` percent of all recorded values do not exceed: the highest value of the counter that
    /// holds the one at rank ceil(percentile / 100 x count), but at least rank 1 and never above `max()`. So it is at
    /// most 0.1% above the exact one and never below it. 0 when empty.
    /// @param percentile  0 to 100, taken to four decimals (99.9999 is one in a million); others are clamped.
    [[nodiscard]] std::uint64_t value_at_percentile(double percentile) const noexcept;
    [[nodiscard]] std::uint64_t median() const noexcept { return value_at_percentile(50); }

    /// The number of recorded values in the counters up to and including the one of `value`.
    [[nodiscard]] std::uint64_t count_at_or_below(std::uint64_t value) const noexcept;

    /// Calls `use(lowest, highest, count)` for each counter that is not 0, in ascending order.
    template <class Use>
    void for_each(Use&& use) const {
        for (std::size_t i = first(); i < end(); ++i) {
            if (counts_[i] != 0) use(lowest_of(i), highest_of(i), counts_[i]);
        }
    }

 private:
    // 2^digit_bits counters up to the first doubling, half as many for each further one.
    static constexpr unsigned digit_bits = 11;
    static constexpr std::uint64_t half = std::uint64_t{1} << (digit_bits - 1);

    /// The number of low bits of a value that its counter ignores.
    [[nodiscard]] static constexpr unsigned shift_of(std::uint64_t value) noexcept {
        return static_cast<unsigned>(std::bit_width(value | (2 * half - 1))) - digit_bits;
    }
    [[nodiscard]] static constexpr std::size_t index_of(std::uint64_t value) noexcept {
        const unsigned shift = shift_of(value);
        return static_cast<std::size_t>(shift * half + (value >> shift));
    }
    [[nodiscard]] static constexpr unsigned shift_at(std::size_t index) noexcept {
        return index < 2 * half ? 0 : static_cast<unsigned>(index / half - 1);
    }
    [[nodiscard]] static constexpr std::uint64_t lowest_of(std::size_t index) noexcept {
        return (index - shift_at(index) * half) << shift_at(index);
    }
    [[nodiscard]] static constexpr std::uint64_t highest_of(std::size_t index) noexcept {
        return lowest_of(index) + ((std::uint64_t{1} << shift_at(index)) - 1);
    }
    static_assert(half > 1000, "three significant digits");

    // The counters outside are 0, and their pages need not be looked at.
    [[nodiscard]] std::size_t first() const noexcept { return count_ == 0 ? 0 : index_of(min_); }
    [[nodiscard]] std::size_t end() const noexcept { return count_ == 0 ? 0 : index_of(max_) + 1; }

    large_array<std::uint64_t> counts_;
    std::uint64_t count_ = 0;
    std::uint64_t saturated_ = 0;
    std::uint64_t min_ = ~std::uint64_t{0};
    std::uint64_t max_ = 0;
    uint128 sum_ = 0;
};

}  // namespace corro::base
