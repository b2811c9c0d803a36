// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "base/test_seed.hpp"

namespace corro::base {
namespace {

// The reference generator's first outputs for seed 1234567, as printed with the algorithm on rosettacode.org.
TEST(splitmix64, gives_the_published_numbers) {
    splitmix64 generator{1'234'567};
    constexpr std::array<std::uint64_t, 5> published{6'457'827'717'110'365'317U, 3'203'168'211'198'807'973U,
                                                     9'817'491'932'198'370'423U, 4'593'380'528'125'082'431U,
                                                     16'408'922'859'458'223'821U};
    for (const std::uint64_t number : published) EXPECT_EQ(generator(), number);
}

// The vectors that the Rust crate rand_xoshiro took from the authors' C program, for the state {1, 2, 3, 4}.
TEST(prng, gives_the_published_numbers_of_xoshiro256_plus_plus) {
    prng generator{prng::state_type{1, 2, 3, 4}};
    constexpr std::array<std::uint64_t, 10> published{
        41'943'041U,
        58'720'359U,
        3'588'806'011'781'223U,
        3'591'011'842'654'386U,
        9'228'616'714'210'784'205U,
        9'973'669'472'204'895'162U,
        14'011'001'112'246'962'877U,
        12'406'186'145'184'390'807U,
        15'849'039'046'786'891'736U,
        10'450'023'813'501'588'000U,
    };
    for (const std::uint64_t number : published) EXPECT_EQ(generator(), number);
}

TEST(prng, the_same_seed_gives_the_same_numbers_at_compile_time_too) {
    constexpr auto three = [] {
        prng generator{42};
        return std::array{generator(), generator.below(1000), generator()};
    }();
    prng generator{42};
    EXPECT_EQ(three[0], generator());
    EXPECT_EQ(three[1], generator.below(1000));
    EXPECT_EQ(three[2], generator());
    EXPECT_NE(prng{42}(), prng{43}());
}

TEST(prng, bounded_numbers_stay_in_bounds_and_reach_both_ends) {
    prng random{test_seed()};
    bool low = false;
    bool high = false;
    for (int i = 0; i < 10'000; ++i) {
        const std::int64_t value = random.between(-3, 3);
        ASSERT_GE(value, -3);
        ASSERT_LE(value, 3);
        low |= value == -3;
        high |= value == 3;
        ASSERT_EQ(random.below(1), 0U);
        ASSERT_LT(random.below(~std::uint64_t{0}), ~std::uint64_t{0});
        const double unit = random.unit();
        ASSERT_GE(unit, 0.0);
        ASSERT_LT(unit, 1.0);
    }
    EXPECT_TRUE(low && high);
    constexpr auto smallest = std::numeric_limits<std::int64_t>::min();
    constexpr auto largest = std::numeric_limits<std::int64_t>::max();
    EXPECT_EQ(random.between(smallest, smallest), smallest);
    EXPECT_NE(random.between(smallest, largest), random.between(smallest, largest));
}

TEST(prng, bounded_numbers_have_no_bias_where_a_remainder_would_have_a_large_one) {
    // With three quarters of 2^64 as bound a remainder would give the lower third twice as often: 50% instead of 33%.
    prng random{test_seed()};
    constexpr std::uint64_t bound = std::uint64_t{3} << 62;
    constexpr double draws_count = 300'000;
    std::array<int, 3> thirds{};
    for (int i = 0; i < draws_count; ++i) ++thirds[static_cast<std::size_t>(random.below(bound) >> 62)];
    // Standard deviation of each is sqrt(n x 1/3 x 2/3) = 258; six of them.
    for (const int third : thirds) EXPECT_NEAR(third, draws_count / 3, 1'550);
}

TEST(prng, passes_a_chi_squared_test_and_sets_every_bit_half_of_the_time) {
    prng random{test_seed()};
    constexpr double draws_count = 1'000'000;
    std::array<int, 100> cells{};
    std::array<int, 64> ones{};
    for (int i = 0; i < draws_count; ++i) {
        ++cells[static_cast<std::size_t>(random.below(100))];
        const std::uint64_t bits = random();
        for (std::size_t b = 0; b < 64; ++b) ones[b] += static_cast<int>((bits >> b) & 1);
    }
    double chi_squared = 0;
    for (const int cell : cells) chi_squared += std::pow(cell - draws_count / 100, 2) / (draws_count / 100);
    // 99 degrees of freedom: mean 99, standard deviation 14; outside six of them only once in a billion seeds.
    EXPECT_GT(chi_squared, 30);
    EXPECT_LT(chi_squared, 190);
    for (const int count : ones) EXPECT_NEAR(count, draws_count / 2, 6 * 500);
}

TEST(prng, shuffles_into_every_order_equally_often) {
    prng random{test_seed()};
    std::array<int, 6> seen{};
    constexpr double rounds_count = 60'000;
    for (int i = 0; i < rounds_count; ++i) {
        std::array<int, 3> cards{0, 1, 2};
        random.shuffle(std::span<int>{cards});
        const int order = cards[0] * 2 + (cards[1] > cards[2] ? 1 : 0);
        ++seen[static_cast<std::size_t>(order)];
    }
    for (const int count : seen) EXPECT_NEAR(count, rounds_count / 6, 6 * 92);
}

TEST(prng, a_forked_generator_goes_its_own_way) {
    prng parent{7};
    prng same_parent{7};
    prng child = parent.fork();
    static_cast<void>(same_parent.fork());
    for (int i = 0; i < 100; ++i) static_cast<void>(child());
    EXPECT_EQ(parent(), same_parent()) << "a child's draws do not change its parent";
}

TEST(prng_death, refuses_an_empty_range_and_the_zero_state) {
    prng random{1};
    EXPECT_DEATH(static_cast<void>(random.below(0)), "no number below zero");
    EXPECT_DEATH(static_cast<void>(random.between(1, 0)), "assertion failed");
    EXPECT_DEATH(prng{prng::state_type{}}, "all-zero state");
}

}  // namespace
}  // namespace corro::base
