// SPDX-License-Identifier: Apache-2.0
// Examples of implied matching for each rule of docs/spec/implied.md. implied_prop_test.cpp checks the laws over random
// orders.

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "facility/facility.hpp"
#include "facility/implied_test_venue.hpp"
#include "facility/limits.hpp"

namespace corro::facility {
namespace {

using domain::command;
using domain::event;
using domain::event_kind;
using domain::no_price;
using domain::reject_reason;
using domain::self_match_prevention;
using domain::side;
using domain::time_in_force;
using domain::trading_phase;
using testing::implied_venue;
using enum testing::implied_book;
using strings = std::vector<std::string>;

class implied : public ::testing::Test, protected implied_venue {};

// --- What is implied -------------------------------------------------------------------------------------------------

TEST_F(implied, offers_the_near_month_where_the_spread_and_the_far_month_are_offered) {
    enter(1, side::sell, june, 105, 4);
    EXPECT_EQ(said_of(march), "nothing");
    enter(1, side::sell, spread, -5, 3);
    EXPECT_EQ(said_of(march), "- | 100 x 3");
    EXPECT_EQ(said_of(june), "nothing");
    EXPECT_EQ(said_of(spread), "nothing");
}

TEST_F(implied, prices_every_book_from_the_other_two_on_both_sides) {
    enter(1, side::buy, march, 100, 2);
    enter(1, side::sell, march, 104, 3);
    enter(1, side::buy, june, 110, 4);
    enter(1, side::sell, june, 111, 5);
    EXPECT_EQ(said_of(spread), "-11 x 2 | -6 x 3")
        << "bid of March less offer of June; offer of March less bid of June";
    enter(1, side::buy, spread, -9, 6);
    enter(1, side::sell, spread, -8, 7);
    EXPECT_EQ(said_of(march), "101 x 4 | 103 x 5");
    EXPECT_EQ(said_of(june), "108 x 2 | 113 x 3");
}

TEST_F(implied, says_only_what_a_command_has_changed_and_takes_it_back_when_it_is_gone) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 3);
    enter(1, side::sell, june, 106, 4);
    EXPECT_EQ(count(event_kind::implied_top), 0U) << "behind the best level nothing is implied";
    cancel_all(1, spread);
    EXPECT_EQ(said_of(march), "- | -");
}

TEST_F(implied, shows_no_more_than_the_partners_show) {
    command c = order(1, side::sell, june, 105, 9);
    c.enter_order().display_quantity = domain::quantity_lots{2};
    apply(c);
    enter(1, side::sell, spread, -5, 3);
    EXPECT_EQ(said_of(march), "- | 100 x 2");
    EXPECT_EQ(fills(enter(2, side::buy, march, 100, 3)),
              (strings{"2 at 100, 2 at 105, 2 at -5", "1 at 100, 1 at 105, 1 at -5"}))
        << "the hidden part shows itself and trades too";
}

TEST_F(implied, adds_up_the_combinations_of_equal_price_and_takes_the_first_strategy_first) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 3);
    enter(1, side::sell, september, 110, 4);
    enter(1, side::sell, long_spread, -10, 2);
    EXPECT_EQ(said_of(march), "- | 100 x 5");
    EXPECT_EQ(fills(enter(2, side::buy, march, 100, 4)),
              (strings{"3 at 100, 3 at 105, 3 at -5", "1 at 100, 1 at 110, 1 at -10"}));
}

TEST_F(implied, makes_nothing_of_what_is_implied_itself) {
    enter(1, side::sell, september, 110, 1);
    enter(1, side::sell, long_spread, -10, 1);  // implies an offer of March at 100
    enter(1, side::buy, spread, -4, 1);         // that offer would imply one of June at 104, in the second generation
    EXPECT_EQ(said_of(march), "- | 100 x 1");
    EXPECT_EQ(said_of(june), "nothing");
}

// --- How it trades ---------------------------------------------------------------------------------------------------

TEST_F(implied, lets_direct_orders_go_first_at_the_same_price) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 3);
    enter(3, side::sell, march, 100, 2);
    enter(3, side::sell, march, 101, 2);
    const auto events = enter(2, side::buy, march, 101, 10);
    EXPECT_EQ(fills(events), (strings{"2 at 100", "3 at 100, 3 at 105, 3 at -5", "2 at 101"}));
    EXPECT_EQ(top(march).bid_price.value, 101);
    EXPECT_EQ(top(march).bid_quantity.value, 3U);
}

