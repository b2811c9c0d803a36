// SPDX-License-Identifier: Apache-2.0
#include "matching/allocation.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::matching {
namespace {

using domain::allocation_policy;
using domain::match_algorithm;
using lots = std::vector<std::uint32_t>;

constexpr std::size_t nobody = ~std::size_t{0};

/// Returns the share of each order. Order i belongs to account i.
lots shares_of(const allocation_policy& p, const lots& open, std::uint32_t wanted, std::size_t top = nobody) {
    std::vector<claim> claims;
    for (const std::uint32_t o : open)
        claims.push_back({.account = static_cast<std::uint32_t>(claims.size()), .open = o});
    std::vector<level_rank> ranks(open.size());
    share_out(p, claims, top == nobody ? nullptr : &claims[top], wanted, ranks);
    lots shares;
    for (const claim& c : claims) shares.push_back(c.share);
    return shares;
}

TEST(allocation, fills_the_top_order_and_then_pro_rata_of_two_lots_or_more) {
    const allocation_policy p{.algorithm = match_algorithm::allocation};
    // CME's notice 020705-1: 60 lots. The second order's 1.67 lots count as none; it gets the residual three.
    EXPECT_EQ(shares_of(p, {10, 5, 20, 50, 75}, 60, 0), (lots{10, 3, 6, 16, 25}));
    EXPECT_EQ(shares_of(p, {10, 90}, 15), (lots{2, 13})) << "without a top order";
}

TEST(allocation, shares_pro_rata_and_gives_the_rest_in_time_order) {
    const allocation_policy p{.algorithm = match_algorithm::pro_rata};
    EXPECT_EQ(shares_of(p, {10, 20, 70}, 30), (lots{3, 6, 21}));
    EXPECT_EQ(shares_of(p, {70, 30}, 15), (lots{11, 4}));
    // CME's example of the pro-rata step: 50 lots are shared as 0, 0, 7, 0, 3, 37. The oldest order gets the remaining
    // three.
    EXPECT_EQ(shares_of(p, {5, 9, 57, 4, 28, 300}, 50), (lots{3, 0, 7, 0, 3, 37}));
    const allocation_policy single{.algorithm = match_algorithm::pro_rata, .pro_rata_minimum = 1};
    EXPECT_EQ(shares_of(single, {5, 9, 57, 4, 28, 300}, 50), (lots{2, 1, 7, 0, 3, 37}));
}

TEST(allocation, bounds_the_top_order_and_lets_its_rest_share) {
    const allocation_policy p{.algorithm = match_algorithm::threshold, .top_minimum = 10, .top_maximum = 100};
    EXPECT_EQ(shares_of(p, {150, 8, 160}, 200, 0), (lots{124, 3, 73}));
}

TEST(allocation, gives_makers_their_percentage_of_what_the_top_order_leaves) {
    allocation_policy p{.algorithm = match_algorithm::threshold_makers, .top_minimum = 25, .top_maximum = 250};
    p.makers[0] = {domain::account_id{2}, 40};
    EXPECT_EQ(shares_of(p, {300, 15, 160}, 400, 0), (lots{278, 8, 114}));
    allocation_policy s{.algorithm = match_algorithm::fifo_top_makers};
    s.makers[0] = {domain::account_id{2}, 50};
    EXPECT_EQ(shares_of(s, {10, 10, 10}, 17, 0), (lots{10, 4, 3})) << "half of seven is three";
    EXPECT_EQ(shares_of(s, {10, 10, 10}, 17, 2), (lots{7, 0, 10})) << "a top order has no share as a maker's";
}

TEST(allocation, splits_and_levels) {
    allocation_policy k{.algorithm = match_algorithm::split, .levels = true, .fifo_percent = 40, .pro_rata_minimum = 2};
    k.makers[0] = {domain::account_id{1}, 10};
    k.makers[1] = {domain::account_id{2}, 20};
    EXPECT_EQ(shares_of(k, {2, 51, 47, 100, 1, 1, 1, 1}, 202, 0), (lots{2, 51, 47, 98, 1, 1, 1, 1}));
    // 8 lots: one for the top order, 2.8 rounded to three by time. Four pro rata give one each to 97 and 80; then the
    // largest order is first.
    const allocation_policy one{.algorithm = match_algorithm::split, .levels = true, .fifo_percent = 40};
    EXPECT_EQ(shares_of(one, {1, 100, 30, 80, 30, 60}, 8, 0), (lots{1, 4, 1, 1, 0, 1}));
    const allocation_policy flat{.algorithm = match_algorithm::split, .fifo_percent = 40};
    EXPECT_EQ(shares_of(flat, {1, 100, 30, 80, 30, 60}, 8, 0), (lots{1, 6, 0, 1, 0, 0})) << "without levelling";
}

TEST(allocation, gives_everything_and_to_nobody_more_than_he_shows_and_prefers_the_older_of_equals) {
    base::prng random{base::test_seed()};
    constexpr std::array algorithms{match_algorithm::fifo_makers,     match_algorithm::fifo_top_makers,
                                    match_algorithm::split,           match_algorithm::allocation,
                                    match_algorithm::pro_rata,        match_algorithm::threshold,
                                    match_algorithm::threshold_makers};
    for (int run = 0; run < 50'000; ++run) {
        allocation_policy p{.algorithm = algorithms[random.below(algorithms.size())]};
        const auto up_to = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random.below(n + 1)); };
        if (p.algorithm == match_algorithm::split) {
            p.levels = random.below(2) == 0;
            p.fifo_percent = up_to(100);
        }
        const std::uint32_t largest = random.below(2) == 0 ? 4 : domain::has_makers(p.algorithm) ? 1'000'000'000 : 60;
        const std::size_t count = 1 + random.below(12);
        lots open;
        for (std::size_t i = 0; i < count; ++i) open.push_back(1 + up_to(largest - 1));
        std::uint64_t makers = 0;
        if (domain::has_makers(p.algorithm)) {
            for (std::uint32_t m = 0; m < 2 && m < count; ++m)
                p.makers[makers++] = {domain::account_id{m}, 1 + up_to(49)};
        }
        const std::size_t top =
            domain::has_top_order(p.algorithm) && random.below(2) == 0 ? random.below(count) : nobody;
        if (p.algorithm != match_algorithm::allocation && domain::is_pro_rata(p.algorithm))
            p.pro_rata_minimum = up_to(4);
        if (top != nobody && p.algorithm != match_algorithm::allocation) p.top_maximum = up_to(5);
        const std::uint64_t sum = std::accumulate(open.begin(), open.end(), std::uint64_t{0});
        const std::uint64_t most = std::min<std::uint64_t>(sum - 1, 1'000'000'000);
        if (most == 0) continue;
        const std::uint32_t wanted = 1 + up_to(most - 1);
        const lots shares = shares_of(p, open, wanted, top);
        std::uint64_t given = 0;
        for (std::size_t i = 0; i < count; ++i) {
            ASSERT_LE(shares[i], open[i]);
            given += shares[i];
            for (std::size_t j = i + 1; j < count; ++j) {
                const bool are_equals = i >= makers && i != top && j != top && open[i] == open[j];
                if (!are_equals) continue;
                ASSERT_GE(shares[i], shares[j]) << "algorithm " << static_cast<char>(p.algorithm);
            }
        }
        ASSERT_EQ(given, wanted);
    }
}

}  // namespace
}  // namespace corro::matching
