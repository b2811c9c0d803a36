// SPDX-License-Identifier: Apache-2.0
#include "api/channels.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/credits.hpp"
#include "api/json_value.hpp"
#include "api/json_writer.hpp"
#include "api/market_text.hpp"
#include "api/test_market.hpp"
#include "base/random.hpp"
#include "domain/instrument.hpp"

namespace corro::api {
namespace {

using domain::side;
using testing::test_market;

/// Keeps what it gets; rebuilds books.
class client final : public subscriber {
 public:
    void take(std::string_view message) override { messages.emplace_back(message); }
    [[nodiscard]] std::size_t waiting_bytes() const noexcept override { return waiting; }
    void end_slow() noexcept override { ended = true; }

    /// Applies all books since the last call. False if one does not follow the one before.
    bool apply() {
        for (const std::string& text : std::exchange(messages, {})) {
            const auto whole = parse_json(text);
            if (!whole) return false;
            const json_value& data = *whole->find("params")->find("data");
            const std::uint64_t id = number(data, "change_id");
            if (data.find("type")->text == "snapshot") {
                levels = {};
                ++snapshots;
            } else if (number(data, "prev_change_id") != change_id) {
                return false;
            }
            change_id = id;
            if (!apply_side(*data.find("bids"), levels[0]) || !apply_side(*data.find("asks"), levels[1])) return false;
        }
        return true;
    }
    /// Whether its book is that of the market.
    [[nodiscard]] bool has(const market& of) const {
        for (const side s : {side::buy, side::sell}) {
            std::map<std::int64_t, std::uint64_t> now;
            for (const auto& [rank, lots] : of.side(s)) {
                now[price_of(s, rank).value * of.terms.tick_size.value] = lots * of.terms.lot_size;
            }
            if (now != levels[static_cast<std::size_t>(s)]) return false;
        }
        return true;
    }

    std::vector<std::string> messages;
    std::size_t waiting = 0;
    bool ended = false;
    std::uint64_t change_id = 0;
    int snapshots = 0;
    std::array<std::map<std::int64_t, std::uint64_t>, 2> levels;  ///< amounts by billionths