TEST_F(implied, says_a_fill_with_twenty_three_messages_in_order) {
    enter(1, side::sell, june, 105, 4);
    enter(3, side::sell, spread, -5, 3);
    const auto events = enter(2, side::buy, march, 102, 3);
    EXPECT_EQ(names(events),
              (strings{"order_executed", "order_executed", "order_executed", "trade_capture", "trade_capture",
                       "trade_capture",  "leg_capture",    "leg_capture",    "trade",         "price_update",
                       "statistics",     "trade",          "order_reduced",  "level_changed", "top_of_book",
                       "price_update",   "statistics",     "trade",          "order_deleted", "level_changed",
                       "top_of_book",    "price_update",   "statistics",     "implied_top"}));
    const auto instrument_at = [&](std::size_t at) { return events[at].instrument.value; };
    EXPECT_EQ(events[0].flags,
              domain::event_flag::implied | domain::event_flag::aggressor | domain::event_flag::last_of_request);
    EXPECT_EQ(events[1].flags, domain::event_flag::implied);
    EXPECT_EQ(instrument_at(1), id_of(june).value) << "the leg before the strategy";
    EXPECT_EQ(instrument_at(2), id_of(spread).value);
    EXPECT_EQ(events[0].execution.price.value, 100);
    EXPECT_EQ(events[3].flags, domain::event_flag::implied | domain::event_flag::aggressor);
    for (const std::size_t at : {4U, 5U, 6U, 7U}) EXPECT_EQ(events[at].flags, domain::event_flag::implied) << at;
    // The seller of the spread sells March and buys June, at the prices at which these trade.
    EXPECT_EQ(instrument_at(6), id_of(march).value);
    EXPECT_EQ(events[6].side, side::sell);
    EXPECT_EQ(events[6].leg_fill.price, 100 * tick_nano);
    EXPECT_EQ(events[6].leg_fill.account.value, 3U);
    EXPECT_EQ(events[7].side, side::buy);
    EXPECT_EQ(events[7].leg_fill.price, 105 * tick_nano);
    EXPECT_EQ(events[8].flags, domain::event_flag::implied);
    EXPECT_EQ(events[8].side, side::buy);
    EXPECT_EQ(events[10].volumes.open_interest.value, 3U);
    EXPECT_EQ(events[11].side, side::buy) << "the other side than the partner order's";
    EXPECT_EQ(events[12].book.quantity.value, 1U);
    EXPECT_EQ(events[16].volumes.open_interest.value, 3U);
    EXPECT_EQ(events[22].volumes.volume.value, 3U);
    EXPECT_EQ(events[22].volumes.open_interest.value, 0U) << "no account has a position in a strategy";
    for (const std::size_t at : {3U, 4U, 5U}) EXPECT_EQ(events[at].capture.trade, events[8].trade.trade);
    EXPECT_EQ(events[11].trade.trade, events[8].trade.trade) << "one number in all three books";
    EXPECT_EQ(events[23].flags, domain::event_flag::last_of_command);
    EXPECT_EQ(position(2, march), 3);
    EXPECT_EQ(position(3, march), -3);
    EXPECT_EQ(position(3, june), 3);
    EXPECT_EQ(position(1, june), -3);
    EXPECT_EQ(position(3, spread), 0);
}

TEST_F(implied, trades_a_spread_out_of_its_legs) {
    enter(1, side::sell, march, 100, 2);
    enter(3, side::buy, june, 104, 5);
    EXPECT_EQ(fills(enter(2, side::buy, spread, -4, 3)), (strings{"2 at -4, 2 at 100, 2 at 104"}));
    EXPECT_EQ(position(2, march), 2);
    EXPECT_EQ(position(2, june), -2);
    EXPECT_EQ(top(spread).bid_quantity.value, 1U) << "the rest rests";
}

TEST_F(implied, uses_what_an_amended_order_and_a_quote_reach_too) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 4);
    const auto resting = enter(2, side::buy, march, 90, 1);
    EXPECT_EQ(fills(amend(2, resting[0].order.order, 100, 1)), (strings{"1 at 100, 1 at 105, 1 at -5"}));
    const auto quoted = quote(4, march, 100, 2, 110, 1);
    EXPECT_EQ(fills(quoted), (strings{"2 at 100, 2 at 105, 2 at -5"}));
    EXPECT_EQ(top(march).bid_price, no_price);
    EXPECT_EQ(top(march).ask_price.value, 110);
}

