// SPDX-License-Identifier: Apache-2.0
#include "risk/price_band.hpp"

#include <gtest/gtest.h>

namespace corro::risk {
namespace {

using domain::no_price;
using domain::order_type;
using domain::price_ticks;
using domain::reject_reason;
using domain::side;

constexpr price_ticks last{100};

TEST(price_band, has_no_edge_without_a_width_or_a_trade) {
    for (const price_band band : {price_band(0, last), price_band(10, no_price)}) {
        for (const side s : {side::buy, side::sell}) {
            EXPECT_EQ(band.edge(s), no_price);
            EXPECT_FALSE(band.excludes(s, price_ticks{1'000'000}));
            EXPECT_FALSE(band.excludes(s, price_ticks{-1'000'000}));
            price_ticks limit{1'000'000};
            EXPECT_EQ(band.apply(s, order_type::limit, limit), reject_reason::none);
            EXPECT_EQ(band.apply(s, order_type::market, limit), reject_reason::none);
            EXPECT_EQ(limit, price_ticks{1'000'000});
        }
    }
}

TEST(price_band, refuses_a_limit_order_one_tick_beyond_its_edge) {
    const price_band band(10, last);
    price_ticks limit{110};
    EXPECT_EQ(band.apply(side::buy, order_type::limit, limit), reject_reason::none);
    limit = price_ticks{111};
    EXPECT_EQ(band.apply(side::buy, order_type::limit, limit), reject_reason::price_outside_dynamic_band);
    EXPECT_EQ(limit, price_ticks{111}) << "a refused order keeps its limit";
    limit = price_ticks{90};
    EXPECT_EQ(band.apply(side::sell, order_type::limit, limit), reject_reason::none);
    limit = price_ticks{89};
    EXPECT_EQ(band.apply(side::sell, order_type::limit, limit), reject_reason::price_outside_dynamic_band);
}

TEST(price_band, does_not_bound_a_side_away_from_the_market) {
    const price_band band(10, last);
    price_ticks limit{-5'000};
    EXPECT_EQ(band.apply(side::buy, order_type::limit, limit), reject_reason::none);
    limit = price_ticks{5'000};
    EXPECT_EQ(band.apply(side::sell, order_type::limit, limit), reject_reason::none);
}

TEST(price_band, gives_market_orders_its_edge_as_their_limit) {
    const price_band band(10, last);
    price_ticks limit = no_price;
    EXPECT_EQ(band.apply(side::buy, order_type::market, limit), reject_reason::none);
    EXPECT_EQ(limit, price_ticks{110});
    limit = no_price;
    EXPECT_EQ(band.apply(side::sell, order_type::market, limit), reject_reason::none);
    EXPECT_EQ(limit, price_ticks{90});
}

TEST(price_band, tightens_the_protection_of_a_market_order_and_never_widens_it) {
    const price_band band(10, last);
    price_ticks limit{150};
    EXPECT_EQ(band.apply(side::buy, order_type::market_protected, limit), reject_reason::none);
    EXPECT_EQ(limit, price_ticks{110});
    limit = price_ticks{105};
    EXPECT_EQ(band.apply(side::buy, order_type::market_protected, limit), reject_reason::none);
    EXPECT_EQ(limit, price_ticks{105});
    limit = price_ticks{150};
    EXPECT_EQ(band.apply(side::buy, order_type::market_to_limit, limit), reject_reason::price_outside_dynamic_band);
}

TEST(price_band, ends_where_prices_end) {
    const price_band band(domain::price_ticks_max, price_ticks{domain::price_ticks_max});
    EXPECT_EQ(band.edge(side::buy), price_ticks{domain::price_ticks_max});
    EXPECT_EQ(band.edge(side::sell), price_ticks{0});
    EXPECT_EQ(price_band(domain::price_ticks_max, price_ticks{-5}).edge(side::sell),
              price_ticks{-domain::price_ticks_max});
}

}  // namespace
}  // namespace corro::risk
