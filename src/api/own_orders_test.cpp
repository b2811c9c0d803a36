// SPDX-License-Identifier: Apache-2.0
#include "api/own_orders.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "api/private_text.hpp"
#include "domain/event.hpp"

namespace corro::api {
namespace {

using domain::event_kind;
using domain::side;

/// The answers of a session, as the venue sends them.
struct answers {
    answers() {
        in.id = domain::instrument_id{1};
        in.name = domain::symbol{"ONE"};
        in.tick_size = domain::price_nano{250'000'000};
        in.lot_size = 10;
    }

    domain::event of_order(event_kind kind, std::uint64_t order, std::uint32_t open, std::int64_t price = 40) {
        domain::event e = event(kind);
        e.order = domain::private_order{};
        e.order.order = domain::order_id{order};
        e.order.client_order = name;
        e.order.price = domain::price_ticks{price};
        e.order.quantity = domain::quantity_lots{open};
        return e;
    }
    domain::event fill(std::uint64_t order, std::uint32_t lots, std::uint32_t leaves, std::int64_t price = 40) {
        domain::event e = event(event_kind::order_executed);
        e.execution = domain::execution{};
        e.execution.order = domain::order_id{order};
        e.execution.client_order = name;
        e.execution.price = domain::price_ticks{price};
        e.execution.quantity = domain::quantity_lots{lots};
        e.execution.leaves = domain::quantity_lots{leaves};
        return e;
    }
    domain::event record(std::uint64_t trade, std::uint64_t order, std::uint32_t lots, std::int64_t price = 40) {
        domain::event e = event(event_kind::trade_capture);
        e.capture = domain::capture{};
        e.capture.trade = domain::trade_id{trade};
        e.capture.order = domain::order_id{order};
        e.capture.price = domain::price_ticks{price};
        e.capture.quantity = domain::quantity_lots{lots};
        return e;
    }
    domain::event event(event_kind kind) {
        domain::event e;
        e.kind = kind;
        e.instrument = in.id;
        e.side = direction;
        e.time = domain::time_ns{++now * 1'000'000};
        return e;
    }
    own_change take(const domain::event& e) { return orders.take(e, in); }

