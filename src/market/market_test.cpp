// SPDX-License-Identifier: Apache-2.0
#include "market/market.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "market/market_fixture.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::event_kind;
using domain::side;

/// What an agent has seen, with the moment.
struct diary {
    std::vector<std::pair<std::int64_t, std::string>> lines;
    void add(std::int64_t at_ns, std::string what) { lines.emplace_back(at_ns, std::move(what)); }
};

behaviour sleeper(agent& me, diary* seen) {
    bool woke = co_await me.sleep(10 * ms);
    while (woke) {
        seen->add(me.now_ns(), "woke");
        woke = co_await me.sleep(10 * ms);
    }
    seen->add(me.now_ns(), "stopped");
}

TEST(market, an_agent_sleeps_on_virtual_time_until_it_is_told_to_stop) {
    market world(options_of());
    diary seen;
    agent& who = world.add_agent(named("sleeper"), [&](agent& me) { return sleeper(me, &seen); });
    EXPECT_TRUE(world.run(35 * ms));
    world.stop(who);
    EXPECT_TRUE(world.run(60 * ms));
    ASSERT_EQ(seen.lines.size(), 4U);
    EXPECT_EQ(seen.lines[0], std::pair(10 * ms, std::string("woke")));
    EXPECT_EQ(seen.lines[2], std::pair(30 * ms, std::string("woke")));
    EXPECT_EQ(seen.lines[3], std::pair(35 * ms, std::string("stopped")));
    EXPECT_EQ(world.now_ns(), 60 * ms);
}

behaviour never_stops(agent& me) {
    for (;;) static_cast<void>(co_await me.sleep(1 * ms));
}

TEST(market, an_agent_that_ignores_the_stop_does_not_hang_the_run) {
    market world(options_of());
    agent& who = world.add_agent(named("deaf"), [](agent& me) { return never_stops(me); });
    EXPECT_TRUE(world.run(5 * ms));
    world.stop(who);
    EXPECT_TRUE(world.run(1 * s));
    EXPECT_LT(world.counts().wakes, 20U);
}

behaviour asks_once(agent& me, diary* seen) {
    const answer entered = co_await me.enter(limit(side::buy, ticks(100), lots(3)));
    EXPECT_EQ(entered.kind, event_kind::order_entered);
    EXPECT_TRUE(entered.is_accepted());
    seen->add(me.now_ns(), "entered");
    EXPECT_EQ(me.orders().size(), 1U);
    EXPECT_EQ(me.orders().front().state, order_state::open);
    const answer amended = co_await me.amend(me.orders().front().number, ticks(99), lots(2));
    EXPECT_EQ(amended.kind, event_kind::order_amended);
    EXPECT_EQ(me.orders().front().price, ticks(99));
    EXPECT_EQ(me.orders().front().open, lots(2));
    const answer cancelled = co_await me.cancel(me.orders().front().number);
    EXPECT_EQ(cancelled.kind, event_kind::order_cancelled);
    EXPECT_TRUE(me.orders().empty());
    const answer refused = co_await me.cancel(77);
    EXPECT_EQ(refused.kind, event_kind::order_rejected);
    EXPECT_FALSE(refused.is_accepted());
    const answer bad = co_await me.enter(limit(side::buy, ticks(0), lots(3)));
    EXPECT_EQ(bad.reason, domain::reject_reason::price_outside_band);
    EXPECT_TRUE(me.orders().empty());
    seen->add(me.now_ns(), "done");
}

TEST(market, a_request_takes_both_ways_and_the_time_of_gateway_and_engine) {
    market_options options = options_of();
    options.times.gateway = delay::constant(5 * us);
    options.times.engine = delay::constant(2 * us);
    market world(std::move(options));
    diary seen;
    const auto way = link_of(delay::constant(100 * us), delay::constant(40 * us), delay());
    world.add_agent(named("asker", way), [&](agent& me) { return asks_once(me, &seen); });
    world.run(1 * s);
    ASSERT_EQ(seen.lines.size(), 2U);
    EXPECT_EQ(seen.lines[0].first, 147 * us);
    EXPECT_EQ(seen.lines[1].first, 5 * 147 * us);
    EXPECT_EQ(world.counts().commands, 5U);
    EXPECT_EQ(world.commands().front().time.value, world.options().start_ns + 107 * us);
}

behaviour enters_many(agent& me, int count) {
    for (int i = 0; i < count; ++i) me.enter(limit(side::buy, ticks(100), lots(1)));
    co_return;
}