 private:
    static std::uint64_t number(const json_value& data, std::string_view name) {
        return static_cast<std::uint64_t>(*scaled_integer(data.find(name)->text, 0));
    }
    static bool apply_side(const json_value& changes, std::map<std::int64_t, std::uint64_t>& to) {
        for (const json_value& each : changes.items) {
            const std::int64_t price = *scaled_integer(each.items[1].text, 9);
            const auto amount = static_cast<std::uint64_t>(*scaled_integer(each.items[2].text, 0));
            const std::string& action = each.items[0].text;
            const bool was_there = to.contains(price);
            if (action == "delete" ? !was_there || amount != 0 : was_there != (action == "change")) return false;
            if (action == "delete") {
                to.erase(price);
            } else {
                to[price] = amount;
            }
        }
        return true;
    }
};

TEST(channels, have_names_of_three_parts_and_instruments_may_have_dots) {
    const auto name = parse_channel("book.TWO.5.100ms");
    ASSERT_TRUE(name.has_value());
    EXPECT_EQ(name->kind, channel_kind::book);
    EXPECT_EQ(name->instrument, "TWO.5");
    EXPECT_EQ(name->interval, channel_interval::short_);
    for (const char* text : {"", "book", "book.raw", "book.ONE", "books.ONE.raw", "book.ONE.10ms", ".ONE.raw"}) {
        EXPECT_FALSE(parse_channel(text).has_value()) << text;
    }
    EXPECT_FALSE(parse_channel("book." + std::string(channel_name_bytes_max, 'X') + ".raw").has_value());
    test_market m;
    EXPECT_TRUE(m.publisher.exists("ticker.TWO.5.agg2"));
    EXPECT_FALSE(m.publisher.exists("ticker.THREE.agg2"));
}

TEST(channels, a_book_begins_with_a_snapshot_and_goes_on_with_changes) {
    test_market m;
    m.set_level(1, side::buy, 100, 5);
    client c;
    ASSERT_TRUE(m.publisher.subscribe("book.ONE.raw", c));
    ASSERT_EQ(c.messages.size(), 1U);
    EXPECT_EQ(c.messages[0], R"({"jsonrpc":"2.0","method":"subscription","params":{"channel":"book.ONE.raw","data":{)"
                             R"("type":"snapshot","timestamp":1700000000010,"instrument_name":"ONE","change_id":10,)"
                             R"("bids":[["new",25,5]],"asks":[]}}})");
    m.set_level(1, side::buy, 101, 7, false);
    EXPECT_EQ(c.messages.size(), 1U) << "the command has not ended";
    m.set_level(1, side::buy, 100, 0);
    ASSERT_EQ(c.messages.size(), 2U);
    EXPECT_EQ(c.messages[1],
              R"({"jsonrpc":"2.0","method":"subscription","params":{"channel":"book.ONE.raw","data":{)"
              R"("type":"change","timestamp":1700000000011,"instrument_name":"ONE","change_id":11,"prev_change_id":10,)"
              R"("bids":[["new",25.25,7],["delete",25,0]],"asks":[]}}})");
    m.set_level(2, side::buy, 100, 1);
    EXPECT_EQ(c.messages.size(), 2U) << "another instrument";
    EXPECT_TRUE(m.publisher.unsubscribe("book.ONE.raw", c));
    EXPECT_FALSE(m.publisher.unsubscribe("book.ONE.raw", c));
    m.set_level(1, side::sell, 200, 1);
    EXPECT_EQ(c.messages.size(), 2U);
    EXPECT_EQ(m.publisher.count(), 0U);
}

TEST(channels, an_interval_has_one_message_and_what_comes_and_goes_within_it_has_none) {
    test_market m;
    client c;
    ASSERT_TRUE(m.publisher.subscribe("book.ONE.100ms", c));
    c.messages.clear();
    m.set_level(1, side::sell, 200, 1);
    m.set_level(1, side::sell, 200, 3);
    m.set_level(1, side::sell, 201, 3);
    m.set_level(1, side::sell, 201, 0);
    EXPECT_TRUE(c.messages.empty());
    EXPECT_TRUE(m.publisher.pending(channel_interval::short_).is_set());
    m.publisher.publish(channel_interval::short_);
    ASSERT_EQ(c.messages.size(), 1U);
    EXPECT_NE(c.messages[0].find(R"("asks":[["new",50,3]])"), std::string::npos) << c.messages[0];
    m.set_level(1, side::sell, 202, 3);
    m.set_level(1, side::sell, 202, 0);
    m.publisher.publish(channel_interval::short_);
    EXPECT_EQ(c.messages.size(), 1U);
    m.publisher.leave(c);
}

/// Random changes of both sides, and clients of every interval that join and leave: all books are right.
void follow(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test_market m;
    base::prng random(seed);
    const std::array<std::string, 3> names{"book.TWO.5.raw", "book.TWO.5.100ms", "book.TWO.5.agg2"};
    std::array<client, 6> clients;
    for (int step = 0; step < 3'000; ++step) {
        const auto which = static_cast<std::size_t>(random.between(0, 5));
        client& one = clients[which];
        const std::string& name = names[which % 3];
        switch (random.between(0, 39)) {
            case 0: {
                one.levels = {};
                one.messages.clear();
                m.publisher.leave(one);
                EXPECT_TRUE(m.publisher.subscribe(name, one));
                break;
            }
            case 1: m.publisher.publish(channel_interval::short_); break;
            case 2: m.publisher.publish(channel_interval::long_); break;
            case 3: one.waiting = waiting_bytes_slow + 1; break;
            case 4: one.waiting = 0; break;
            default: {
                const side s = random.between(0, 1) == 0 ? side::buy : side::sell;
                const std::uint64_t lots =
                    random.between(0, 2) == 0 ? 0 : static_cast<std::uint64_t>(random.between(1, 4));
                m.set_level(2, s, random.between(-5, 5), lots, random.between(0, 3) != 0);
            }
        }
        for (client& each : clients) ASSERT_TRUE(each.apply());
    }
    m.set_level(2, side::buy, 0, 9);
    for (client& each : clients) each.waiting = 0;
    m.publisher.publish(channel_interval::short_);
    m.publisher.publish(channel_interval::long_);
    const market& now = *m.view.find("TWO.5");
    int followed = 0;
    for (client& each : clients) {
        ASSERT_TRUE(each.apply());
        if (m.publisher.count_of(each) == 0) continue;
        EXPECT_TRUE(each.has(now));
        ++followed;
        m.publisher.leave(each);
    }
    EXPECT_GT(followed, 3);
    EXPECT_GT(m.publisher.left_out_count(), 10U);
}

TEST(channels, every_client_has_the_markets_book_whatever_it_missed) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) follow(seed);
}

