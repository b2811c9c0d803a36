// SPDX-License-Identifier: Apache-2.0
#include "base/shared_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "base/random.hpp"

namespace corro::base {
namespace {

using counts = shared_histogram::counts;

TEST(shared_histogram, each_value_is_in_a_counter_that_is_hardly_wider) {
    std::size_t before = 0;
    for (std::uint64_t value = 0; value <= shared_histogram::value_max; value += 1 + value / 77) {
        const std::size_t index = shared_histogram::index_of(value);
        ASSERT_LT(index, shared_histogram::counters_count);
        ASSERT_GE(index, before);
        ASSERT_GE(shared_histogram::highest_of(index), value);
        ASSERT_LE(shared_histogram::highest_of(index) - value, value / 32);
        if (index > 0) {
            ASSERT_LT(shared_histogram::highest_of(index - 1), value);
        }
        before = index;
    }
    EXPECT_EQ(shared_histogram::index_of(shared_histogram::value_max), shared_histogram::counters_count - 1);
    EXPECT_EQ(shared_histogram::highest_of(shared_histogram::counters_count - 1), shared_histogram::value_max);
}

TEST(shared_histogram, shares_are_those_of_the_sorted_values) {
    prng random(5);
    const auto of = std::make_unique<shared_histogram>();
    std::vector<std::uint64_t> all;
    for (int k = 0; k < 10'000; ++k) {
        all.push_back(random.below(std::uint64_t{1} << random.below(30)));
        of->record(all.back());
    }
    std::ranges::sort(all);
    counts now{};
    of->copy_to(now);
    for (const double share : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
        const std::size_t rank = std::max<std::size_t>(1, static_cast<std::size_t>(share * 10'000 + 0.999));
        const std::uint64_t exact = all[rank - 1];
        EXPECT_GE(value_at_share(now, share), exact) << share;
        EXPECT_LE(value_at_share(now, share), exact + exact / 32) << share;
    }
    EXPECT_EQ(value_at_share(counts{}, 0.5), 0U);
}

TEST(shared_histogram, values_beyond_the_largest_are_counted_as_it) {
    const auto of = std::make_unique<shared_histogram>();
    of->record(UINT64_MAX);
    counts now{};
    of->copy_to(now);
    EXPECT_EQ(value_at_share(now, 1), shared_histogram::value_max);
}

TEST(shared_histogram, a_thread_reads_while_another_records) {
    const auto of = std::make_unique<shared_histogram>();
    constexpr std::uint64_t count = 200'000;
    std::thread recording([&of] {
        for (std::uint64_t k = 0; k < count; ++k) of->record(k % 1'000);
    });
    counts last{};
    std::uint64_t total = 0;
    while (total < count) {
        counts now{};
        of->copy_to(now);
        total = 0;
        for (std::size_t k = 0; k < now.size(); ++k) {
            ASSERT_GE(now[k], last[k]) << "counters only grow";
            total += now[k];
        }
        last = now;
    }
    recording.join();
    EXPECT_EQ(total, count);
}

}  // namespace
}  // namespace corro::base
