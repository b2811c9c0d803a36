// SPDX-License-Identifier: Apache-2.0
#include "facility/facility.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/test_memory.hpp"
#include "facility/recorder.hpp"

namespace corro::facility {
namespace {

using domain::command;
using domain::command_kind;
using domain::event;
using domain::event_kind;
using domain::reject_reason;
using domain::side;
using testing::limit;
using testing::name_of;
using testing::recorder;
using testing::wide_instrument;

class facility_test : public ::testing::Test {
 protected:
    facility_test() : instruments_{wide_instrument(1), wide_instrument(7)} { rebuild({}); }

    void rebuild(facility_options options) {
        options.accounts_max = 16;
        if (options.orders_max > 1024) options.orders_max = 1024;
        venue_ = std::make_unique<facility>(options, instruments_, recorder_);
    }
    std::vector<event> apply(command c) {
        c.sequence = domain::sequence_number{++sequence_};
        recorder_.events.clear();
        venue_->apply(c);
        return recorder_.events;
    }
    static std::vector<std::string> names(const std::vector<event>& events) {
        std::vector<std::string> out;
        for (const event& e : events) out.emplace_back(name_of(e.kind));
        return out;
    }
    static command cancel(std::uint32_t account) {
        command c;
        c.kind = command_kind::cancel_order;
        c.account = domain::account_id{account};
        c.session = domain::session_id{account + 100};
        return c;
    }
    command amend(std::uint32_t account, domain::order_id order, std::int64_t price, std::uint32_t total) {
        command c = cancel(account);
        c.kind = command_kind::amend_order;
        c.amend_order().order = order;
        c.amend_order().price = domain::price_ticks{price};
        c.amend_order().quantity = domain::quantity_lots{total};
        return c;
    }
    reject_reason reason_of(const std::vector<event>& events) {
        EXPECT_EQ(events.size(), 1U);
        EXPECT_EQ(events.at(0).kind, event_kind::order_rejected);
        EXPECT_EQ(events.at(0).flags, domain::event_flag::last_of_command | domain::event_flag::last_of_request);
        return events.at(0).reason;
    }