TEST(market, load_makes_requests_wait_for_the_gateway_and_for_the_engine) {
    for (const std::uint32_t gateways : {1U, 2U}) {
        market_options options = options_of();
        options.times.gateways_count = gateways;
        options.times.gateway = delay::constant(10 * us);
        options.times.engine = delay::constant(4 * us);
        market world(std::move(options));
        for (int i = 0; i < 2; ++i) {
            world.add_agent(named("burst" + std::to_string(i)), [](agent& me) { return enters_many(me, 50); });
        }
        world.run(1 * s);
        ASSERT_EQ(world.commands().size(), 100U);
        // One gateway finishes a request every 10 us; two keep the engine busy at its 4 us only every 5 us.
        EXPECT_EQ(world.commands().back().time.value - world.options().start_ns,
                  gateways == 1 ? 100 * 10 * us + 4 * us : 50 * 10 * us + 2 * 4 * us);
    }
}

behaviour computes(agent& me) {
    static_cast<void>(co_await me.sleep(1 * ms));
    me.enter(limit(side::buy, ticks(100), lots(1)));
    me.note("slept_until", static_cast<double>(me.now_ns()));
    static_cast<void>(co_await me.sleep(1 * us));  // shorter than the computing
    me.note("slept_until", static_cast<double>(me.now_ns()));
}

TEST(market, computing_delays_what_an_agent_sends_and_its_next_step) {
    market world(options_of());
    agent_options who = named("slow");
    who.compute = delay::constant(250 * us);
    world.add_agent(std::move(who), [](agent& me) { return computes(me); });
    world.run(1 * s);
    ASSERT_EQ(world.commands().size(), 1U);
    EXPECT_EQ(world.commands()[0].time.value - world.options().start_ns, 1 * ms + 250 * us);
    ASSERT_EQ(world.notes().size(), 2U);
    EXPECT_EQ(world.note_name(world.notes()[0].what), "slept_until");
    EXPECT_EQ(world.notes()[1].at_ns, 1 * ms + 250 * us);
}

behaviour watches_clock(agent& me) {
    static_cast<void>(co_await me.sleep(1 * s));
    me.note("clock", static_cast<double>(me.now_ns()));
}

TEST(market, an_agents_clock_has_its_own_error) {
    market world(options_of());
    agent_options fast = named("fast");
    fast.clock.drift_ppm = 100;
    fast.clock.offset_ns = 5 * ms;
    world.add_agent(std::move(fast), [](agent& me) { return watches_clock(me); });
    world.run(2 * s);
    ASSERT_EQ(world.notes().size(), 1U);
    EXPECT_NEAR(static_cast<double>(world.notes()[0].at_ns), 1e9 - 1e5, 20);  // a fast clock wakes it early
    EXPECT_NEAR(world.notes()[0].value, 1e9 + 5e6, 20);
}

behaviour awaits_trade(agent& me, std::int64_t timeout, diary* seen) {
    const bool traded = co_await me.until(next_trade(only), timeout);
    seen->add(me.now_ns(), traded ? "trade at " + std::to_string(me.book().last.value) : "timeout");
}
behaviour trades_at(agent& me, std::int64_t at) {
    static_cast<void>(co_await me.sleep(at));
    me.enter(limit(side::buy, ticks(100), lots(1)));
    me.enter(limit(side::sell, ticks(100), lots(1)));
}

TEST(market, public_news_arrives_after_the_link_of_the_one_who_waits) {
    market world(options_of());
    diary near;
    diary far;
    diary late;
    diary impatient;
    world.add_agent(named("trader"), [](agent& me) { return trades_at(me, 10 * ms); });
    const auto way = [](std::int64_t ns) { return link_of(delay(), delay(), delay::constant(ns)); };
    world.add_agent(named("near", way(1 * ms)), [&](agent& me) { return awaits_trade(me, never_ns, &near); });
    world.add_agent(named("far", way(7 * ms)), [&](agent& me) { return awaits_trade(me, never_ns, &far); });
    world.add_agent(named("impatient", way(7 * ms)), [&](agent& me) { return awaits_trade(me, 12 * ms, &impatient); });
    // Begins to wait when the trade has been published and is still on its way.
    world.add_agent(named("late", way(7 * ms)), [&](agent& me) -> behaviour {
        return [](agent& who, diary* seen) -> behaviour {
            static_cast<void>(co_await who.sleep(15 * ms));
            co_await awaits_trade(who, never_ns, seen);
        }(me, &late);
    });
    world.run(1 * s);
    ASSERT_EQ(near.lines.size(), 1U);
    EXPECT_EQ(near.lines[0], std::pair(11 * ms, std::string("trade at 100")));
    ASSERT_EQ(far.lines.size(), 1U);
    EXPECT_EQ(far.lines[0], std::pair(17 * ms, std::string("trade at 100")));
    ASSERT_EQ(impatient.lines.size(), 1U);
    EXPECT_EQ(impatient.lines[0], std::pair(12 * ms, std::string("timeout")));
    ASSERT_EQ(late.lines.size(), 1U);
    EXPECT_EQ(late.lines[0], std::pair(17 * ms, std::string("trade at 100")));
}