TEST(channels, a_slow_client_gets_a_snapshot_when_it_has_read_and_others_do_not_notice) {
    test_market m;
    client slow;
    client quick;
    ASSERT_TRUE(m.publisher.subscribe("book.ONE.raw", slow));
    ASSERT_TRUE(m.publisher.subscribe("book.ONE.raw", quick));
    slow.waiting = waiting_bytes_slow + 1;
    m.set_level(1, side::buy, 1, 1);
    m.set_level(1, side::buy, 2, 1);
    EXPECT_EQ(slow.messages.size(), 1U);
    EXPECT_EQ(quick.messages.size(), 3U) << "each change at once";
    m.publisher.publish(channel_interval::short_);
    EXPECT_EQ(slow.messages.size(), 1U);
    slow.waiting = 0;
    m.publisher.publish(channel_interval::short_);
    ASSERT_EQ(slow.messages.size(), 2U) << "without a further change";
    EXPECT_NE(slow.messages[1].find("snapshot"), std::string::npos);
    EXPECT_EQ(quick.messages.size(), 3U);
    EXPECT_TRUE(slow.apply());
    EXPECT_TRUE(slow.has(*m.view.find("ONE")));
    slow.waiting = waiting_bytes_max + 1;
    m.set_level(1, side::buy, 3, 1);
    EXPECT_TRUE(slow.ended);
    EXPECT_FALSE(quick.ended);
    m.publisher.leave(slow);
    m.publisher.leave(quick);
}

/// Keeps the orders that a channel shows.
class orders_client final : public subscriber {
 public:
    void take(std::string_view message) override { messages.emplace_back(message); }
    [[nodiscard]] std::size_t waiting_bytes() const noexcept override { return waiting; }
    void end_slow() noexcept override { ended = true; }

    /// Applies all messages since the last call. False if one does not follow the one before.
    bool apply() {
        for (const std::string& text : std::exchange(messages, {})) {
            const auto whole = parse_json(text);
            if (!whole) return false;
            const json_value& data = *whole->find("params")->find("data");
            if (data.find("type")->text == "snapshot") {
                orders.clear();
            } else if (data.find("prev_change_id")->text != change_id) {
                return false;
            }
            change_id = data.find("change_id")->text;
            for (const char* name : {"bids", "asks"}) {
                for (const json_value& each : data.find(name)->items) {
                    if (!apply(each, name[0] == 'b' ? side::buy : side::sell)) return false;
                }
            }
        }
        return true;
    }
    /// Whether its orders are those of the market, at each price in the same order.
    [[nodiscard]] bool has(const market& of) const {
        std::size_t count = 0;
        for (const side s : {side::buy, side::sell}) {
            for (const auto& level : of.orders.levels(s)) {
                std::vector<std::array<std::uint64_t, 3>> mine;  // priority, order, lots
                for (const auto& [id, o] : orders) {
                    if (o.where == s && o.price == level.price.value * 250'000'000) {
                        mine.push_back({o.priority, id, o.lots});
                    }
                }
                std::ranges::sort(mine);
                const auto all = of.orders.orders_at(s, level.price);
                const bool are_equal = std::ranges::equal(mine, all, [](const auto& a, const feed::image_order& b) {
                    return a[1] == b.order.value && a[2] == b.quantity.value;
                });
                if (!are_equal) return false;
                count += all.size();
            }
        }
        return count == orders.size();
    }

