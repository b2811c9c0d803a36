// SPDX-License-Identifier: Apache-2.0
#include "market/number.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::market {
namespace {

/// Distance in units of the last place of the exact value.
double distance_of(double found, long double exact) {
    const double nearest = static_cast<double>(exact);
    const double unit = std::nextafter(std::fabs(nearest), INFINITY) - std::fabs(nearest);
    return static_cast<double>(std::fabs(static_cast<long double>(found) - exact) / static_cast<long double>(unit));
}

TEST(number, logarithm_is_exact_to_four_units_in_the_last_place) {
    base::prng random{base::test_seed()};
    for (int i = 0; i < 200'000; ++i) {
        const double x = i % 2 == 0 ? random.unit() * 2 + 1e-9
                                    : std::ldexp(1 + random.unit(), static_cast<int>(random.between(-1'000, 1'000)));
        if (std::fabs(x - 1) < 1e-3) continue;  // there the result is near 0, and is compared below
        ASSERT_LT(distance_of(log_of(x), std::log(static_cast<long double>(x))), 4) << x;
    }
    EXPECT_EQ(log_of(1), 0);
    const double near_one = 1 + 1e-10;
    EXPECT_NEAR(log_of(near_one), std::log1p(near_one - 1), 1e-25);
    EXPECT_NEAR(log_of(5e-324), -744.4400719213812, 1e-9);
}

TEST(number, exponential_is_exact_to_four_units_in_the_last_place) {
    base::prng random{base::test_seed()};
    for (int i = 0; i < 200'000; ++i) {
        const double x = i % 2 == 0 ? random.unit() * 2 - 1 : (random.unit() * 2 - 1) * 690;
        ASSERT_LT(distance_of(exp_of(x), std::exp(static_cast<long double>(x))), 4) << x;
    }
    EXPECT_EQ(exp_of(0), 1);
    EXPECT_EQ(exp_of(-1'000), 0);
    EXPECT_GT(exp_of(1'000), 1e300);
}

TEST(number, normal_quantile_inverts_the_distribution_function) {
    for (const double x : {-5.5, -3.0, -1.0, -0.5, 0.0, 0.2, 1.0, 2.5, 4.0, 5.5}) {
        EXPECT_NEAR(normal_probability(x), 0.5 * std::erfc(-x / std::sqrt(2.0)), 1e-15) << x;
        const double p = 0.5 * std::erfc(-x / std::sqrt(2.0));
        EXPECT_NEAR(normal_quantile(p), x, 1e-9) << x;
    }
    EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-14);
}

TEST(number, rounds_halves_away_from_zero) {
    EXPECT_EQ(rounded(2.5), 3);
    EXPECT_EQ(rounded(-2.5), -3);
    EXPECT_EQ(rounded(2.4), 2);
    EXPECT_EQ(rounded(1e300), 1LL << 62);
    EXPECT_EQ(rounded(-1e300), -(1LL << 62));
}

TEST(number, has_the_same_bits_with_every_compiler) {
    // A hash over many results, fixed here: another compiler, optimisation or processor must give it too.
    std::uint64_t sum = 0;
    base::prng random{20'260'105};
    for (int i = 0; i < 100'000; ++i) {
        const double u = random.unit() * 0.999 + 0.0005;
        for (const double x : {log_of(u), exp_of(10 * u - 5), normal_quantile(u), normal_probability(8 * u - 4)}) {
            sum = std::rotl(sum, 5) ^ (std::bit_cast<std::uint64_t>(x) * 0x9E37'79B9'7F4A'7C15);
        }
    }
    EXPECT_EQ(sum, 0x3108a0bb995e01fULL) << std::hex << sum;
}

}  // namespace
}  // namespace corro::market
