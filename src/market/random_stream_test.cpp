// SPDX-License-Identifier: Apache-2.0
#include "market/random_stream.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/test_seed.hpp"
#include "market/delay.hpp"

namespace corro::market {
namespace {

constexpr int draws = 400'000;

struct moments {
    double mean = 0;
    double variance = 0;
};
template <class Draw>
moments moments_of(Draw draw) {
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < draws; ++i) {
        const double x = draw();
        sum += x;
        squares += x * x;
    }
    const double mean = sum / draws;
    return {mean, squares / draws - mean * mean};
}

TEST(random_stream, has_the_moments_of_its_distributions) {
    random_stream random(base::test_seed(), "moments");
    const moments exponential = moments_of([&] { return random.exponential(3); });
    EXPECT_NEAR(exponential.mean, 3, 0.03);
    EXPECT_NEAR(exponential.variance, 9, 0.25);
    const moments normal = moments_of([&] { return random.normal(2, 5); });
    EXPECT_NEAR(normal.mean, 2, 0.05);
    EXPECT_NEAR(normal.variance, 25, 0.4);
    const moments lognormal = moments_of([&] { return random.lognormal(1, 0.5); });
    EXPECT_NEAR(lognormal.mean, std::exp(0.125), 0.01);
    const moments pareto = moments_of([&] { return random.pareto(1, 4); });
    EXPECT_NEAR(pareto.mean, 4.0 / 3, 0.01);
}

TEST(random_stream, draws_indices_in_proportion_to_their_weights) {
    random_stream random(base::test_seed(), "weights");
    const std::array<double, 3> weights{1, 0, 3};
    std::array<int, 3> counts{};
    for (int i = 0; i < draws; ++i) ++counts[random.weighted(weights)];
    EXPECT_EQ(counts[1], 0);
    EXPECT_NEAR(counts[0] / static_cast<double>(draws), 0.25, 0.005);
}

TEST(random_stream, differs_by_name_and_by_seed) {
    EXPECT_NE(random_stream(1, "a").bits(), random_stream(1, "b").bits());
    EXPECT_NE(random_stream(1, "a").bits(), random_stream(2, "a").bits());
    EXPECT_EQ(random_stream(1, "a").bits(), random_stream(1, "a").bits());
    EXPECT_NE(seed_of(1, "ab"), seed_of(1, "ba"));
}

TEST(delay, stays_within_its_bounds_and_reaches_them) {
    base::prng from{base::test_seed()};
    const std::array all{delay::constant(7), delay::uniform(10, 12), delay::lognormal(100, 50, 2, 1'000),
                         delay::exponential(5, 100, 90), delay::empirical({4, 9, 4})};
    for (const delay& each : all) {
        std::int64_t least = INT64_MAX;
        std::int64_t most = 0;
        for (int i = 0; i < 20'000; ++i) {
            const std::int64_t ns = each.draw(from);
            least = std::min(least, ns);
            most = std::max(most, ns);
        }
        EXPECT_GE(least, each.least_ns());
        EXPECT_EQ(most, each.most_ns());
        EXPECT_EQ(each.scaled(3).most_ns(), 3 * each.most_ns());
    }
    EXPECT_EQ(delay::uniform(5, 5).is_constant(), true);
}

TEST(delay, has_the_median_of_its_lognormal_part) {
    base::prng from{base::test_seed()};
    const delay d = delay::lognormal(1'000, 500, 0.7, 1'000'000);
    int below = 0;
    for (int i = 0; i < draws; ++i) below += d.draw(from) < 1'500 ? 1 : 0;
    EXPECT_NEAR(below / static_cast<double>(draws), 0.5, 0.005);
}

}  // namespace
}  // namespace corro::market