    struct order {
        side where = side::buy;
        std::int64_t price = 0;
        std::uint64_t lots = 0;
        std::uint64_t priority = 0;
    };
    std::vector<std::string> messages;
    std::map<std::uint64_t, order> orders;
    std::string change_id;
    std::size_t waiting = 0;
    bool ended = false;

 private:
    bool apply(const json_value& change, side s) {
        const std::uint64_t id = std::stoull(change.items[1].text);
        const bool was_there = orders.contains(id);
        if (change.items[0].text == "delete") return orders.erase(id) == 1;
        order& one = orders[id];
        one.where = s;
        one.price = *scaled_integer(change.items[2].text, 9);
        one.lots = std::stoull(change.items[3].text);
        one.priority = std::stoull(change.items[4].text);
        return was_there == (change.items[0].text == "change");
    }
};

TEST(channels, orders_have_their_priority_and_what_moves_to_the_end_has_a_new_one) {
    test_market m;
    m.add_order(7, side::buy, 100, 5);
    orders_client c;
    ASSERT_TRUE(m.publisher.subscribe("orders.ONE.raw", c));
    ASSERT_EQ(c.messages.size(), 1U);
    EXPECT_EQ(c.messages[0], R"({"jsonrpc":"2.0","method":"subscription","params":{"channel":"orders.ONE.raw","data":{)"
                             R"("type":"snapshot","timestamp":1700000000010,"instrument_name":"ONE","change_id":10,)"
                             R"("bids":[["new","7",25,5,1]],"asks":[]}}})");
    m.add_order(8, side::buy, 100, 2);
    m.change_order(domain::event_kind::order_reduced, 7, side::buy, 100, 4, 1);
    m.change_order(domain::event_kind::order_deleted, 7, side::buy, 100, 0, 4, false);
    EXPECT_EQ(c.messages.size(), 3U) << "the command has not ended";
    m.add_order(7, side::buy, 100, 4);
    ASSERT_EQ(c.messages.size(), 4U);
    EXPECT_NE(c.messages[1].find(R"("bids":[["new","8",25,2,2]])"), std::string::npos) << c.messages[1];
    EXPECT_NE(c.messages[2].find(R"("bids":[["change","7",25,4,1]])"), std::string::npos) << c.messages[2];
    EXPECT_NE(c.messages[3].find(R"("bids":[["change","7",25,4,3]])"), std::string::npos) << c.messages[3];
    EXPECT_TRUE(c.apply());
    EXPECT_TRUE(c.has(*m.view.find("ONE")));
    m.publisher.leave(c);
    EXPECT_EQ(m.publisher.count(), 0U);
}

