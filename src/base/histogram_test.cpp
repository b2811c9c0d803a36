// SPDX-License-Identifier: Apache-2.0
#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace corro::base {
namespace {

TEST(latency_histogram, an_empty_one_answers_zero) {
    const latency_histogram h;
    EXPECT_TRUE(h.empty());
    EXPECT_EQ(h.count(), 0U);
    EXPECT_EQ(h.min(), 0U);
    EXPECT_EQ(h.max(), 0U);
    EXPECT_EQ(h.mean(), 0.0);
    EXPECT_EQ(h.value_at_percentile(50), 0U);
    EXPECT_EQ(h.value_at_percentile(100), 0U);
}

TEST(latency_histogram, small_values_are_exact) {
    latency_histogram h;
    for (std::uint64_t v = 1; v <= 1000; ++v) h.record(v);
    EXPECT_EQ(h.count(), 1000U);
    EXPECT_EQ(h.min(), 1U);
    EXPECT_EQ(h.max(), 1000U);
    EXPECT_EQ(h.mean(), 500.5);
    EXPECT_EQ(h.median(), 500U);
    EXPECT_EQ(h.value_at_percentile(0), 1U);
    EXPECT_EQ(h.value_at_percentile(0.1), 1U);
    EXPECT_EQ(h.value_at_percentile(99), 990U);
    EXPECT_EQ(h.value_at_percentile(99.9), 999U);
    EXPECT_EQ(h.value_at_percentile(99.91), 1000U);
    EXPECT_EQ(h.value_at_percentile(100), 1000U);
}

TEST(latency_histogram, the_rank_of_a_percentile_is_exact_in_large_counts) {
    latency_histogram h;
    h.record(10, 9'999);
    h.record(20);
    EXPECT_EQ(h.value_at_percentile(99.99), 10U) << "99.99% of 10,000 is rank 9,999, not 10,000";
    EXPECT_EQ(h.value_at_percentile(99.991), 20U);
}

TEST(latency_histogram, percentiles_outside_their_range_are_clamped) {
    latency_histogram h;
    h.record(7);
    h.record(9);
    EXPECT_EQ(h.value_at_percentile(-1), 7U);
    EXPECT_EQ(h.value_at_percentile(1000), 9U);
    EXPECT_EQ(h.value_at_percentile(std::numeric_limits<double>::quiet_NaN()), 7U);
    EXPECT_EQ(h.value_at_percentile(std::numeric_limits<double>::infinity()), 9U);
}

TEST(latency_histogram, zero_and_the_largest_value_have_their_place) {
    latency_histogram h;
    h.record(0);
    h.record(latency_histogram::value_max);
    EXPECT_EQ(h.saturated(), 0U);
    EXPECT_EQ(h.min(), 0U);
    EXPECT_EQ(h.max(), latency_histogram::value_max);
    EXPECT_EQ(h.median(), 0U);
    static_assert(latency_histogram::value_max >= 100'000'000'000U);
}

TEST(latency_histogram, larger_values_are_kept_at_the_limit_and_counted) {
    latency_histogram h;
    h.record(5);
    h.record(latency_histogram::value_max + 1);
    h.record(~std::uint64_t{0}, 3);
    EXPECT_EQ(h.count(), 5U);
    EXPECT_EQ(h.saturated(), 4U);
    EXPECT_EQ(h.max(), latency_histogram::value_max);
    EXPECT_EQ(h.value_at_percentile(99), latency_histogram::value_max);
}

TEST(latency_histogram, a_value_recorded_zero_times_leaves_no_trace) {
    latency_histogram h;
    h.record(500, 0);
    EXPECT_TRUE(h.empty());
    h.record(600);
    h.record(10, 0);
    h.record(10'000, 0);
    EXPECT_EQ(h.min(), 600U);
    EXPECT_EQ(h.max(), 600U);
}

TEST(latency_histogram, merging_equals_recording_everything_in_one) {
    latency_histogram a;
    latency_histogram b;
    latency_histogram both;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        const std::uint64_t value = i * i * 37;
        (i % 3 == 0 ? a : b).record(value);
        both.record(value);
    }
    b.record(~std::uint64_t{0});
    both.record(~std::uint64_t{0});
    a.merge(b);
    EXPECT_EQ(a.count(), both.count());
    EXPECT_EQ(a.saturated(), both.saturated());
    EXPECT_EQ(a.min(), both.min());
    EXPECT_EQ(a.max(), both.max());
    EXPECT_EQ(a.mean(), both.mean());
    for (double p = 0; p <= 100; p += 0.5) EXPECT_EQ(a.value_at_percentile(p), both.value_at_percentile(p));
    for (const std::uint64_t value :
         {std::uint64_t{0}, std::uint64_t{37}, std::uint64_t{40'000}, both.max(), ~std::uint64_t{0}}) {
        EXPECT_EQ(a.count_at_or_below(value), both.count_at_or_below(value)) << value;
    }
    a.merge(latency_histogram{});
    EXPECT_EQ(a.min(), both.min()) << "merging an empty one changes nothing";
}

TEST(latency_histogram, forgets_everything_on_reset) {
    latency_histogram h;
    h.record(123'456, 9);
    h.record(~std::uint64_t{0});
    h.reset();
    EXPECT_TRUE(h.empty());
    EXPECT_EQ(h.saturated(), 0U);
    EXPECT_EQ(h.max(), 0U);
    h.record(3);
    EXPECT_EQ(h.min(), 3U);
    EXPECT_EQ(h.mean(), 3.0);
    EXPECT_EQ(h.value_at_percentile(100), 3U);
}

TEST(latency_histogram, lists_its_counters_in_order_without_gaps_or_overlap) {
    latency_histogram h;
    for (std::uint64_t v = 0; v < 10'000; ++v) h.record(v);
    std::uint64_t next = 0;
    std::uint64_t counted = 0;
    h.for_each([&](std::uint64_t lowest, std::uint64_t highest, std::uint64_t count) {
        EXPECT_EQ(lowest, next);
        EXPECT_GE(highest, lowest);
        next = highest + 1;
        counted += count;
    });
    EXPECT_EQ(counted, 10'000U);
    EXPECT_EQ(h.count_at_or_below(1'999), 2'000U);
    EXPECT_EQ(h.count_at_or_below(~std::uint64_t{0}), 10'000U);
}

}  // namespace
}  // namespace corro::base