    domain::instrument in;
    domain::client_order_id name = id_of(order_mark{.label = label_value("a"), .counter = 7});
    side direction = side::buy;
    std::int64_t now = 0;
    own_orders orders;
};

TEST(order_label, terms_survive_in_the_id) {
    for (const std::string& label : {std::string(), std::string("a"), std::string("bot-1"), std::string("~~~~~~"),
                                     std::string("000000"), std::string("0"), std::string("00")}) {
        for (const auto lasts : {domain::time_in_force::gtc, domain::time_in_force::day, domain::time_in_force::ioc,
                                 domain::time_in_force::fok}) {
            order_mark mark;
            mark.label = label_value(label);
            mark.lasts = lasts;
            mark.post_only = lasts == domain::time_in_force::day;
            mark.counter = label_counter_end - 1;
            const domain::client_order_id id = id_of(mark);
            EXPECT_EQ(id.value >> 62U, 1U);
            const order_mark back = mark_of(id);
            EXPECT_EQ(label_text(back.label), label);
            EXPECT_EQ(back.lasts, lasts);
            EXPECT_EQ(back.post_only, mark.post_only);
            EXPECT_EQ(back.counter, mark.counter);
        }
    }
    const std::uint64_t longer = label_value("a label of a longer kind");
    EXPECT_EQ(mark_of(id_of(order_mark{.label = longer})).label, longer);
    EXPECT_NE(longer, label_value("a label of a longer kinD"));
    EXPECT_TRUE(label_text(longer).starts_with("#")) << "its text is not in the id";
    EXPECT_EQ(long_label_value(label_text(longer)), longer) << "what the API answers names the same orders";
    for (const std::string text : {"", "#", "a", "#x", "#01", "#-1", "#1 ", "#274877906944", "274877906943"}) {
        EXPECT_EQ(long_label_value(text), std::nullopt) << text;
    }
    EXPECT_EQ(label_text(*long_label_value("#0")), "#0");
    EXPECT_EQ(label_text(*long_label_value("#274877906943")), "#274877906943");
    EXPECT_NE(label_value("\xc3\xa4"), label_value("\xc3\xb6")) << "other characters are hashed";
    EXPECT_EQ(mark_of(domain::client_order_id{17}).label, 0U) << "another client's id";
}

TEST(own_orders, an_order_rests_trades_changes_and_ends) {
    answers a;
    EXPECT_EQ(a.take(a.of_order(event_kind::order_entered, 5, 10)).order->open, 10U);
    EXPECT_TRUE(a.orders.uses(a.name));
    a.take(a.fill(5, 4, 6));
    const own_change traded = a.take(a.record(1, 5, 4));
    ASSERT_NE(traded.trade, nullptr);
    EXPECT_EQ(traded.trade->price_nano, 10'000'000'000);
    EXPECT_EQ(traded.position.value, 1U);
    a.take(a.of_order(event_kind::order_amended, 5, 3, 41));
    const own_order* order = a.orders.find(domain::order_id{5});
    EXPECT_EQ(order->total, 7U) << "4 are filled, 3 are open";
    EXPECT_EQ(order->price.value, 41);
    EXPECT_TRUE(order->was_replaced);
    a.take(a.fill(5, 1, 2, 45));
    a.take(a.record(2, 5, 1, 45));
    domain::event end = a.of_order(event_kind::order_cancelled, 5, 2, 41);
    end.reason = domain::reject_reason::expired;
    a.take(end);
    EXPECT_EQ(a.orders.open_count(), 0U);
    EXPECT_FALSE(a.orders.uses(a.name));
    order = a.orders.find(domain::order_id{5});
    ASSERT_NE(order, nullptr) << "a closed order is still known";
    std::string text;
    json_writer out(text);
    write_order(out, *order, a.in);
    EXPECT_EQ(text, R"({"order_id":"5","order_state":"cancelled","order_type":"limit","instrument_name":"ONE",)"
                    R"("direction":"buy","price":10.25,"amount":70,"filled_amount":50,"average_price":10.25,)"
                    R"("time_in_force":"good_til_cancelled","post_only":false,"reduce_only":false,"replaced":true,)"
                    R"("label":"a","creation_timestamp":1,"last_update_timestamp":7,"cancel_reason":"expired",)"
                    R"("api":true,"web":false})");
    EXPECT_EQ(a.orders.positions().at(1).lots, 5);
    EXPECT_EQ(a.orders.trades().size(), 2U);
}

TEST(own_orders, open_orders_are_in_the_order_of_their_first_answers) {
    // An id is a place of the venue's, and places are used again: the newest order may have the smallest id.
    answers a;
    for (const std::uint64_t id : {500U, 7U, 300U, 100U}) a.take(a.of_order(event_kind::order_entered, id, 10));
    a.take(a.of_order(event_kind::order_cancelled, 7, 10));
    a.take(a.of_order(event_kind::order_entered, 3, 10));
    a.take(a.of_order(event_kind::order_amended, 500, 8, 41));
    std::vector<std::uint64_t> ids;
    a.orders.for_each_open([&](const own_order& each) { ids.push_back(each.id.value); });
    EXPECT_EQ(ids, (std::vector<std::uint64_t>{500, 300, 100, 3}));
    EXPECT_EQ(a.orders.open_count(), 4U);
}

TEST(own_orders, one_that_fills_at_once_has_the_terms_that_were_announced) {
    answers a;
    a.direction = side::sell;
    a.orders.announce(a.name, domain::price_ticks{30}, 5);
    a.take(a.fill(9, 2, 3, 35));
    EXPECT_EQ(a.orders.find(domain::order_id{9})->state, own_state::open);
    a.take(a.fill(9, 3, 0, 33));
    const own_order* order = a.orders.find(domain::order_id{9});
    EXPECT_EQ(order->state, own_state::filled);
    EXPECT_EQ(order->price.value, 30);
    EXPECT_EQ(order->total, 5U);
    // The same without the announcement, as after a restart.
    answers b;
    b.take(b.fill(9, 2, 3, 35));
    b.take(b.fill(9, 3, 0, 33));
    order = b.orders.find(domain::order_id{9});
    EXPECT_EQ(order->state, own_state::filled);
    EXPECT_EQ(order->total, 5U);
    EXPECT_EQ(order->filled_nominal, 169U);
}

TEST(own_orders, positions_follow_trades_settlements_and_legs) {
    answers a;
    a.take(a.record(1, 5, 4));
    a.direction = side::sell;
    a.take(a.record(2, 6, 9));
    EXPECT_EQ(a.orders.positions().at(1).lots, -5);
    EXPECT_EQ(a.orders.positions().at(1).bought, 4U);
    a.direction = side::buy;
    a.take(a.record(0, 0, 5));
    EXPECT_EQ(a.orders.positions().at(1).lots, 0) << "a settlement closes it";
    EXPECT_EQ(a.orders.trades().size(), 2U) << "and is no trade";
    a.in.legs_count = 2;
    a.take(a.record(3, 7, 1));
    EXPECT_EQ(a.orders.positions().at(1).lots, 0) << "a strategy's position is in its legs";
    domain::event leg = a.event(event_kind::leg_capture);
    leg.instrument = domain::instrument_id{2};
    leg.leg_fill = domain::leg_fill{};
    leg.leg_fill.quantity = domain::quantity_lots{3};
    a.take(leg);
    EXPECT_EQ(a.orders.positions().at(2).lots, 3);
}

TEST(own_orders, after_missing_answers_orders_are_told_anew_and_may_miss_fills) {
    answers from;
    own_orders& all = from.orders;
    from.take(from.of_order(event_kind::order_entered, 7, 10));
    from.take(from.fill(7, 4, 6));
    EXPECT_FALSE(all.find(domain::order_id{7})->misses_fills);
    all.miss_answers();
    EXPECT_EQ(all.open_count(), 0U) << "it may have ended";
    EXPECT_FALSE(all.uses(from.name));
    from.take(from.of_order(event_kind::order_status, 7, 2));
    const own_order* const again = all.find(domain::order_id{7});
    ASSERT_NE(again, nullptr);
    EXPECT_TRUE(again->misses_fills);
    EXPECT_EQ(again->open, 2U);
    from.name = domain::client_order_id{from.name.value + 1};
    from.take(from.of_order(event_kind::order_entered, 8, 5));
    EXPECT_FALSE(all.find(domain::order_id{8})->misses_fills) << "all of its life is known";
    from.name = domain::client_order_id{from.name.value + 1};
    from.take(from.fill(9, 1, 3));
    EXPECT_TRUE(all.find(domain::order_id{9})->misses_fills) << "it begins with a fill";
    // One that is entered now, and trades at once, has been announced.
    from.name = domain::client_order_id{from.name.value + 1};
    all.announce(from.name, domain::price_ticks{40}, 3);
    from.take(from.fill(10, 1, 2));
    EXPECT_FALSE(all.find(domain::order_id{10})->misses_fills);
    EXPECT_EQ(all.find(domain::order_id{10})->total, 3U);
}

TEST(own_orders, closed_orders_and_trades_are_kept_up_to_a_limit) {
    answers a;
    for (std::uint64_t k = 1; k <= own_orders::closed_orders_kept + 5; ++k) {
        a.take(a.of_order(event_kind::order_entered, k, 1));
        a.take(a.fill(k, 1, 0));
        a.take(a.record(k, k, 1));
    }
    EXPECT_EQ(a.orders.find(domain::order_id{5}), nullptr);
    EXPECT_NE(a.orders.find(domain::order_id{6}), nullptr);
    EXPECT_EQ(a.orders.trades().size(), own_orders::own_trades_kept);
    EXPECT_EQ(a.orders.positions().at(1).lots, static_cast<std::int64_t>(own_orders::closed_orders_kept + 5));
}

}  // namespace
}  // namespace corro::api
