// SPDX-License-Identifier: Apache-2.0
#include "api/credits.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "api/address_credits.hpp"

namespace corro::api {
namespace {

using namespace std::chrono_literals;

TEST(credits, a_burst_empties_them_and_time_refills_them) {
    io::steady_time now{1h};
    credits c(now);
    int taken = 0;
    while (c.take(request_cost, now)) ++taken;
    EXPECT_EQ(taken, 100);
    now += 49ms;
    EXPECT_FALSE(c.take(request_cost, now));
    now += 1ms;
    EXPECT_TRUE(c.take(request_cost, now)) << "500 credits in 50 ms";
    EXPECT_FALSE(c.take(request_cost, now));
    now += 4'999ms;
    EXPECT_FALSE(c.is_full(now));
    now += 1ms;
    EXPECT_TRUE(c.is_full(now));
    now += 24h;
    taken = 0;
    while (c.take(request_cost, now)) ++taken;
    EXPECT_EQ(taken, 100) << "they do not grow beyond the limit";
}

TEST(credits, a_large_picture_of_a_book_costs_more_and_never_too_much) {
    EXPECT_EQ(levels_cost(0), 0U);
    EXPECT_EQ(levels_cost(200), 0U);
    EXPECT_EQ(levels_cost(202), 1U);
    EXPECT_EQ(levels_cost(20'000), 9'900U);
    EXPECT_EQ(levels_cost(10'000'000), 20'000U);
}

TEST(credits, no_part_of_a_refill_is_lost_when_it_is_counted_often) {
    io::steady_time now{0s};
    credits c(now);
    while (c.take(request_cost, now)) {
    }
    int taken = 0;
    for (int k = 0; k < 1'000'000; ++k) {
        now += 7us;
        taken += c.take(request_cost, now) ? 1 : 0;
    }
    EXPECT_EQ(taken, 140) << "70,000 credits in 7 seconds";
}

TEST(address_credits, counts_connections_per_address_and_forgets_who_has_all_credits) {
    const io::steady_time now{1h};
    address_credits all(2);
    const auto one = io::endpoint::ipv4({10, 0, 0, 1}, 1000);
    EXPECT_TRUE(all.begin(one, now));
    EXPECT_TRUE(all.begin(one.with_port(1001), now));
    EXPECT_FALSE(all.begin(one.with_port(1002), now)) << "a third connection";
    EXPECT_TRUE(all.begin(io::endpoint::ipv4({10, 0, 0, 2}, 1), now));
    EXPECT_TRUE(all.take(one, static_cast<std::uint32_t>(credits_max), now));
    EXPECT_FALSE(all.take(one.with_port(9), request_cost, now)) << "all ports of an address share credits";
    all.end(one);
    EXPECT_TRUE(all.begin(one.with_port(1003), now));
    EXPECT_FALSE(all.take(one, request_cost, now)) << "a new connection has no new credits";
    all.end(one);
    all.end(one);
    all.end(io::endpoint::ipv4({10, 0, 0, 2}, 1));
    EXPECT_EQ(all.connections_count(), 0U);
    for (std::uint32_t k = 0; k < 2 * addresses_max; ++k) {
        const auto each = io::endpoint::ipv4(
            {11, static_cast<std::uint8_t>(k >> 16U), static_cast<std::uint8_t>(k >> 8U), static_cast<std::uint8_t>(k)},
            1);
        ASSERT_TRUE(all.begin(each, now));
        all.end(each);
    }
    EXPECT_LE(all.addresses_count(), addresses_max);
    EXPECT_FALSE(all.take(one, request_cost, now)) << "its credits are not forgotten";
}

}  // namespace
}  // namespace corro::api