/// Random orders, clients of every interval that join, leave and read slowly, and feeds that begin again.
void follow_orders(std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    test_market m;
    base::prng random(seed);
    const std::array<std::string, 3> names{"orders.ONE.raw", "orders.ONE.100ms", "orders.ONE.agg2"};
    std::array<orders_client, 6> clients;
    struct live {
        std::uint64_t id = 0;
        side where = side::buy;
        std::int64_t ticks = 0;
        std::uint32_t lots = 0;
    };
    std::vector<live> open;
    std::uint64_t last_id = 0;
    for (int step = 0; step < 2'000; ++step) {
        const auto which = static_cast<std::size_t>(random.between(0, 5));
        orders_client& one = clients[which];
        const bool ends = random.between(0, 3) != 0;
        switch (random.between(0, 29)) {
            case 0:
                one.messages.clear();
                m.publisher.leave(one);
                EXPECT_TRUE(m.publisher.subscribe(names[which % 3], one));
                break;
            case 1: m.publisher.publish(channel_interval::short_); break;
            case 2: m.publisher.publish(channel_interval::long_); break;
            case 3: one.waiting = waiting_bytes_slow + 1; break;
            case 4: one.waiting = 0; break;
            case 5:
                if (random.between(0, 9) != 0) break;
                // Joined again by a snapshot: the same orders, or none.
                if (random.between(0, 1) == 0) open.clear();
                m.view.begin(m.view.find("ONE")->terms,
                             open.empty() ? feed::book_image() : feed::book_image(m.view.find("ONE")->orders),
                             m.command++, 0);
                m.view.end_begin();
                break;
            default: {
                // A snapshot of more orders has more values than a request may have.
                if (open.size() < 3 || (open.size() < 50 && random.between(0, 2) == 0)) {
                    live made{++last_id, random.between(0, 1) == 0 ? side::buy : side::sell, random.between(-3, 3),
                              static_cast<std::uint32_t>(random.between(1, 9))};
                    m.add_order(made.id, made.where, made.ticks, made.lots, ends);
                    open.push_back(made);
                    break;
                }
                const auto at = static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(open.size()) - 1));
                live& old = open[at];
                if (old.lots > 1 && random.between(0, 1) == 0) {
                    m.change_order(domain::event_kind::order_reduced, old.id, old.where, old.ticks, --old.lots, 1,
                                   ends);
                    break;
                }
                const bool moves = random.between(0, 1) == 0;
                m.change_order(domain::event_kind::order_deleted, old.id, old.where, old.ticks, 0, old.lots,
                               !moves && ends);
                if (moves) {
                    old.ticks = random.between(-3, 3);
                    m.add_order(old.id, old.where, old.ticks, old.lots, ends);
                } else {
                    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
                }
            }
        }
        for (orders_client& each : clients) ASSERT_TRUE(each.apply()) << step;
    }
    m.add_order(++last_id, side::buy, 0, 9);
    for (orders_client& each : clients) each.waiting = 0;
    m.publisher.publish(channel_interval::short_);
    m.publisher.publish(channel_interval::long_);
    int followed = 0;
    for (orders_client& each : clients) {
        ASSERT_TRUE(each.apply());
        if (m.publisher.count_of(each) == 0) continue;
        EXPECT_TRUE(each.has(*m.view.find("ONE")));
        EXPECT_FALSE(each.ended);
        ++followed;
        m.publisher.leave(each);
    }
    EXPECT_GT(followed, 3);
    EXPECT_GT(m.publisher.left_out_count(), 10U);
}

TEST(channels, every_client_has_the_markets_orders_whatever_it_missed) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) follow_orders(seed);
}

TEST(channels, a_client_that_reads_slowly_waits_for_its_first_snapshot) {
    test_market m;
    orders_client c;
    c.waiting = waiting_bytes_slow + 1;
    for (const char* name : {"orders.ONE.raw", "book.ONE.raw", "ticker.ONE.raw", "trades.ONE.raw"}) {
        ASSERT_TRUE(m.publisher.subscribe(name, c));
    }
    EXPECT_TRUE(c.messages.empty());
    m.publisher.publish(channel_interval::short_);
    EXPECT_TRUE(c.messages.empty());
    c.waiting = 0;
    m.publisher.publish(channel_interval::short_);
    EXPECT_EQ(c.messages.size(), 3U);
    m.publisher.leave(c);
}

