// SPDX-License-Identifier: Apache-2.0
#include "lab/statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace corro::lab {
namespace {

TEST(statistics, median_of_an_odd_number_is_the_middle_sample) {
    EXPECT_EQ(median_of({5, 1, 3}), 3);
    EXPECT_EQ(median_of({7}), 7);
}

TEST(statistics, median_of_an_even_number_lies_between_the_two_middle_samples) {
    EXPECT_EQ(median_of({4, 1, 2, 9}), 3);
}

TEST(statistics, one_wild_sample_does_not_move_the_median_but_shows_in_the_spread) {
    const std::vector<double> samples{10, 11, 12, 13, 1'000'000};
    const spread found = spread_of(samples);
    EXPECT_EQ(found, (spread{12, 10, 1'000'000}));
}

TEST(statistics, twice_as_fast_and_half_as_fast_cancel_out) {
    EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 0.5}), 1);
    EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{1, 8, 27}), 6);
}

TEST(statistics_death, nothing_has_no_median_and_zero_has_no_place_in_a_geometric_mean) {
    EXPECT_DEATH((void)median_of({}), "nothing has no middle");
    EXPECT_DEATH((void)geometric_mean(std::vector<double>{1, 0}), "positive");
}

}  // namespace
}  // namespace corro::lab