behaviour quotes_and_watches_its_queue(agent& me, diary* seen) {
    static_cast<void>(co_await me.sleep(1 * ms));
    const request_number number = me.enter(limit(side::buy, ticks(100), lots(5)).tracked()).number;
    for (int i = 0; i < 5; ++i) {
        static_cast<void>(co_await me.sleep(1 * ms));
        seen->add(me.now_ns(), std::to_string(me.queue_ahead(number)));
    }
}
behaviour stands_in_front(agent& me) {
    me.enter(limit(side::buy, ticks(100), lots(7)));
    const request_number second = me.enter(limit(side::buy, ticks(100), lots(4))).number;
    static_cast<void>(co_await me.sleep(2'500 * us));
    me.enter(limit(side::buy, ticks(100), lots(50)));  // behind: changes nothing
    me.enter(limit(side::sell, ticks(100), lots(3)));  // trades with the first: 4 + 4 ahead
    static_cast<void>(co_await me.sleep(1 * ms));
    me.cancel(second);
}

TEST(market, a_tracked_order_knows_the_lots_ahead_of_it_as_far_as_the_feed_has_shown) {
    market world(options_of());
    diary prompt;
    world.add_agent(named("front"), [](agent& me) { return stands_in_front(me); });
    world.add_agent(named("watcher", link_of(delay(), delay(), delay::constant(200 * us))),
                    [&](agent& me) { return quotes_and_watches_its_queue(me, &prompt); });
    world.run(1 * s);
    std::vector<std::string> seen;
    for (const auto& line : prompt.lines) seen.push_back(line.second);
    EXPECT_EQ(seen, (std::vector<std::string>{"11", "8", "4", "4", "4"}));
}

behaviour throws_at_once(agent& me) {
    static_cast<void>(co_await me.sleep(1 * ms));
    throw std::runtime_error("no idea");
}
behaviour awaits_thrower(agent& me) {
    co_await throws_at_once(me);
}

TEST(market, what_a_behaviour_throws_reaches_the_one_who_runs_the_market) {
    market world(options_of());
    world.add_agent(named("thrower"), [](agent& me) { return awaits_thrower(me); });
    EXPECT_THROW(world.run(1 * s), std::runtime_error);
}

TEST(market, answers_may_overtake_each_other_on_a_link_without_order) {
    market world(options_of(3));
    const auto way = link_of(delay::uniform(0, 10 * ms), delay::uniform(0, 10 * ms), delay(), false);
    for (int i = 0; i < 4; ++i) {
        world.add_agent(named("noisy" + std::to_string(i), way), [](agent& me) { return noisy(me, only, 1 * ms); });
    }
    world.run(20 * s);
    bool has_overtaken = false;
    std::vector<std::uint32_t> last(5, 0);
    for (const domain::command& c : world.commands()) {
        has_overtaken = has_overtaken || c.request() < last[c.account.value];
        last[c.account.value] = c.request();
    }
    EXPECT_TRUE(has_overtaken);
}

behaviour changes_its_mind(agent& me, std::int64_t* cancelled_at, std::int64_t* all_cancelled_at) {
    const agent::sent first = me.enter(limit(side::buy, ticks(100), lots(1)));
    answer got = co_await me.cancel(first.number);
    EXPECT_EQ(got.kind, event_kind::order_cancelled);
    *cancelled_at = me.now_ns();
    me.enter(limit(side::buy, ticks(100), lots(1)));
    bool goes_on = co_await me.sleep(30 * ms);
    if (!goes_on) co_return;
    me.enter(limit(side::sell, ticks(105), lots(1)));
    me.cancel_all(only);
    while (!me.orders().empty()) {
        goes_on = co_await me.sleep(1 * ms);
        if (!goes_on) co_return;
    }
    *all_cancelled_at = me.now_ns();
}

TEST(market, a_cancel_waits_until_its_order_has_rested_as_long_as_it_must) {
    market_options options = options_of();
    options.times.resting_ns = 100 * ms;
    market world(std::move(options));
    std::int64_t cancelled_at = 0;
    std::int64_t all_cancelled_at = 0;
    world.add_agent(named("trader"), [&](agent& me) { return changes_its_mind(me, &cancelled_at, &all_cancelled_at); });
    world.run(1 * s);
    EXPECT_EQ(cancelled_at, 100 * ms);
    // A mass cancel waits for the newest order, which was entered at 130 ms.
    EXPECT_GE(all_cancelled_at, 230 * ms);
    EXPECT_LE(all_cancelled_at, 231 * ms);
    EXPECT_EQ(world.venue().open_orders_count(), 0U);
}

}  // namespace
}  // namespace corro::market
