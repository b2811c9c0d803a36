// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "facility_reference/differential.hpp"
#include "matching/limits.hpp"

namespace corro::facility::testing {
namespace {

using domain::command;
using domain::side;

/// CORRO_OPERATIONS=N makes the run longer or shorter.
[[nodiscard]] std::uint64_t operations_wanted() {
    const char* given = std::getenv("CORRO_OPERATIONS");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 1'000'000;
}

TEST(facility_model, agrees_with_the_reference_on_every_event_and_state_of_a_million_random_commands) {
    base::prng seeds{base::test_seed()};
    constexpr std::uint64_t operations_per_run = 2'000;
    for (std::uint64_t done = 0; done < operations_wanted(); done += operations_per_run) {
        const std::string difference = run_differential(seeds(), operations_per_run);
        ASSERT_EQ(difference, "");
    }
}

/// Two months and their calendar spread, which imply prices in one another.
[[nodiscard]] std::vector<domain::instrument> triangle() {
    std::vector<domain::instrument> all{wide_instrument(1), wide_instrument(2), wide_instrument(3)};
    for (domain::instrument& i : all) i.product = domain::product_id{1};
    all[2].kind = domain::instrument_kind::spread;
    all[2].implied = true;
    all[2].legs_count = 2;
    all[2].legs[0] = {all[0].id, 1, domain::side::buy};
    all[2].legs[1] = {all[1].id, 1, domain::side::sell};
    return all;
}

/// An order ends because it takes too many steps at implied prices. It is entered, amended into reach, one side of a
/// quote, or triggered. 1,280 single lots of June are offered, one after the other, and more than enough spreads.
void take_too_many_steps(domain::command_kind kind, bool waits) {
    const std::vector<domain::instrument> instruments = triangle();
    twin both({.orders_max = 16, .accounts_max = 4, .positions_max = 32, .window_bits = 6}, instruments);
    std::uint64_t sequence = 0;
    const auto apply = [&](command c, std::uint32_t instrument) {
        c.sequence = domain::sequence_number{++sequence};
        c.instrument = domain::instrument_id{instrument};
        ASSERT_EQ(both.apply(c), "");
    };
    for (int i = 0; i < 5; ++i) {
        command june = limit(1, side::sell, 105, 256);
        june.enter_order().display_quantity = domain::quantity_lots{1};
        apply(june, 2);
    }
    apply(limit(2, side::sell, -5, 100'000), 3);
    apply(limit(3, side::sell, 100, 7), 1);
    apply(limit(3, side::sell, 101, 7), 1);
    command last = limit(0, side::buy, 102, 5'000, 77);
    if (waits) {
        command stop = last;
        stop.order_terms().type = domain::order_type::stop_limit;
        stop.enter_order().trigger_price = domain::price_ticks{100};
        apply(stop, 1);
        last = limit(3, side::buy, 100, 1);
    } else if (kind == domain::command_kind::amend_order) {
        apply(limit(0, side::buy, 90, 5'000, 77), 1);
    }
    last.kind = kind;
    apply(last, 1);
    std::uint64_t implied = 0;
    std::uint64_t cancelled = 0;
    for (const domain::event& e : both.events()) {
        const bool is_implied = (e.flags & domain::event_flag::implied) != 0;
        if (e.kind == domain::event_kind::trade && e.instrument.value == 1 && is_implied) ++implied;
        const bool is_bounded = e.reason == domain::reject_reason::implied_limit;
        if (e.kind == domain::event_kind::order_cancelled && is_bounded) cancelled += e.order.quantity.value;
    }
    EXPECT_EQ(implied, implied_steps_max);
    EXPECT_EQ(cancelled, 5'000 - implied_steps_max - (waits ? 6U : 7U)) << "the direct lots at 100 come first";
}

TEST(facility_model, agrees_with_the_reference_on_an_order_that_takes_too_many_steps_at_implied_prices) {
    take_too_many_steps(domain::command_kind::enter_order, false);
    take_too_many_steps(domain::command_kind::amend_order, false);
    take_too_many_steps(domain::command_kind::enter_quote, false);
    take_too_many_steps(domain::command_kind::enter_order, true);
}

/// Fill-or-kill orders and minimum quantities against a book with the largest number of orders that a check may count,
/// and one more.
TEST(facility_model, agrees_with_the_reference_on_orders_that_want_more_than_may_be_counted) {
    constexpr std::uint32_t most = matching::fill_count_max;
    using domain::self_match_prevention;
    std::uint64_t refused_for_count = 0;
    std::uint64_t filled = 0;
    for (const bool shares : {false, true}) {
        for (const bool one_price : {false, true}) {
            domain::instrument instrument = wide_instrument(1);
            if (shares) instrument.allocation.algorithm = domain::match_algorithm::pro_rata;
            twin both({.orders_max = 2 * most, .accounts_max = 4, .positions_max = 8}, std::array{instrument});
            std::uint64_t sequence = 0;
            const auto apply = [&](command c) {
                c.sequence = domain::sequence_number{++sequence};
                const std::string difference = both.apply(c);
                EXPECT_EQ(difference, "");
                for (const domain::event& e : both.events()) {
                    refused_for_count += e.reason == domain::reject_reason::count_limit ? 1U : 0U;
                    filled += e.kind == domain::event_kind::trade ? 1U : 0U;
                }
            };
            for (std::uint32_t i = 0; i < most; ++i) {
                command c = limit(1, side::sell, one_price ? 100 : 100 + std::int64_t{i}, 2);
                if (i % 3 == 0) c.enter_order().display_quantity = domain::quantity_lots{1};
                apply(c);
            }
            apply(limit(2, side::sell, 5'000, 1));
            for (const std::uint32_t account : {0U, 2U}) {
                for (const auto mode : {self_match_prevention::none, self_match_prevention::cancel_newest,
                                        self_match_prevention::cancel_resting}) {
                    for (const std::uint32_t wanted : {2 * most + 2, 2 * most + 1, 2 * most}) {
                        if (wanted == 2 * most && (account == 0 || mode != self_match_prevention::cancel_resting)) {
                            continue;  // it would trade; one case is enough
                        }
                        for (const std::int64_t price : {5'000, 4'999}) {
                            command c = limit(account, side::buy, price, wanted);
                            c.order_terms().time_in_force = domain::time_in_force::fok;
                            c.enter_order().self_match_prevention = mode;
                            if (wanted > 2 * most) apply(c);
                            c.order_terms().time_in_force = domain::time_in_force::ioc;
                            c.enter_order().minimum_quantity = c.enter_order().quantity;
                            apply(c);
                            if (::testing::Test::HasFailure()) return;
                        }
                    }
                }
            }
        }
    }
    EXPECT_GT(refused_for_count, 10U);
    EXPECT_GE(filled, 4U * most) << "what just may be counted trades";
}

/// Many orders, icebergs among them, cancels and amendments in an auction. Between none and more levels cross than
/// the indicative price looks at. The venue keeps its place in the book between commands; the reference starts at
/// the best prices each time.
TEST(facility_model, agrees_with_the_reference_on_indicative_prices_in_a_storm) {
    base::prng random{base::test_seed()};
    for (const std::uint64_t reach : {3U, 40U, 700U}) {
        twin both({.orders_max = 4'096, .accounts_max = 4, .positions_max = 8, .window_bits = 6},
                  std::array{wide_instrument(1)});
        std::uint64_t sequence = 0;
        std::uint64_t indicatives = 0;
        const auto apply = [&](command c) {
            c.sequence = domain::sequence_number{++sequence};
            ASSERT_EQ(both.apply(c), "");
            for (const domain::event& e : both.events()) {
                indicatives += e.kind == domain::event_kind::auction_indicative ? 1U : 0U;
            }
        };
        command phase;
        phase.kind = domain::command_kind::change_phase;
        phase.change_phase().phase = domain::trading_phase::opening_auction;
        phase.set_operator(true);
        apply(phase);
        const std::uint64_t commands = reach == 700 ? 2'600 : 1'000;
        for (std::uint64_t i = 1; i <= commands && !::testing::Test::HasFatalFailure(); ++i) {
            const bool buys = random.below(2) == 0;
            // Often at the ends of the crossed range, sometimes with lots for many levels.
            const auto away =
                static_cast<std::int64_t>(random.below(reach + reach / 4 + 1)) - static_cast<std::int64_t>(reach / 4);
            const auto lots =
                static_cast<std::uint32_t>(random.below(20) == 0 ? 1 + random.below(reach * 4) : 1 + random.below(5));
            command c = limit(1 + (i & 1), buys ? side::buy : side::sell, buys ? away : -away, lots, i);
            const std::uint64_t dice = random.below(10);
            if (dice < 5 || i < 20 || (reach == 700 && i < 2'200 && dice < 9)) {
                if (random.below(6) == 0) c.enter_order().display_quantity = domain::quantity_lots{1 + lots / 8};
            } else {
                c.kind = dice < 8 ? domain::command_kind::cancel_order : domain::command_kind::amend_order;
                const std::uint64_t named = 1 + random.below(i - 1);
                c.account = domain::account_id{static_cast<std::uint32_t>(1 + (named & 1))};
                c.client_order = domain::client_order_id{named};
                if (random.below(3) == 0 && c.kind == domain::command_kind::amend_order) {
                    c.amend_order().flags = domain::amend_flag::display_quantity;
                    c.amend_order().display_quantity = domain::quantity_lots{1 + lots / 4};
                }
            }
            apply(c);
        }
        EXPECT_GT(indicatives, commands / 8);
        phase.change_phase().phase = domain::trading_phase::continuous;
        apply(phase);
    }
}

/// Two months resume together, with a bid and an offer that the spread links by now. The trades trip the circuit
/// breakers of both. The first one halts all three books; the second one, though halted already, makes the halt longer.
TEST(facility_model, agrees_with_the_reference_on_books_that_go_on_and_break_their_circuits_one_after_the_other) {
    std::vector<domain::instrument> instruments = triangle();
    for (std::size_t i = 0; i < 2; ++i) {
        instruments[i].breaker_move = 1;
        instruments[i].breaker_window = 1'000;
        instruments[i].breaker_halt = i == 0 ? 100 : 200;
    }
    twin both({.orders_max = 16, .accounts_max = 4, .positions_max = 32, .window_bits = 6}, instruments);
    std::uint64_t sequence = 0;
    const auto apply = [&](command c, std::uint32_t instrument, std::int64_t time = 0) {
        c.sequence = domain::sequence_number{++sequence};
        c.time = domain::time_ns{time};
        c.instrument = domain::instrument_id{instrument};
        ASSERT_EQ(both.apply(c), "");
    };
    for (const std::uint32_t month : {1U, 2U}) {
        const std::int64_t price = month == 1 ? 100 : 105;
        apply(limit(1, side::sell, price, 1), month);
        apply(limit(2, side::buy, price, 1), month);
    }
    apply(limit(1, side::buy, 103, 5), 1);
    apply(limit(2, side::sell, 108, 5), 2);
    for (const std::uint32_t month : {1U, 2U}) {
        command halt;
        halt.kind = domain::command_kind::change_phase;
        halt.set_operator(true);
        halt.change_phase().phase = domain::trading_phase::halted;
        halt.change_phase().resume_time = domain::time_ns{10};
        apply(halt, month);
    }
    apply(limit(3, side::sell, -5, 5), 3);
    apply(limit(3, side::sell, 50, 1), 3, 10);
    std::uint64_t halted_first = 0;
    std::uint64_t halted_longer = 0;
    for (const domain::event& e : both.events()) {
        if (e.kind != domain::event_kind::phase_changed || e.reason != domain::reject_reason::circuit_breaker) continue;
        ++(e.phase.resume_time.value == 110 ? halted_first : halted_longer);
    }
    EXPECT_EQ(halted_first, 3U);
    EXPECT_EQ(halted_longer, 3U);
}

/// Queries orders page by page as long as an answer announces more. Returns the orders in the order of the answers.
/// Stores the size of the largest answer in `answer_max`.
std::vector<domain::order_id> ask_for_all(twin& both, command query, std::uint64_t& sequence, std::size_t& answer_max) {
    std::vector<domain::order_id> told;
    for (bool more = true; more;) {
        query.sequence = domain::sequence_number{++sequence};
        EXPECT_EQ(both.apply(query), "");
        answer_max = std::max(answer_max, both.events().size());
        more = false;
        for (const domain::event& e : both.events()) {
            if (e.kind != domain::event_kind::order_status) continue;
            EXPECT_FALSE(more) << "only the last status of a page announces more";
            if ((e.flags & domain::event_flag::only_a_place) == 0) told.push_back(e.order.order);
            more = (e.flags & domain::event_flag::more_behind) != 0;
            query.query_order().order = e.order.order;
        }
        query.query_order().flags |= domain::query_flag::behind;
        EXPECT_EQ(both.events().back().kind, domain::event_kind::request_done);
    }
    return told;
}

/// Enters `orders` orders of account 1, every second one through another session.
void fill_account(twin& both, std::uint32_t orders, std::uint64_t& sequence) {
    for (std::uint32_t i = 0; i < orders; ++i) {
        command c = limit(1, side::buy, 90 + i % 7, 1);
        c.sequence = domain::sequence_number{++sequence};
        if (i % 2 != 0) c.session = domain::session_id{7};
        ASSERT_EQ(both.apply(c), "");
    }
}

TEST(facility_model, N6_a_query_of_all_is_answered_by_a_page_however_many_orders_are_open) {
    for (const std::uint32_t open : {300U, 600U, 1'200U}) {
        twin both({.orders_max = 1'300, .accounts_max = 4, .positions_max = 32, .window_bits = 6}, triangle());
        std::uint64_t sequence = 0;
        fill_account(both, open, sequence);
        for (const std::uint8_t scope : {domain::query_flag::all_of_account, domain::query_flag::all_of_session}) {
            command query = limit(1, side::buy, 0, 0);
            query.kind = domain::command_kind::query_order;
            query.query_order().flags = scope;
            std::size_t answer_max = 0;
            const std::vector<domain::order_id> told = ask_for_all(both, query, sequence, answer_max);
            EXPECT_LE(answer_max, domain::query_orders_max + 1) << open << " open orders";
            EXPECT_EQ(told.size(), scope == domain::query_flag::all_of_account ? open : open / 2);
            EXPECT_TRUE(std::is_sorted(told.begin(), told.end(), [](domain::order_id a, domain::order_id b) {
                return (a.value & UINT32_MAX) < (b.value & UINT32_MAX);
            }));
        }
    }
}

TEST(facility_model, N6_a_query_of_one_session_looks_at_a_bounded_number_of_the_others_orders) {
    twin both({.orders_max = 5'000, .accounts_max = 4, .positions_max = 32, .window_bits = 6}, triangle());
    std::uint64_t sequence = 0;
    for (std::uint32_t i = 0; i < domain::query_looks_max + 10; ++i) {
        command c = limit(1, side::buy, 90 + i % 7, 1);
        c.session = domain::session_id{7};
        c.sequence = domain::sequence_number{++sequence};
        ASSERT_EQ(both.apply(c), "");
    }
    command mine = limit(1, side::buy, 90, 1);
    mine.sequence = domain::sequence_number{++sequence};
    ASSERT_EQ(both.apply(mine), "");
    command query = mine;
    query.kind = domain::command_kind::query_order;
    query.query_order().flags = domain::query_flag::all_of_session;
    query.sequence = domain::sequence_number{++sequence};
    ASSERT_EQ(both.apply(query), "");
    ASSERT_EQ(both.events().size(), 2U) << "a place to go on from, and the end";
    EXPECT_EQ(both.events()[0].flags, domain::event_flag::more_behind | domain::event_flag::only_a_place);
    std::size_t answer_max = 0;
    EXPECT_EQ(ask_for_all(both, query, sequence, answer_max).size(), 1U);
}

/// Queries positions page by page. Returns the signed lots by instrument, and the size of the largest answer.
std::map<std::uint32_t, std::int64_t> ask_for_positions(twin& both, std::uint32_t account, std::uint64_t& sequence,
                                                        std::size_t& answer_max) {
    std::map<std::uint32_t, std::int64_t> told;
    command query = limit(account, side::buy, 0, 0);
    query.kind = domain::command_kind::query_order;
    query.instrument = {};
    query.query_order().flags = domain::query_flag::positions;
    for (bool more = true; more;) {
        query.sequence = domain::sequence_number{++sequence};
        EXPECT_EQ(both.apply(query), "");
        const std::vector<domain::event> events = both.events();
        answer_max = std::max(answer_max, events.size());
        EXPECT_EQ(events.front().position.count, events.size() - 1) << "it counts what follows";
        for (const domain::event& e : events) {
            EXPECT_EQ(e.kind, domain::event_kind::position_reported);
            EXPECT_EQ(e.position.account.value, account);
            EXPECT_EQ((e.flags & domain::event_flag::last_of_request) != 0, &e == &events.back());
            if (e.instrument.value == 0) continue;
            const auto lots = static_cast<std::int64_t>(e.position.quantity.value);
            EXPECT_TRUE(told.emplace(e.instrument.value, e.side == side::buy ? lots : -lots).second) << "told twice";
        }
        more = (events.back().flags & domain::event_flag::more_behind) != 0;
        query.instrument = events.back().instrument;
        query.query_order().flags |= domain::query_flag::behind;
    }
    std::erase_if(told, [](const auto& each) { return each.second == 0; });  // the place that a page ends at
    return told;
}

std::vector<domain::instrument> futures(std::uint32_t count) {
    std::vector<domain::instrument> all;
    for (std::uint32_t id = 1; id <= count; ++id) {
        domain::instrument i = triangle().front();
        i.id = domain::instrument_id{id};
        i.name = domain::symbol("F" + std::to_string(id));
        all.push_back(i);
    }
    return all;
}

/// Account 1 sells a lot of the instrument to account 2.
void trade_one(twin& both, std::uint32_t instrument, std::uint64_t& sequence) {
    for (const std::uint32_t account : {1U, 2U}) {
        command c = limit(account, account == 1 ? side::sell : side::buy, 90, 1);
        c.instrument = domain::instrument_id{instrument};
        c.sequence = domain::sequence_number{++sequence};
        ASSERT_EQ(both.apply(c), "");
    }
}

TEST(facility_model, N6_a_query_of_positions_is_answered_by_pages_however_many_there_are) {
    for (const std::uint32_t count : {3U, 256U, 257U, 700U}) {
        twin both({.orders_max = 16, .accounts_max = 4, .positions_max = 2'000, .window_bits = 6}, futures(count));
        std::uint64_t sequence = 0;
        for (std::uint32_t i = 1; i <= count; ++i) ASSERT_NO_FATAL_FAILURE(trade_one(both, i, sequence));
        std::size_t answer_max = 0;
        for (const std::uint32_t account : {1U, 2U, 3U}) {
            const auto told = ask_for_positions(both, account, sequence, answer_max);
            EXPECT_EQ(told.size(), account == 3 ? 0 : count);
            for (const auto& [instrument, lots] : told) EXPECT_EQ(lots, account == 1 ? -1 : 1) << instrument;
        }
        EXPECT_EQ(answer_max, 1 + std::min(count, domain::query_orders_max));
    }
}

TEST(facility_model, N6_a_query_of_positions_looks_at_a_bounded_number_of_instruments) {
    constexpr std::uint32_t count = domain::query_looks_max + 10;
    twin both({.orders_max = 16, .accounts_max = 4, .positions_max = 32, .window_bits = 6}, futures(count));
    std::uint64_t sequence = 0;
    trade_one(both, count, sequence);
    command query = limit(1, side::buy, 0, 0);
    query.kind = domain::command_kind::query_order;
    query.instrument = {};
    query.query_order().flags = domain::query_flag::positions;
    query.sequence = domain::sequence_number{++sequence};
    ASSERT_EQ(both.apply(query), "");
    ASSERT_EQ(both.events().size(), 2U) << "the count, and a place to go on from";
    EXPECT_EQ(both.events()[1].instrument.value, domain::query_looks_max);
    EXPECT_EQ(both.events()[1].position.quantity.value, 0U);
    std::size_t answer_max = 0;
    EXPECT_EQ(ask_for_positions(both, 1, sequence, answer_max), (std::map<std::uint32_t, std::int64_t>{{count, -1}}));
}

TEST(facility_model, positions_are_those_of_the_asking_account_in_the_instrument_that_is_named) {
    twin both({.orders_max = 16, .accounts_max = 4, .positions_max = 32, .window_bits = 6}, futures(3));
    std::uint64_t sequence = 0;
    trade_one(both, 2, sequence);
    const auto ask = [&](std::uint32_t account, std::uint32_t instrument, std::uint8_t flags = 0) {
        command query = limit(account, side::buy, 0, 0);
        query.kind = domain::command_kind::query_order;
        query.instrument = domain::instrument_id{instrument};
        query.query_order().flags = domain::query_flag::positions | flags;
        query.sequence = domain::sequence_number{++sequence};
        EXPECT_EQ(both.apply(query), "");
        return both.events();
    };
    EXPECT_EQ(ask(2, 1).size(), 1U) << "there is none in it";
    ASSERT_EQ(ask(2, 2).size(), 2U);
    EXPECT_EQ(ask(2, 2)[1].side, side::buy);
    EXPECT_EQ(ask(2, 2)[1].position.last.value, 90);
    EXPECT_EQ(ask(1, 2)[1].side, side::sell);
    EXPECT_EQ(ask(3, 2).size(), 1U);
    EXPECT_EQ(ask(2, 1, domain::query_flag::behind).size(), 2U);
    EXPECT_EQ(ask(2, 2, domain::query_flag::behind).size(), 1U);
    EXPECT_EQ(ask(2, 3, domain::query_flag::behind).size(), 1U) << "nothing is behind the last instrument";
    for (const std::uint32_t unknown : {4U, 9'999U}) {
        EXPECT_EQ(ask(2, unknown).front().reason, domain::reject_reason::unknown_instrument);
    }
    EXPECT_EQ(ask(2, 0, domain::query_flag::behind).front().reason, domain::reject_reason::unknown_instrument);
}

TEST(facility_model, a_query_behind_an_order_that_is_gone_or_of_another_account_is_refused) {
    twin both({.orders_max = 16, .accounts_max = 4, .positions_max = 32, .window_bits = 6}, triangle());
    std::uint64_t sequence = 0;
    const auto apply = [&](command c) {
        c.sequence = domain::sequence_number{++sequence};
        EXPECT_EQ(both.apply(c), "");
        return both.events();
    };
    const domain::order_id first = apply(limit(1, side::buy, 90, 1)).front().order.order;
    apply(limit(1, side::buy, 91, 1));
    command query = limit(1, side::buy, 0, 0);
    query.kind = domain::command_kind::query_order;
    query.query_order().flags = domain::query_flag::all_of_account | domain::query_flag::behind;
    query.query_order().order = first;
    EXPECT_EQ(apply(query).size(), 2U) << "the second order, and the end";
    command foreign = query;
    foreign.account = domain::account_id{2};
    EXPECT_EQ(apply(foreign).front().reason, domain::reject_reason::unknown_order);
    command cancel = query;
    cancel.kind = domain::command_kind::cancel_order;
    cancel.cancel_order() = {};
    cancel.cancel_order().order = query.query_order().order;
    apply(cancel);
    EXPECT_EQ(apply(query).front().reason, domain::reject_reason::order_not_open);
    for (const int flags : {3, 4, 7, 9, 10, 13, 16, 24}) {
        query.query_order().flags = static_cast<std::uint8_t>(flags);
        EXPECT_EQ(apply(query).front().reason, domain::reject_reason::invalid_combination) << flags;
    }
}

TEST(facility_model, notices_each_of_the_defects_that_can_be_put_in) {
    base::prng seeds{base::test_seed()};
    for (int mistake = 1; mistake < static_cast<int>(defect::count_); ++mistake) {
        bool is_noticed = false;
        for (int run = 0; run < 400 && !is_noticed; ++run) {
            is_noticed = !run_differential(seeds(), 2'000, static_cast<defect>(mistake)).empty();
        }
        EXPECT_TRUE(is_noticed) << "defect " << mistake;
    }
}

}  // namespace
}  // namespace corro::facility::testing