// --- Kinds of orders -------------------------------------------------------------------------------------------------

TEST_F(implied, counts_only_direct_orders_for_fill_or_kill_and_trades_only_with_them) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 4);
    command c = order(2, side::buy, march, 102, 2);
    c.order_terms().time_in_force = time_in_force::fok;
    EXPECT_EQ(reason_of(apply(c)), reject_reason::insufficient_quantity);
    enter(3, side::sell, march, 102, 2);
    EXPECT_EQ(fills(apply(c)), (strings{"2 at 102"}));
}

TEST_F(implied, lets_a_minimum_be_traded_directly_before_anything_else) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 4);
    command c = order(2, side::buy, march, 102, 3);
    c.enter_order().minimum_quantity = domain::quantity_lots{2};
    EXPECT_EQ(reason_of(apply(c)), reject_reason::insufficient_quantity);
    enter(3, side::sell, march, 102, 2);
    EXPECT_EQ(fills(apply(c)), (strings{"2 at 102", "1 at 100, 1 at 105, 1 at -5"}));
}

TEST_F(implied, refuses_a_post_only_order_that_an_implied_price_would_fill_and_moves_one_that_may_move) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 4);
    command c = order(2, side::buy, march, 100, 3);
    c.enter_order().flags = domain::order_flag::post_only;
    EXPECT_EQ(reason_of(apply(c)), reject_reason::would_take_liquidity);
    c.enter_order().flags |= domain::order_flag::reprice;
    apply(c);
    EXPECT_EQ(top(march).bid_price.value, 99);
}

TEST_F(implied, gives_immediate_and_market_orders_what_is_implied) {
    command c = order(2, side::buy, march, 0, 3);
    c.order_terms().type = domain::order_type::market;
    c.order_terms().time_in_force = time_in_force::ioc;
    enter(1, side::sell, june, 105, 2);
    EXPECT_EQ(reason_of(apply(c)), reject_reason::no_counterparty);
    enter(1, side::sell, spread, -5, 4);
    const auto events = apply(c);
    EXPECT_EQ(fills(events), (strings{"2 at 100, 2 at 105, 2 at -5"}));
    const auto cancelled = find(events, event_kind::order_cancelled);
    ASSERT_EQ(cancelled.size(), 1U);
    EXPECT_EQ(cancelled[0].order.quantity.value, 1U);
    EXPECT_EQ(cancelled[0].reason, reject_reason::no_counterparty);
}

TEST_F(implied, takes_the_implied_price_for_the_best_of_a_market_to_limit_order) {
    enter(1, side::sell, june, 105, 2);
    enter(1, side::sell, spread, -5, 4);
    enter(3, side::sell, march, 101, 4);
    command c = order(2, side::buy, march, 0, 3);
    c.order_terms().type = domain::order_type::market_to_limit;
    EXPECT_EQ(fills(apply(c)), (strings{"2 at 100, 2 at 105, 2 at -5"}));
    EXPECT_EQ(top(march).bid_price.value, 100) << "and rests there";
}

TEST_F(implied, prevents_self_matches_with_the_partner_orders) {
    enter(2, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 4);
    command c = order(2, side::buy, march, 100, 3);
    c.enter_order().self_match_prevention = self_match_prevention::cancel_newest;
    EXPECT_EQ(reason_of(apply(c)), reject_reason::self_match_prevented);
    c.enter_order().self_match_prevention = self_match_prevention::decrement;
    auto events = apply(c);
    EXPECT_TRUE(fills(events).empty());
    EXPECT_EQ(top(june).ask_quantity.value, 1U) << "both have lost 3";
    c.enter_order().self_match_prevention = self_match_prevention::cancel_resting;
    events = apply(c);
    EXPECT_TRUE(fills(events).empty());
    EXPECT_EQ(top(june).ask_price, no_price);
    EXPECT_EQ(top(march).bid_quantity.value, 3U) << "nothing is implied any more";
}

TEST_F(implied, sets_waiting_orders_free_in_every_book_that_has_traded) {
    command stop = order(4, side::sell, june, 105, 1);
    stop.order_terms().type = domain::order_type::stop_limit;
    stop.enter_order().trigger_price = domain::price_ticks{105};
    stop.enter_order().price = domain::price_ticks{104};
    apply(stop);
    EXPECT_EQ(top(june).ask_price, no_price);
    enter(1, side::sell, june, 105, 1);
    enter(1, side::sell, spread, -5, 1);
    enter(2, side::buy, march, 100, 1);
    EXPECT_EQ(top(june).ask_price.value, 104) << "June has traded at 105";
}