    std::array<domain::instrument, 2> instruments_;
    recorder recorder_;
    std::unique_ptr<facility> venue_;
    std::uint64_t sequence_ = 0;
};

using strings = std::vector<std::string>;
const strings fill_messages{"order_executed", "order_executed", "trade_capture", "trade_capture", "trade",
                            "order_deleted",  "level_changed",  "top_of_book",   "price_update",  "statistics"};

TEST_F(facility_test, announces_a_resting_order_with_three_messages_or_four_when_the_best_level_changes) {
    const auto first = apply(limit(1, side::buy, 100, 5, 11));
    EXPECT_EQ(names(first), (strings{"order_entered", "order_added", "level_changed", "top_of_book"}));
    EXPECT_EQ(first[0].flags, domain::event_flag::last_of_request);
    EXPECT_EQ(first[0].order.client_order.value, 11U);
    EXPECT_EQ(first[3].flags, domain::event_flag::last_of_command);
    EXPECT_EQ(first[3].top.bid_price.value, 100);
    EXPECT_EQ(first[3].top.bid_quantity.value, 5U);
    EXPECT_EQ(first[3].top.ask_price, domain::no_price);
    EXPECT_EQ(names(apply(limit(2, side::buy, 99, 5))), (strings{"order_entered", "order_added", "level_changed"}));
    EXPECT_EQ(apply(limit(2, side::buy, 100, 7)).back().top.bid_quantity.value, 12U);
}

TEST_F(facility_test, finds_the_orders_of_commands_to_come_and_changes_nothing) {
    const auto entered = apply(limit(1, side::buy, 100, 5, 11));
    apply(limit(1, side::buy, 100, 5, 12));
    const std::uint64_t hash = venue_->state_hash();
    std::array<domain::prefetch_hint, 4> coming;
    for (domain::prefetch_hint& f : coming) f.account = domain::account_id{1};
    coming[0].client_order = domain::client_order_id{11};
    coming[1].client_order = domain::client_order_id{99};  // no such order
    coming[2].client_order = domain::client_order_id{13};
    coming[2].enters = true;
    coming[3].client_order = domain::client_order_id{11};
    coming[3].account = domain::account_id{0xffff'ffff};  // no such account
    venue_->expect(coming);
    EXPECT_EQ(coming[0].order, entered[0].order.order);
    EXPECT_EQ(coming[1].order.value, 0U);
    EXPECT_EQ(coming[2].order.value, 0U);
    EXPECT_EQ(coming[3].order.value, 0U) << "of another account";
    EXPECT_EQ(venue_->state_hash(), hash);
}

TEST_F(facility_test, says_each_fill_with_ten_messages_in_order) {
    const auto resting = apply(limit(1, side::sell, 100, 5, 11));
    const auto events = apply(limit(2, side::buy, 101, 5, 22));
    EXPECT_EQ(names(events), fill_messages);
    EXPECT_EQ(events[0].execution.client_order.value, 22U);
    EXPECT_EQ(events[0].execution.price.value, 100);
    EXPECT_EQ(events[0].execution.leaves.value, 0U);
    EXPECT_EQ(events[0].flags, domain::event_flag::aggressor | domain::event_flag::last_of_request);
    EXPECT_EQ(events[1].execution.order, resting[0].order.order);
    EXPECT_EQ(events[2].side, side::buy);
    EXPECT_EQ(events[2].capture.account.value, 2U);
    EXPECT_EQ(events[3].capture.account.value, 1U);
    EXPECT_EQ(events[4].side, side::buy) << "the tape names the aggressor's side";
    EXPECT_EQ(events[6].level.quantity.value, 0U);
    EXPECT_EQ(events[7].top.ask_price, domain::no_price);
    EXPECT_EQ(events[8].prices.open.value, 100);
    EXPECT_EQ(events[9].volumes.volume.value, 5U);
    EXPECT_EQ(events[9].volumes.turnover, 500);
    EXPECT_EQ(events[9].volumes.open_interest.value, 5U);
    EXPECT_EQ(venue_->position_of(domain::account_id{2}, domain::instrument_id{1}), 5);
    EXPECT_EQ(venue_->position_of(domain::account_id{1}, domain::instrument_id{1}), -5);
}

TEST_F(facility_test, says_each_fill_of_a_strategy_with_ten_messages_and_four_for_each_leg) {
    std::vector<domain::instrument> instruments{wide_instrument(1), wide_instrument(2), wide_instrument(3)};
    instruments[0].tick_size = domain::price_nano{5};
    domain::instrument& spread = instruments[2];
    spread.kind = domain::instrument_kind::spread;
    spread.legs[0] = {domain::instrument_id{1}, 1, side::buy};
    spread.legs[1] = {domain::instrument_id{2}, 1, side::sell};
    spread.legs_count = 2;
    recorder said;
    facility venue({.orders_max = 16, .accounts_max = 4}, instruments, said);
    domain::command sell = limit(1, side::sell, -3, 4, 11);
    sell.instrument = spread.id;
    venue.apply(sell);
    domain::command buy = limit(2, side::buy, -3, 4, 22);
    buy.instrument = spread.id;
    said.events.clear();
    venue.apply(buy);
    const auto& events = said.events;
    strings expected = fill_messages;
    for (int leg = 0; leg < 2; ++leg) {
        expected.insert(expected.end(), {"leg_capture", "leg_capture", "leg_trade", "statistics"});
    }
    ASSERT_EQ(names(events), expected);
    EXPECT_EQ(events[9].volumes.open_interest.value, 0U) << "no account has a position in a strategy";
    EXPECT_EQ(events[10].instrument.value, 1U);
    EXPECT_EQ(events[10].side, side::buy) << "the buyer's record is the first";
    EXPECT_EQ(events[10].leg_fill.account.value, 2U);
    EXPECT_EQ(events[10].flags, domain::event_flag::aggressor);
    EXPECT_EQ(events[10].leg_fill.trade, events[4].trade.trade);
    EXPECT_EQ(events[10].leg_fill.order, events[0].execution.order);
    EXPECT_EQ(events[11].leg_fill.account.value, 1U);
    EXPECT_EQ(events[12].side, side::buy) << "what the aggressor did in the leg";
    EXPECT_EQ(events[13].volumes.volume.value, 4U);
    EXPECT_EQ(events[13].volumes.turnover, 0);
    EXPECT_EQ(events[13].volumes.open_interest.value, 4U);
    EXPECT_EQ(events[14].leg_fill.account.value, 1U) << "the seller of the spread buys its second leg";
    EXPECT_EQ(events[16].side, side::sell);
    EXPECT_EQ(events[16].leg_fill.price, 3) << "0 - 3 is the price of the spread, in billionths";
    EXPECT_EQ(events[17].flags, domain::event_flag::last_of_command);
    EXPECT_EQ(venue.position_of(domain::account_id{2}, spread.id), 0);
    EXPECT_EQ(venue.prices_of(domain::instrument_id{1}).last, domain::no_price) << "nobody traded in its book";
}

TEST_F(facility_test, rests_what_is_left_of_an_aggressor_after_its_fills) {
    apply(limit(1, side::sell, 100, 5));
    const auto events = apply(limit(2, side::buy, 100, 8));
    ASSERT_EQ(events.size(), 14U);
    EXPECT_EQ(events[0].flags, domain::event_flag::aggressor) << "the answer comes later";
    EXPECT_EQ(events[10].kind, event_kind::order_entered);
    EXPECT_EQ(events[10].order.quantity.value, 3U);
    EXPECT_EQ(events[10].flags, domain::event_flag::last_of_request);
}

TEST_F(facility_test, sweeps_ten_orders_with_a_hundred_messages) {
    for (int i = 0; i < 10; ++i) apply(limit(1, side::sell, 100 + 1000 * i, 1));
    const auto events = apply(limit(2, side::buy, 1'000'000, 10));
    ASSERT_EQ(events.size(), 100U);
    EXPECT_EQ(events[90].flags & domain::event_flag::last_of_request, domain::event_flag::last_of_request);
    EXPECT_EQ(events[99].flags, domain::event_flag::last_of_command);
}

TEST_F(facility_test, cancels_by_order_id_client_order_id_and_sequencing_id) {
    const strings cancelled{"order_cancelled", "order_deleted", "level_changed", "top_of_book"};
    command by_id = cancel(1);
    by_id.cancel_order().order = apply(limit(1, side::buy, 100, 5, 11))[0].order.order;
    EXPECT_EQ(names(apply(by_id)), cancelled);
    EXPECT_EQ(reason_of(apply(by_id)), reject_reason::order_not_open);

    apply(limit(1, side::buy, 100, 5, 11));
    command by_name = cancel(1);
    by_name.client_order = domain::client_order_id{11};
    const auto events = apply(by_name);
    EXPECT_EQ(names(events), cancelled);
    EXPECT_EQ(events[0].order.quantity.value, 5U);
    EXPECT_EQ(reason_of(apply(by_name)), reject_reason::unknown_order);

    command entry = limit(1, side::buy, 100, 5, 11);
    entry.set_request(900);
    apply(entry);
    command by_request = cancel(1);
    by_request.set_request(901);
    by_request.cancel_order().target_request = 900;
    const auto last = apply(by_request);
    EXPECT_EQ(names(last), cancelled);
    EXPECT_EQ(last[0].order.request, 901U);
    EXPECT_EQ(last[0].flags, domain::event_flag::last_of_request);
    EXPECT_EQ(reason_of(apply(by_request)), reject_reason::unknown_order);
}

TEST_F(facility_test, does_not_show_an_order_to_another_account) {
    command foreign = cancel(2);
    foreign.cancel_order().order = apply(limit(1, side::buy, 100, 5, 11))[0].order.order;
    EXPECT_EQ(reason_of(apply(foreign)), reject_reason::unknown_order);
    foreign.cancel_order().order = {};
    foreign.client_order = domain::client_order_id{11};
    EXPECT_EQ(reason_of(apply(foreign)), reject_reason::unknown_order);
}

TEST_F(facility_test, gives_another_session_of_the_account_its_own_copy_of_the_answer) {
    command c = cancel(1);
    c.cancel_order().order = apply(limit(1, side::buy, 100, 5, 11))[0].order.order;
    c.session = domain::session_id{555};
    c.set_request(3);
    const auto events = apply(c);
    EXPECT_EQ(names(events),
              (strings{"order_cancelled", "order_cancelled", "order_deleted", "level_changed", "top_of_book"}));
    EXPECT_EQ(events[0].order.session.value, 101U);
    EXPECT_EQ(events[0].order.request, 0U);
    EXPECT_EQ(events[0].flags, 0U);
    EXPECT_EQ(events[1].order.session.value, 555U);
    EXPECT_EQ(events[1].order.request, 3U);
    EXPECT_EQ(events[1].flags, domain::event_flag::last_of_request);
}

TEST_F(facility_test, refuses_with_one_message_and_the_reason) {
    auto bad = [&](auto change) {
        command c = limit(1, side::buy, 100, 5, 0);
        change(c);
        return reason_of(apply(c));
    };
    EXPECT_EQ(bad([](command& c) { c.set_verdict(reject_reason::price_off_tick); }), reject_reason::price_off_tick);
    EXPECT_EQ(bad([](command& c) { c.instrument = domain::instrument_id{2}; }), reject_reason::unknown_instrument);
    EXPECT_EQ(bad([](command& c) { c.instrument = domain::instrument_id{1U << 31}; }),
              reject_reason::unknown_instrument);
    EXPECT_EQ(bad([](command& c) { c.order_terms().side = static_cast<side>(9); }), reject_reason::invalid_side);
    EXPECT_EQ(bad([](command& c) { c.order_terms().type = static_cast<domain::order_type>(0); }),
              reject_reason::invalid_order_type);
    EXPECT_EQ(bad([](command& c) { c.order_terms().time_in_force = static_cast<domain::time_in_force>(77); }),
              reject_reason::invalid_time_in_force);
    EXPECT_EQ(
        bad([](command& c) { c.enter_order().self_match_prevention = static_cast<domain::self_match_prevention>(5); }),
        reject_reason::invalid_self_match_prevention);
    EXPECT_EQ(bad([](command& c) { c.enter_order().flags = 0x80; }), reject_reason::invalid_combination);
    EXPECT_EQ(bad([](command& c) { c.enter_order().quantity = {}; }), reject_reason::invalid_quantity);
    EXPECT_EQ(bad([](command& c) { c.enter_order().quantity = domain::quantity_lots{0xffffffffU}; }),
              reject_reason::invalid_quantity);
    EXPECT_EQ(bad([](command& c) { c.enter_order().price = domain::no_price; }), reject_reason::invalid_price);
    EXPECT_EQ(bad([](command& c) { c.account = domain::account_id{16}; }), reject_reason::not_authorised);
    EXPECT_EQ(bad([](command& c) { c.kind = static_cast<command_kind>(200); }), reject_reason::unknown_command);
    const auto mass_cancel = [](command& c) {
        c.kind = command_kind::cancel_orders;
        c.set_request(1);
    };
    EXPECT_EQ(bad(mass_cancel), reject_reason::nothing_to_cancel);
    apply(limit(1, side::buy, 100, 5, 11));
    EXPECT_EQ(reason_of(apply(limit(1, side::buy, 100, 5, 11))), reject_reason::duplicate_client_order_id);
    EXPECT_EQ(apply(limit(2, side::buy, 100, 5, 11)).size(), 4U) << "another account may use the same id";
}

TEST_F(facility_test, refuses_immediate_orders_that_cannot_execute) {
    command ioc = limit(1, side::buy, 100, 5);
    ioc.order_terms().time_in_force = domain::time_in_force::ioc;
    command fok = ioc;
    fok.order_terms().time_in_force = domain::time_in_force::fok;
    command market = limit(1, side::buy, 0, 5);
    market.order_terms().type = domain::order_type::market;
    EXPECT_EQ(reason_of(apply(ioc)), reject_reason::no_counterparty);
    EXPECT_EQ(reason_of(apply(fok)), reject_reason::insufficient_quantity);
    EXPECT_EQ(reason_of(apply(market)), reject_reason::no_counterparty);
    apply(limit(2, side::sell, 100, 3));
    EXPECT_EQ(reason_of(apply(fok)), reject_reason::insufficient_quantity);
    const auto events = apply(ioc);
    ASSERT_EQ(events.size(), 11U);
    EXPECT_EQ(events[10].kind, event_kind::order_cancelled);
    EXPECT_EQ(events[10].reason, reject_reason::no_counterparty);
    EXPECT_EQ(events[10].order.quantity.value, 2U);
    EXPECT_EQ(venue_->open_orders_count(), 0U);
}

TEST_F(facility_test, marks_the_end_of_a_command_for_those_who_see_only_the_feed) {
    // Sweeps of every length around the buffer's size. The venue hands over the events in several batches. The private
    // cancellation of the remainder comes after the last public event.
    for (int fills = 1; fills <= 40; ++fills) {
        for (int i = 0; i < fills; ++i) apply(limit(1, side::sell, 100 + i, 1));
        command c = limit(2, side::buy, 1'000, static_cast<std::uint32_t>(fills) + 1);
        c.order_terms().time_in_force = domain::time_in_force::ioc;
        const auto events = apply(c);
        ASSERT_EQ(events.size(), static_cast<std::size_t>(10 * fills + 1));
        for (std::size_t i = 0; i < events.size(); ++i) {
            EXPECT_EQ((events[i].flags & domain::event_flag::last_of_command) != 0, i + 2 >= events.size())
                << "event " << i << " of " << events.size();
        }
        EXPECT_EQ(events[events.size() - 2].kind, event_kind::statistics);
        EXPECT_EQ(events.back().kind, event_kind::order_cancelled);
    }
}

TEST_F(facility_test, tells_the_feed_of_the_end_of_a_command_after_any_number_of_private_messages) {
    for (std::uint32_t waiting = 20; waiting <= 300; waiting += waiting < 75 ? 1 : 45) {
        rebuild({.orders_max = 1000});
        command stop = limit(3, side::sell, 0, 1);
        stop.order_terms().type = domain::order_type::stop;
        stop.enter_order().trigger_price = domain::price_ticks{100};
        for (std::uint32_t i = 0; i < waiting; ++i) {
            EXPECT_EQ(names(apply(stop)), (strings{"order_entered"})) << "only its owner sees a waiting order";
        }
        apply(limit(1, side::buy, 100, 1));
        // The one trade at 100 triggers all of them. No order is left to trade with.
        const auto events = apply(limit(2, side::sell, 100, 1));
        const bool owes = 2 * waiting > 64;
        ASSERT_EQ(events.size(), 10U + 2U * waiting + (owes ? 1U : 0U));
        std::size_t public_marks = 0;
        for (const event& e : events) {
            public_marks += domain::is_public(e.kind) && (e.flags & domain::event_flag::last_of_command) != 0 ? 1U : 0U;
        }
        EXPECT_EQ(public_marks, 1U);
        EXPECT_EQ(events.back().flags & domain::event_flag::last_of_command, domain::event_flag::last_of_command);
        EXPECT_EQ(venue_->open_orders_count(), 0U);
    }
}

TEST_F(facility_test, refuses_a_post_only_order_that_would_trade_and_rests_one_that_would_not) {
    apply(limit(2, side::sell, 100, 3));
    command c = limit(1, side::buy, 100, 5);
    c.enter_order().flags = domain::order_flag::post_only;
    EXPECT_EQ(reason_of(apply(c)), reject_reason::would_take_liquidity);
    c.enter_order().price = domain::price_ticks{99};
    EXPECT_EQ(apply(c).size(), 4U);
}

TEST_F(facility_test, amends_quantity_down_in_place_and_everything_else_at_the_back) {
    const domain::order_id first = apply(limit(1, side::buy, 100, 5))[0].order.order;
    apply(limit(2, side::buy, 100, 5));
    EXPECT_EQ(names(apply(amend(1, first, 100, 5))), (strings{"order_amended"})) << "changes nothing";
    EXPECT_EQ(names(apply(amend(1, first, 100, 3))),
              (strings{"order_amended", "order_reduced", "level_changed", "top_of_book"}));
    EXPECT_EQ(apply(limit(3, side::sell, 100, 1))[1].execution.order, first) << "priority was kept";
    const auto up = apply(amend(1, first, 100, 9));
    EXPECT_EQ(names(up), (strings{"order_amended", "order_deleted", "level_changed", "top_of_book", "order_added",
                                  "level_changed", "top_of_book"}));
    EXPECT_EQ(up[0].order.quantity.value, 8U) << "the new total counts what has been filled";
    EXPECT_NE(apply(limit(3, side::sell, 100, 1))[1].execution.order, first) << "priority was lost";
    EXPECT_EQ(names(apply(amend(1, first, 100, 1)))[0], "order_cancelled") << "no more than has been filled";
}

TEST_F(facility_test, lets_an_amended_order_trade_as_if_it_entered) {
    const domain::order_id bid = apply(limit(1, side::buy, 99, 5))[0].order.order;
    apply(limit(2, side::sell, 100, 5));
    const auto events = apply(amend(1, bid, 100, 5));
    strings expected{"order_amended", "order_deleted", "level_changed", "top_of_book"};
    expected.insert(expected.end(), fill_messages.begin(), fill_messages.end());
    EXPECT_EQ(names(events), expected);
    EXPECT_EQ(events[0].flags, domain::event_flag::last_of_request);
    EXPECT_EQ(events[4].flags, domain::event_flag::aggressor);
    EXPECT_EQ(venue_->open_orders_count(), 0U);
}

TEST_F(facility_test, cancels_both_sides_of_every_market_with_four_messages_per_order) {
    for (std::uint32_t id : {1U, 7U}) {
        for (const side s : {side::buy, side::sell}) {
            command c = limit(1, s, s == side::buy ? 99 : 101, 5);
            c.instrument = domain::instrument_id{id};
            apply(c);
        }
    }
    apply(limit(2, side::buy, 90, 5));
    command all = cancel(1);
    all.kind = command_kind::cancel_orders;
    const auto events = apply(all);
    ASSERT_EQ(events.size(), 16U);
    std::size_t answers = 0;
    for (const event& e : events) answers += (e.flags & domain::event_flag::last_of_request) != 0 ? 1U : 0U;
    EXPECT_EQ(answers, 1U);
    EXPECT_EQ(events[12].flags, domain::event_flag::last_of_request);
    EXPECT_EQ(venue_->open_orders_count(), 1U);
}

TEST_F(facility_test, cancels_only_the_orders_of_one_session_or_one_instrument) {
    apply(limit(1, side::buy, 90, 5));
    command other = limit(1, side::buy, 91, 5);
    other.session = domain::session_id{555};
    other.instrument = domain::instrument_id{7};
    apply(other);
    command mine = cancel(1);
    mine.kind = command_kind::cancel_orders;
    mine.cancel_orders().scope = domain::cancel_scope::session;
    mine.set_request(1);
    EXPECT_EQ(apply(mine).size(), 4U);
    EXPECT_EQ(reason_of(apply(mine)), reject_reason::nothing_to_cancel);
    mine.cancel_orders().scope = domain::cancel_scope::account;
    mine.instrument = domain::instrument_id{1};
    EXPECT_EQ(reason_of(apply(mine)), reject_reason::nothing_to_cancel);
    mine.instrument = domain::instrument_id{7};
    EXPECT_EQ(apply(mine).size(), 5U) << "with a copy for the session that asked";
}

TEST_F(facility_test, refuses_orders_beyond_its_capacity_and_recovers_when_there_is_room) {
    rebuild({.orders_max = 2});
    const domain::order_id first = apply(limit(1, side::buy, 90, 5))[0].order.order;
    apply(limit(1, side::buy, 91, 5));
    EXPECT_EQ(reason_of(apply(limit(1, side::buy, 92, 5))), reject_reason::book_full);
    command c = cancel(1);
    c.cancel_order().order = first;
    apply(c);
    EXPECT_EQ(apply(limit(1, side::buy, 92, 5)).size(), 4U);
    rebuild({.orders_max = 16, .positions_max = 1});
    apply(limit(1, side::buy, 90, 5));
    EXPECT_EQ(reason_of(apply(limit(2, side::buy, 90, 5))), reject_reason::book_full);
    EXPECT_EQ(apply(limit(1, side::buy, 90, 5)).size(), 4U);
}

TEST_F(facility_test, indexes_only_as_many_positions_as_there_are_pairs_of_account_and_instrument) {
#if defined(CORRO_SANITIZED)
    GTEST_SKIP() << "a sanitizer's notes about memory take memory too";
#endif
    const std::size_t before = base::resident_bytes();
    if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
    rebuild({.orders_max = 16, .positions_max = 1U << 22});
    EXPECT_LT(base::resident_bytes(), before + (std::size_t{64} << 20U)) << "an index of all would take 128 MiB more";
}

TEST_F(facility_test, occupies_128_bytes_at_the_start_for_each_order_that_it_has_room_for) {
#if defined(CORRO_SANITIZED)
    GTEST_SKIP() << "a sanitizer's notes about memory take memory too";
#endif
    const std::size_t before = base::resident_bytes();
    if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
    constexpr std::uint32_t orders_max = 1U << 20;
    const facility venue({.orders_max = orders_max, .accounts_max = 1024, .positions_max = orders_max}, instruments_,
                         recorder_);
    const std::size_t taken = base::resident_bytes() - before;
    RecordProperty("resident_bytes", std::to_string(taken));
    EXPECT_LE(taken, std::size_t{orders_max} * 128);
    EXPECT_GT(taken, std::size_t{orders_max} * 96) << "every page that each order uses is touched at construction";
}

}  // namespace
}  // namespace corro::facility
