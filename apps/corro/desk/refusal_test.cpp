#include "apps/corro/desk/refusal.hpp"

#include <gtest/gtest.h>

#include "apps/corro/desk/price_text.hpp"

namespace corro::app::desk {
namespace {

using domain::reject_reason;

domain::instrument future() {
    domain::instrument i;
    i.tick_size = domain::price_nano{250'000'000};
    i.price_low = domain::price_ticks{22'000};
    i.price_high = domain::price_ticks{26'000};
    i.order_quantity_max = domain::quantity_lots{500};
    i.dynamic_band = 40;
    i.lot_size = 10;
    return i;
}

own_order at(std::int64_t ticks, order_state state = order_state::refused) {
    own_order o;
    o.price = domain::price_ticks{ticks};
    o.state = state;
    return o;
}

std::string text(reject_reason reason, const own_order& o) {
    const domain::instrument i = future();
    return refusal(reason, &i, &o, domain::price_ticks{24'000});
}

TEST(refusal, has_the_number_that_matters) {
    EXPECT_EQ(text(reject_reason::price_outside_band, at(28'000)),
              "the price 7000.00 is above the upper band 6500.00 (price_outside_band)");
    EXPECT_EQ(text(reject_reason::price_outside_band, at(21'999)),
              "the price 5499.75 is below the lower band 5500.00 (price_outside_band)");
    EXPECT_EQ(text(reject_reason::price_outside_band, at(24'000)),
              "a price is outside the band from 5500.00 to 6500.00 (price_outside_band)");
    EXPECT_EQ(text(reject_reason::price_outside_dynamic_band, at(24'100)),
              "the price 6025.00 is more than 10.00 from the last trade at 6000.00 (price_outside_dynamic_band)");
    EXPECT_EQ(text(reject_reason::price_off_tick, at(1)),
              "the price is not a multiple of the tick size 0.25 (price_off_tick)");
    EXPECT_EQ(text(reject_reason::invalid_quantity, at(1)), "the quantity must be from 10 to 5000 (invalid_quantity)");
}

TEST(refusal, knows_what_became_of_an_order_that_a_request_came_too_late_for) {
    EXPECT_EQ(text(reject_reason::unknown_order, at(1, order_state::filled)), "the order is filled (unknown_order)");
    EXPECT_EQ(text(reject_reason::order_not_open, at(1, order_state::cancelled)),
              "the order is cancelled already (order_not_open)");
    EXPECT_EQ(refusal(reject_reason::unknown_order, nullptr, nullptr, domain::no_price),
              "the venue has no such open order (unknown_order)");
}

TEST(refusal, is_a_sentence_without_an_instrument_and_the_name_of_what_has_none) {
    EXPECT_EQ(refusal(reject_reason::not_authorised, nullptr, nullptr, domain::no_price),
              "only operators may do this (not_authorised)");
    EXPECT_EQ(refusal(reject_reason::request_lost, nullptr, nullptr, domain::no_price), "request_lost");
    EXPECT_EQ(refusal(reject_reason::price_outside_band, nullptr, nullptr, domain::no_price), "price_outside_band");
}

TEST(price_text, has_the_decimals_of_the_tick_size) {
    const domain::instrument i = future();
    EXPECT_EQ(format_price(i, domain::price_ticks{24'002}), "6000.50");
    EXPECT_EQ(format_price(i, domain::no_price), "-");
    EXPECT_EQ(format_average(i, 24'000.5), "6000.1250");
    EXPECT_EQ(format_result(i, -3), "-7.50");
    EXPECT_EQ(format_result(i, 0), "+0.00");
}

}  // namespace
}  // namespace corro::app::desk
