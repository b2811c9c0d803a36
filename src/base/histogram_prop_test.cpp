// SPDX-License-Identifier: Apache-2.0
// Compares the histogram with a sorted vector of all recorded values.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/histogram.hpp"
#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::base {
namespace {

/// Values spread evenly over the magnitudes, over one narrow range, or as a body with a long tail.
std::uint64_t draw(prng& random, int shape) {
    switch (shape) {
        case 0: return random() >> (27 + random.below(37));
        case 1: return 1'000'000 + random.below(5'000);
        default: return random.chance(1, 100) ? random.below(100'000'000'000) : 800 + random.below(3'000);
    }
}

TEST(latency_histogram_property, every_percentile_is_within_a_thousandth_above_the_exact_one) {
    prng random{test_seed()};
    constexpr std::uint64_t parts[] = {0,       1,       1'000,   10'000,  50'000,  250'000,  500'000,
                                       750'000, 900'000, 990'000, 999'000, 999'900, 1'000'000};
    for (int round = 0; round < 60; ++round) {
        latency_histogram h;
        std::vector<std::uint64_t> values(static_cast<std::size_t>(1 + random.below(20'000)));
        for (std::uint64_t& value : values) {
            value = draw(random, round % 3);
            h.record(value);
        }
        std::sort(values.begin(), values.end());
        for (const std::uint64_t part : parts) {
            const std::uint64_t rank = std::max<std::uint64_t>(1, (values.size() * part + 999'999) / 1'000'000);
            const std::uint64_t exact = values[rank - 1];
            const std::uint64_t got = h.value_at_percentile(static_cast<double>(part) / 10'000);
            ASSERT_GE(got, exact) << "round " << round << ", " << part << " millionths of " << values.size();
            ASSERT_LE(static_cast<double>(got), static_cast<double>(exact) * 1.001)
                << "round " << round << ", " << part << " millionths of " << values.size();
        }
        long double sum = 0;
        for (const std::uint64_t value : values) sum += static_cast<long double>(value);
        const auto mean = static_cast<double>(sum / static_cast<long double>(values.size()));
        ASSERT_NEAR(h.mean(), mean, mean * 1e-12);
        ASSERT_EQ(h.min(), values.front());
        ASSERT_EQ(h.max(), values.back());
    }
}

TEST(latency_histogram_property, every_counter_is_narrower_than_a_thousandth_of_its_values) {
    prng random{test_seed()};
    for (int round = 0; round < 200; ++round) {
        latency_histogram h;
        for (int i = 0; i < 10; ++i) {
            const std::uint64_t value = random() >> (27 + random.below(37));
            h.reset();
            h.record(value);
            h.for_each([value](std::uint64_t lowest, std::uint64_t highest, std::uint64_t) {
                ASSERT_LE(lowest, value);
                ASSERT_GE(highest, value);
                ASSERT_LE(static_cast<double>(highest - lowest), static_cast<double>(lowest) * 0.001);
            });
        }
        if (HasFatalFailure()) return;
    }
}

}  // namespace
}  // namespace corro::base
