// SPDX-License-Identifier: Apache-2.0
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
    return refusal({.reason = reason, .instrument = &i, .order = &o, .last = domain::price_ticks{24'000}});
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

TEST(refusal, has_the_numbers_that_ran_into_a_limit_of_the_account) {
    domain::instrument i = future();
    i.id = domain::instrument_id{3};
    own_orders session;
    const auto enter = [&](std::uint64_t number, std::uint32_t lots) {
        domain::command c;
        c.kind = domain::command_kind::enter_order;
        c.instrument = i.id;
        c.client_order = domain::client_order_id{number};
        c.enter_order().price = domain::price_ticks{24'000};
        c.enter_order().quantity = domain::quantity_lots{lots};
        session.on_sent(c);
    };
    enter(1, 4);
    enter(2, 9);
    session.on_refused(domain::client_order_id{2}, reject_reason::none);
    const auto text_of = [&](reject_reason reason, std::uint64_t number) {
        return refusal({.reason = reason,
                        .instrument = &i,
                        .order = session.find(domain::client_order_id{number}),
                        .session = &session,
                        .requests_per_second_max = 100});
    };
    EXPECT_EQ(text_of(reject_reason::order_size_limit, 2),
              "the order of 90 is above the largest order of the account (order_size_limit)");
    EXPECT_EQ(text_of(reject_reason::notional_limit, 2),
              "the order's value, 90 times 6000.00 = 540000.00, is above the account's limit (notional_limit)");
    EXPECT_EQ(text_of(reject_reason::position_limit, 2),
              "to buy 90 more could exceed the account's position limit; this session has +0 and 40 open to buy "
              "(position_limit)");
    EXPECT_EQ(text_of(reject_reason::open_orders_limit, 2),
              "the account has as many open orders as it may have; 1 are this session's (open_orders_limit)");
    EXPECT_EQ(text_of(reject_reason::throttled, 2), "the session may send 100 requests in a second (throttled)");
    // An amend is refused, and its order stays: what was asked for is not known here.
    EXPECT_EQ(text_of(reject_reason::order_size_limit, 1),
              "the order is above the account's largest order (order_size_limit)");
}

TEST(refusal, knows_what_became_of_an_order_that_a_request_came_too_late_for) {
    EXPECT_EQ(text(reject_reason::unknown_order, at(1, order_state::filled)), "the order is filled (unknown_order)");
    EXPECT_EQ(text(reject_reason::order_not_open, at(1, order_state::cancelled)),
              "the order is cancelled already (order_not_open)");
    EXPECT_EQ(refusal({.reason = reject_reason::unknown_order}), "the venue has no such open order (unknown_order)");
}

TEST(refusal, is_a_sentence_without_an_instrument_and_the_name_of_what_has_none) {
    EXPECT_EQ(refusal({.reason = reject_reason::not_authorised}), "only operators may do this (not_authorised)");
    EXPECT_EQ(refusal({.reason = reject_reason::request_lost}),
              "a crash of the venue took the request, which had no effect (request_lost)");
    EXPECT_EQ(refusal({.reason = reject_reason::invalid_side}), "invalid_side");
    EXPECT_EQ(refusal({.reason = reject_reason::price_outside_band}),
              "the price is outside the instrument's band (price_outside_band)");
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