TEST(channels, a_book_of_very_many_orders_has_no_channel_of_them) {
    test_market m;
    orders_client c;
    ASSERT_TRUE(m.publisher.subscribe("orders.ONE.raw", c));
    c.messages.clear();
    c.waiting = waiting_bytes_slow + 1;
    for (std::uint64_t id = 1; id <= orders_per_snapshot_max + 1; ++id) m.add_order(id, side::buy, 100, 1, false);
    EXPECT_EQ(m.publisher.snapshot_cost("orders.ONE.raw"), (orders_per_snapshot_max + 1) / orders_per_credit);
    EXPECT_EQ(m.publisher.snapshot_cost("book.ONE.raw"), 0U);
    m.set_level(1, side::buy, 100, 1);
    EXPECT_FALSE(m.publisher.exists("orders.ONE.raw"));
    EXPECT_TRUE(m.publisher.exists("book.ONE.raw"));
    for (std::int64_t k = 1; k < 300; ++k) m.set_level(1, side::sell, 100 + k, 1);
    EXPECT_EQ(m.publisher.snapshot_cost("book.ONE.100ms"), levels_cost(300));
    orders_client late;
    EXPECT_FALSE(m.publisher.subscribe("orders.ONE.100ms", late));
    EXPECT_FALSE(c.ended);
    c.waiting = 0;
    m.publisher.publish(channel_interval::short_);
    EXPECT_TRUE(c.ended) << "it needs a snapshot that does not exist";
    m.publisher.leave(c);
}

/// Counts how often a channel looks at it.
class counting_client final : public subscriber {
 public:
    void take(std::string_view) override { ++messages; }
    [[nodiscard]] std::size_t waiting_bytes() const noexcept override {
        ++looks;
        return 0;
    }
    void end_slow() noexcept override {}
    std::size_t messages = 0;
    mutable std::size_t looks = 0;
};

TEST(channels, to_subscribe_and_to_leave_costs_the_same_however_many_others_there_are) {
    for (const std::size_t n : {100U, 200U, 400U}) {
        test_market m;
        std::vector<counting_client> others(n);
        for (counting_client& each : others) ASSERT_TRUE(m.publisher.subscribe("book.ONE.raw", each));
        const auto of_all = [&others](std::size_t counting_client::* what) {
            std::size_t sum = 0;
            for (const counting_client& each : others) sum += each.*what;
            return sum;
        };
        EXPECT_EQ(of_all(&counting_client::looks), n) << "one each";
        EXPECT_EQ(of_all(&counting_client::messages), n);
        counting_client late;
        ASSERT_TRUE(m.publisher.subscribe("book.ONE.raw", late));
        m.publisher.leave(others.front());
        m.publisher.leave(late);
        EXPECT_EQ(of_all(&counting_client::looks), n) << "nobody else was looked at";
        m.set_level(1, side::buy, 1, 1);
        EXPECT_EQ(of_all(&counting_client::looks), 2 * n - 1) << "a message looks at each once";
        EXPECT_EQ(of_all(&counting_client::messages), 2 * n - 1);
        EXPECT_EQ(others.front().messages, 1U);
        for (counting_client& each : others) m.publisher.leave(each);
        EXPECT_EQ(m.publisher.count(), 0U);
    }
}

TEST(channels, trades_come_together_and_none_is_left_out) {
    test_market m;
    client c;
    ASSERT_TRUE(m.publisher.subscribe("trades.TWO.5.100ms", c));
    c.waiting = waiting_bytes_slow + 1;
    m.trade(2, 40, 3, side::buy);
    m.trade(2, 41, 1, side::sell);
    m.trade(2, 41, 1, side::sell);
    m.trade(2, 40, 1, side::sell);
    m.publisher.publish(channel_interval::short_);
    ASSERT_EQ(c.messages.size(), 1U);
    EXPECT_EQ(c.messages[0],
              R"({"jsonrpc":"2.0","method":"subscription","params":{"channel":"trades.TWO.5.100ms","data":[)"
              R"({"trade_seq":1,"trade_id":"1","timestamp":1700000000010,"tick_direction":1,"price":10,)"
              R"("mark_price":null,"index_price":null,"instrument_name":"TWO.5","direction":"buy","amount":30},)"
              R"({"trade_seq":2,"trade_id":"2","timestamp":1700000000011,"tick_direction":0,"price":10.25,)"
              R"("mark_price":null,"index_price":null,"instrument_name":"TWO.5","direction":"sell","amount":10},)"
              R"({"trade_seq":3,"trade_id":"3","timestamp":1700000000012,"tick_direction":1,"price":10.25,)"
              R"("mark_price":null,"index_price":null,"instrument_name":"TWO.5","direction":"sell","amount":10},)"
              R"({"trade_seq":4,"trade_id":"4","timestamp":1700000000013,"tick_direction":2,"price":10,)"
              R"("mark_price":null,"index_price":null,"instrument_name":"TWO.5","direction":"sell","amount":10}]}})");
    for (std::size_t k = 0; k < trades_per_notification_max; ++k) m.trade(2, 40, 1, side::buy);
    EXPECT_EQ(c.messages.size(), 2U) << "a full message does not wait for its interval";
    m.publisher.leave(c);
}