TEST_F(implied, cancels_what_is_left_after_the_largest_number_of_steps) {
    enter(1, side::sell, spread, -5, 5000);
    for (std::uint32_t i = 0; i < implied_steps_max + 10; ++i) enter(1, side::sell, june, 105, 1);
    const auto events = enter(2, side::buy, march, 100, 5000);
    EXPECT_EQ(fills(events).size(), implied_steps_max);
    const auto cancelled = find(events, event_kind::order_cancelled);
    ASSERT_EQ(cancelled.size(), 1U);
    EXPECT_EQ(cancelled[0].reason, reject_reason::implied_limit);
    EXPECT_EQ(cancelled[0].order.quantity.value, 5000 - implied_steps_max);
    EXPECT_EQ(cancelled[0].flags & domain::event_flag::last_of_request, domain::event_flag::last_of_request);
    EXPECT_EQ(top(march).bid_price, no_price);
}

// --- Phases ----------------------------------------------------------------------------------------------------------

TEST_F(implied, implies_nothing_while_one_of_the_books_does_not_match) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 3);
    change_phase(june, trading_phase::halted);
    EXPECT_EQ(said_of(march), "- | -");
    EXPECT_TRUE(fills(enter(2, side::buy, march, 100, 1)).empty());
    change_phase(spread, trading_phase::closing_auction);
    change_phase(june, trading_phase::continuous);
    EXPECT_TRUE(fills(last()).empty());
    EXPECT_EQ(said_of(march), "- | -");
}

TEST_F(implied, trades_what_stands_crossed_when_a_book_goes_on) {
    enter(1, side::sell, june, 105, 4);
    change_phase(june, trading_phase::halted);
    enter(1, side::sell, spread, -5, 3);
    enter(2, side::buy, march, 101, 2);
    enter(3, side::buy, march, 102, 2);
    const auto events = change_phase(june, trading_phase::continuous);
    // June's first order trades at what March's bid and the spread's offer imply: 107, better than its limit.
    EXPECT_EQ(fills(events), (strings{"2 at 107, 2 at 102, 2 at -5", "1 at 106, 1 at 101, 1 at -5"}));
    EXPECT_EQ(events[0].kind, event_kind::phase_changed);
    EXPECT_EQ(events[1].kind, event_kind::request_done);
    EXPECT_EQ(names(events).size(), 2U + 26U + 26U + 1U) << "and the spread's legs imply a price again";
    EXPECT_EQ(top(june).ask_quantity.value, 1U) << "it kept its place";
}

TEST_F(implied, goes_on_with_waiting_orders_after_what_stood_crossed) {
    command stop = order(4, side::buy, june, 110, 1);
    stop.order_terms().type = domain::order_type::stop_limit;
    stop.enter_order().trigger_price = domain::price_ticks{106};
    apply(stop);
    enter(1, side::sell, june, 105, 1);
    change_phase(june, trading_phase::halted);
    enter(1, side::sell, spread, -5, 1);
    enter(2, side::buy, march, 102, 1);
    change_phase(june, trading_phase::continuous);
    EXPECT_EQ(top(june).bid_price.value, 110) << "June has traded at 107";
}

TEST_F(implied, is_over_for_good_when_a_leg_is_settled) {
    enter(1, side::sell, june, 105, 4);
    enter(1, side::sell, spread, -5, 3);
    command c;
    c.kind = domain::command_kind::settle_instrument;
    c.set_operator(true);
    c.instrument = id_of(june);
    c.settle_instrument().price = domain::price_ticks{105};
    apply(c);
    EXPECT_EQ(said_of(march), "- | -");
    EXPECT_TRUE(fills(enter(2, side::buy, march, 100, 1)).empty());
}

TEST_F(implied, bounds_prices_so_that_their_sums_are_prices) {
    EXPECT_EQ(reason_of(enter(1, side::buy, march, domain::implied_price_ticks_max + 1, 1)),
              reject_reason::price_outside_band);
    enter(1, side::sell, june, domain::implied_price_ticks_max, 1);
    enter(1, side::sell, spread, domain::implied_price_ticks_max, 1);
    EXPECT_EQ(said_of(march), "- | 4000000000 x 1");
}

}  // namespace
}  // namespace corro::facility
