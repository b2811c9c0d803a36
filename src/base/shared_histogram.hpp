// SPDX-License-Identifier: Apache-2.0
// A histogram of latencies that one thread records while others read it.
//
// Values up to 63 have a counter each; above, every power of two is divided into 32 counters of equal width, so that a
// counter is never wider than 1/32 of its values (3.2%). Counters only grow: the difference between two copies is what
// was recorded between them.
//
// Units:   whatever is recorded; nanoseconds by convention.
// Limits:  0 to value_max (137 s in nanoseconds). Larger values are counted as value_max.
// Threads: one records, any may copy. A copy may contain a value that was recorded after one that it does not contain.
// Cost:    8.4 KB in place; `record` is a load and a store without a lock; a copy reads all counters.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

namespace corro::base {

class shared_histogram {
    static constexpr unsigned digit_bits = 6;
    static constexpr unsigned value_bits = 37;
    static constexpr std::uint64_t half = std::uint64_t{1} << (digit_bits - 1);

 public:
    static constexpr std::uint64_t value_max = (std::uint64_t{1} << value_bits) - 1;
    static constexpr std::size_t counters_count = (value_bits - digit_bits + 2) * half;
    using counts = std::array<std::uint64_t, counters_count>;

    void record(std::uint64_t value) noexcept {
        // One thread writes, so nothing is lost between the two.
        std::atomic<std::uint64_t>& counter = counters_[index_of(std::min(value, value_max))];
        counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
    void copy_to(counts& into) const noexcept {
        for (std::size_t k = 0; k < counters_count; ++k) into[k] = counters_[k].load(std::memory_order_relaxed);
    }

    /// The highest value of a counter.
    [[nodiscard]] static constexpr std::uint64_t highest_of(std::size_t index) noexcept {
        const unsigned shift = index < 2 * half ? 0 : static_cast<unsigned>(index / half - 1);
        return ((index - shift * half) << shift) + ((std::uint64_t{1} << shift) - 1);
    }
    [[nodiscard]] static constexpr std::size_t index_of(std::uint64_t value) noexcept {
        const unsigned shift = static_cast<unsigned>(std::bit_width(value | (2 * half - 1))) - digit_bits;
        return static_cast<std::size_t>(shift * half + (value >> shift));
    }

 private:
    std::array<std::atomic<std::uint64_t>, counters_count> counters_{};
};

/// A value that a share of all counted values does not exceed, at most 3.2% above the exact one; 0 when nothing is
/// counted. @param share  0 to 1.
[[nodiscard]] inline std::uint64_t value_at_share(const shared_histogram::counts& of, double share) noexcept {
    const std::uint64_t total = std::accumulate(of.begin(), of.end(), std::uint64_t{0});
    if (total == 0) return 0;
    const double exact = std::clamp(share, 0.0, 1.0) * static_cast<double>(total);
    std::uint64_t left = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(exact + 0.999'999), 1, total);
    for (std::size_t k = 0; k < of.size(); ++k) {
        if (of[k] >= left) return shared_histogram::highest_of(k);
        left -= of[k];
    }
    return shared_histogram::value_max;
}

}  // namespace corro::base