TEST(channels, a_ticker_comes_at_once_and_then_per_interval) {
    test_market m;
    client c;
    ASSERT_TRUE(m.publisher.subscribe("ticker.ONE.100ms", c));
    ASSERT_EQ(c.messages.size(), 1U);
    EXPECT_NE(c.messages[0].find(R"("best_bid_price":null,"best_bid_amount":0)"), std::string::npos);
    m.set_level(1, side::buy, 8, 3, false);
    domain::event top = m.event(domain::event_kind::top_of_book, 1);
    top.top = domain::top{};
    m.take(top, true);
    m.publisher.publish(channel_interval::short_);
    ASSERT_EQ(c.messages.size(), 2U);
    EXPECT_NE(c.messages[1].find(R"("best_bid_price":2,"best_bid_amount":3)"), std::string::npos) << c.messages[1];
    m.publisher.publish(channel_interval::short_);
    EXPECT_EQ(c.messages.size(), 2U) << "nothing has changed";
    m.publisher.leave(c);
}

TEST(channels, a_ticker_has_implied_prices_as_long_as_there_are_any) {
    test_market m;
    client c;
    ASSERT_TRUE(m.publisher.subscribe("ticker.TWO.5.100ms", c));
    EXPECT_EQ(c.messages[0].find("implied"), std::string::npos);
    domain::event top = m.event(domain::event_kind::implied_top, 2);
    top.top = domain::top{};
    top.top.bid_price = domain::price_ticks{7};
    top.top.bid_quantity = domain::volume_lots{2};
    top.top.ask_price = domain::no_price;
    m.take(top, true);
    m.publisher.publish(channel_interval::short_);
    ASSERT_EQ(c.messages.size(), 2U);
    EXPECT_NE(c.messages[1].find(R"("implied_bid_price":1.75,"implied_bid_amount":20,)"
                                 R"("implied_ask_price":null,"implied_ask_amount":0)"),
              std::string::npos)
        << c.messages[1];
    top = m.event(domain::event_kind::implied_top, 2);
    top.top = domain::top{};
    top.top.bid_price = top.top.ask_price = domain::no_price;
    m.take(top, true);
    m.publisher.publish(channel_interval::short_);
    ASSERT_EQ(c.messages.size(), 3U);
    EXPECT_EQ(c.messages[2].find("implied"), std::string::npos) << c.messages[2];
    m.publisher.leave(c);
}

TEST(channels, the_instrument_of_a_strategy_has_its_legs) {
    test_market m;
    market spread = *m.view.find("ONE");
    const auto text = [&spread] {
        std::string into;
        json_writer out(into);
        write_instrument(out, spread, "7");
        return into;
    };
    EXPECT_EQ(text().find("legs"), std::string::npos);
    spread.terms.kind = domain::instrument_kind::spread;
    spread.terms.legs_count = 2;
    spread.terms.legs[0].instrument = domain::instrument_id{1};
    spread.terms.legs[0].side = side::buy;
    spread.terms.legs[0].ratio = 2;
    spread.terms.legs[1].instrument = domain::instrument_id{2};
    spread.terms.legs[1].side = side::sell;
    spread.terms.legs[1].ratio = 1;
    EXPECT_NE(text().find(R"("legs":[{"instrument_id":1,"direction":"buy","ratio":2},)"
                          R"({"instrument_id":2,"direction":"sell","ratio":1}])"),
              std::string::npos)
        << text();
}

}  // namespace
}  // namespace corro::api
