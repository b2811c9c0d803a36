// SPDX-License-Identifier: Apache-2.0
#include "matching/engine.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::matching {
namespace {

/// A sink as an outside program would write it.
struct tape {
    std::vector<fill> fills;
    std::vector<order_change> rests, removals, reductions;
    void filled(const fill& f) { fills.push_back(f); }
    void rested(const order_change& c) { rests.push_back(c); }
    void removed(const order_change& c, removal) { removals.push_back(c); }
    void reduced(const order_change& c, reduction) { reductions.push_back(c); }
    void refreshed(const order_change&) {}
    void aggressor_decremented(const decrement&) {}
};

entry order(domain::side side, std::int64_t price, std::uint32_t quantity, std::uint32_t account = 0) {
    return {.account = account,
            .side = side,
            .price = domain::price_ticks{price},
            .quantity = domain::quantity_lots{quantity}};
}

TEST(engine, matches_price_first_and_time_second) {
    engine e({.orders_max = 16});
    tape seen;
    const auto late_best = [&] {
        e.enter(order(domain::side::sell, 102, 1), seen);
        const auto first = e.enter(order(domain::side::sell, 101, 1), seen);
        e.enter(order(domain::side::sell, 101, 1), seen);
        return first.order;
    }();
    const entry_result result = e.enter(order(domain::side::buy, 102, 3, 1), seen);
    EXPECT_EQ(result.what, outcome::filled);
    ASSERT_EQ(seen.fills.size(), 3U);
    EXPECT_EQ(seen.fills[0].resting, late_best);
    EXPECT_EQ(seen.fills[0].level.price.value, 101);
    EXPECT_EQ(seen.fills[2].level.price.value, 102);
    EXPECT_EQ(e.open_orders_count(), 0U);
}

TEST(engine, gives_every_order_its_own_id_although_slots_are_reused) {
    engine e({.orders_max = 1});
    tape seen;
    const auto first = e.enter(order(domain::side::buy, 1, 1), seen);
    EXPECT_TRUE(e.full());
    e.cancel(engine::slot_of(first.order), seen);
    EXPECT_FALSE(e.is_open(first.order));
    EXPECT_TRUE(e.was_issued(first.order));
    EXPECT_FALSE(e.was_issued(e.next_id()));
    const auto second = e.enter(order(domain::side::buy, 1, 1), seen);
    EXPECT_EQ(engine::slot_of(second.order), engine::slot_of(first.order));
    EXPECT_NE(second.order, first.order);
    EXPECT_TRUE(e.is_open(second.order));
}

TEST(engine, does_not_use_up_the_id_of_an_order_that_it_refuses) {
    engine e({.orders_max = 4});
    tape seen;
    e.enter(order(domain::side::sell, 10, 1), seen);
    const domain::order_id next = e.next_id();
    entry own = order(domain::side::buy, 10, 1);
    own.self_match = domain::self_match_prevention::cancel_newest;
    EXPECT_EQ(e.enter(own, seen).reason, domain::reject_reason::self_match_prevented);
    own.rest = remainder::never_arises;
    EXPECT_EQ(e.enter(own, seen).reason, domain::reject_reason::insufficient_quantity);
    EXPECT_EQ(e.next_id(), next);
}

TEST(engine, lets_an_order_that_was_launched_trade_piece_by_piece) {
    engine e({.orders_max = 8});
    tape seen;
    e.enter(order(domain::side::sell, 10, 2), seen);
    e.enter(order(domain::side::sell, 11, 2), seen);
    e.enter(order(domain::side::sell, 12, 2), seen);
    const entry bid = order(domain::side::buy, 12, 8, 1);
    const domain::order_id id = e.next_id();
    aggressor incoming = e.launch(bid);
    e.trade(incoming, bid, domain::price_ticks{11}, seen);
    EXPECT_EQ(incoming.open, 4U) << "up to 11";
    incoming.open -= 3;  // traded in another book
    e.trade(incoming, bid, domain::no_price, seen);
    EXPECT_EQ(seen.fills.back().level.price.value, 12);
    const entry_result result = e.land(bid, incoming, seen);
    EXPECT_EQ(result.order, id);
    EXPECT_EQ(result.what, outcome::filled);
    EXPECT_EQ(e.open_orders_count(), 1U) << "one lot at 12";
    EXPECT_FALSE(e.is_open(id));
}

TEST(engine, does_not_use_up_the_id_of_a_launched_order_that_nobody_has_heard_of) {
    engine e({.orders_max = 8});
    tape seen;
    entry bid = order(domain::side::buy, 12, 8, 1);
    bid.rest = remainder::cancelled;
    const domain::order_id id = e.next_id();
    const aggressor incoming = e.launch(bid);
    EXPECT_EQ(e.land(bid, incoming, seen).what, outcome::refused);
    EXPECT_EQ(e.next_id(), id);
}

TEST(engine, takes_lots_from_the_first_order_for_trades_that_are_made_elsewhere) {
    engine e({.orders_max = 8});
    tape seen;
    const auto first = e.enter(order(domain::side::sell, 10, 2), seen);
    const auto second = e.enter(order(domain::side::sell, 10, 2), seen);
    EXPECT_EQ(e.first_order(0, domain::side::buy), engine::none);
    const std::uint32_t slot = e.first_order(0, domain::side::sell);
    EXPECT_EQ(slot, engine::slot_of(first.order));
    const crossing part = e.take(slot, 1);
    EXPECT_EQ(part.open, 1U);
    EXPECT_EQ(part.level.volume, 3U);
    e.finish_taking(part, seen);
    EXPECT_TRUE(e.is_open(first.order));
    e.finish_taking(e.take(slot, 1), seen);
    EXPECT_FALSE(e.is_open(first.order));
    EXPECT_EQ(e.first_order(0, domain::side::sell), engine::slot_of(second.order));
    EXPECT_TRUE(seen.fills.empty() && seen.removals.empty()) << "who made the trade tells of it";
}

TEST(engine, keeps_prices_at_both_ends_of_the_range_in_order) {
    engine e({.orders_max = 8});
    tape seen;
    for (const std::int64_t price : {-domain::price_ticks_max, std::int64_t{0}, domain::price_ticks_max}) {
        e.enter(order(domain::side::buy, price - (price > 0 ? 1 : 0), 1), seen);
    }
    EXPECT_EQ(e.best(0, domain::side::buy).price.value, domain::price_ticks_max - 1);
    std::vector<std::int64_t> prices;
    e.for_each_level(0, domain::side::buy, [&](const level_state& l) { prices.push_back(l.price.value); });
    EXPECT_EQ(prices, (std::vector<std::int64_t>{domain::price_ticks_max - 1, 0, -domain::price_ticks_max}));
    EXPECT_EQ(e.enter(order(domain::side::sell, -domain::price_ticks_max, 3, 1), seen).what, outcome::filled);
}

TEST(engine, gives_no_id_twice_but_retires_a_place_whose_ids_are_used_up) {
    constexpr std::uint32_t ids_per_place = (1U << 31U) - 1;
    engine e({.orders_max = 2});
    e.age(ids_per_place - 2);
    tape seen;
    std::set<std::uint64_t> given;
    for (int i = 0; i < 4; ++i) {
        ASSERT_FALSE(e.full());
        const domain::order_id expected = e.next_id();
        const entry_result result = e.enter(order(domain::side::buy, 5, 1), seen);
        EXPECT_EQ(result.order, expected);
        EXPECT_TRUE(given.insert(result.order.value).second) << "given twice";
        e.cancel(engine::slot_of(result.order), seen);
        EXPECT_FALSE(e.is_open(result.order));
        EXPECT_TRUE(e.was_issued(result.order));
        EXPECT_EQ(e.open_orders_count(), 0U);
    }
    EXPECT_EQ(e.retired_orders_count(), 2U);
    EXPECT_TRUE(e.full()) << "an id must never be reused";
    EXPECT_EQ(e.next_id().value, 0U);
}

TEST(engine, a_retired_place_stays_retired_when_it_is_saved_and_loaded) {
    constexpr std::uint32_t ids_per_place = (1U << 31U) - 1;
    engine e({.orders_max = 3});
    e.age(ids_per_place - 1);
    tape seen;
    const auto last_of_first = e.enter(order(domain::side::buy, 5, 1), seen);
    const auto stays = e.enter(order(domain::side::buy, 4, 1), seen);
    e.cancel(engine::slot_of(last_of_first.order), seen);
    ASSERT_EQ(e.retired_orders_count(), 1U);
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    base::archive to(sink);
    e.transfer(to);
    ASSERT_TRUE(to.finish());
    engine loaded({.orders_max = 3});
    base::memory_source source(bytes);
    base::archive from(source);
    loaded.transfer(from);
    ASSERT_TRUE(from.finish());
    EXPECT_EQ(loaded.retired_orders_count(), 1U);
    EXPECT_EQ(loaded.open_orders_count(), 1U);
    EXPECT_EQ(loaded.free_orders_count(), 1U);
    EXPECT_TRUE(loaded.is_open(stays.order));
    EXPECT_TRUE(loaded.was_issued(last_of_first.order));
}

/// All fields of what an engine reports when an order rests.
void expect_same(const order_change& a, const order_change& b) {
    EXPECT_EQ(a.order, b.order);
    EXPECT_EQ(a.slot, b.slot);
    EXPECT_EQ(a.account, b.account);
    EXPECT_EQ(a.open, b.open);
    EXPECT_EQ(a.change, b.change);
    EXPECT_EQ(a.hidden, b.hidden);
    EXPECT_EQ(a.taken, b.taken);
    EXPECT_EQ(a.level.book, b.level.book);
    EXPECT_EQ(a.level.side, b.level.side);
    EXPECT_EQ(a.level.is_waiting, b.level.is_waiting);
    EXPECT_EQ(a.level.top_changed, b.level.top_changed);
    EXPECT_EQ(a.level.orders_count, b.level.orders_count);
    EXPECT_EQ(a.level.price, b.level.price);
    EXPECT_EQ(a.level.volume, b.level.volume);
}

// In a book in time order, and in one whose policy has a top order.
TEST(engine, adds_an_order_as_it_enters_one_that_does_not_trade) {
    const engine_options options{.orders_max = 4'096, .accounts_max = 8, .books_count = 2, .window_bits = 6};
    engine entering(options);
    engine adding(options);
    for (engine* e : {&entering, &adding}) {
        e->set_policy(1, {.algorithm = domain::match_algorithm::allocation, .top_minimum = 3});
    }
    tape of_entering;
    tape of_adding;
    base::prng random{base::test_seed()};
    for (int i = 0; i < 2'000; ++i) {
        entry o = order(random.below(2) == 0 ? domain::side::buy : domain::side::sell,
                        static_cast<std::int64_t>(random.below(1'000)) - 500,
                        static_cast<std::uint32_t>(1 + random.below(5)), static_cast<std::uint32_t>(random.below(8)));
        o.book = static_cast<std::uint32_t>(random.below(2));
        const bool trades = entering.would_trade(o.book, o.side, o.price);
        ASSERT_EQ(adding.would_trade(o.book, o.side, o.price), trades);
        entering.enter(o, of_entering);
        if (trades) {
            adding.enter(o, of_adding);
        } else {
            adding.add(o.book, o.account, o.side, o.price, o.quantity.value, of_adding);
        }
        ASSERT_EQ(of_entering.rests.size(), of_adding.rests.size());
        if (!trades) {
            ASSERT_NO_FATAL_FAILURE(expect_same(of_entering.rests.back(), of_adding.rests.back()));
        }
        ASSERT_EQ(entering.top_order(o.book, o.side), adding.top_order(o.book, o.side));
        ASSERT_EQ(entering.next_id(), adding.next_id());
        ASSERT_EQ(entering.orders_count(o.account), adding.orders_count(o.account));
    }
    EXPECT_EQ(of_entering.fills.size(), of_adding.fills.size());
    EXPECT_FALSE(of_entering.fills.empty());
}

TEST(engine, cancels_an_account_oldest_first_and_counts) {
    engine e({.orders_max = 8, .accounts_max = 4, .books_count = 2});
    tape seen;
    entry other = order(domain::side::sell, 50, 1, 2);
    other.book = 1;
    const auto a = e.enter(order(domain::side::buy, 5, 1, 2), seen);
    const auto b = e.enter(other, seen);
    e.enter(order(domain::side::buy, 5, 1, 3), seen);
    EXPECT_EQ(e.cancel_account(2, [](std::uint32_t, std::uint32_t book) { return book == 1; }, seen), 1U);
    EXPECT_EQ(seen.removals.back().order, b.order);
    EXPECT_EQ(e.cancel_account(2, [](std::uint32_t, std::uint32_t) { return true; }, seen), 1U);
    EXPECT_EQ(seen.removals.back().order, a.order);
    EXPECT_FALSE(e.has_orders(2));
    EXPECT_TRUE(e.has_orders(3));
}

}  // namespace
}  // namespace corro::matching
