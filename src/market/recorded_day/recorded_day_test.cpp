// SPDX-License-Identifier: Apache-2.0
// Hand-written recordings with an agent in them: what each policy does.
#include "market/recorded_day/recorded_day.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "market/market_fixture.hpp"
#include "market/recorded_day/recorded_flow.hpp"
#include "recorded/replay/order_tape_fixture.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::side;
using recorded::replay::tape_file;

// Orders by their numbers. The group of the trade begins at 5 ms; a record takes a millisecond.
const tape_file one_trade{
    "snapshot; A B 1 97 5; A A 2 102 5; A A 3 102 4",
    "A A 4 102 3",
    "T B 9 102 6; F A 2 102 5; F A 3 102 1; C A 2 102 5; M A 3 102 3",
    "M A 3 102 2",
    "C A 3 102 2",
};
constexpr std::int64_t before_the_trade = 4'500'000;

std::shared_ptr<const recorded_day> day_of(const tape_file& file) {
    recorded::replay::scratch_folder folder;
    recorded::replay::recording_options files;
    files.files = {folder.write("tape.dbn", recorded::replay::dbn_bytes(file))};
    return std::make_shared<const recorded_day>(load_recorded_day(files));
}

behaviour enters_at(agent& me, std::int64_t at_ns, new_order order) {
    const bool goes_on = co_await me.sleep(at_ns);
    if (goes_on) me.enter(order);
}

behaviour enters_twice(agent& me, std::int64_t at_ns, new_order first, new_order second) {
    const bool goes_on = co_await me.sleep(at_ns);
    if (!goes_on) co_return;
    me.enter(first);
    me.enter(second);
}

/// The orders of a side of the book, best first, as "PRICExLOTS".
std::string book_side(const market& world, side which) {
    struct walk final : facility::book_visitor {
        explicit walk(side of) : wanted(of) {}
        void visit_level(side /*of*/, const domain::level& /*level*/) override {}
        void visit_order(side of, const facility::resting_order& each) override {
            if (of != wanted) return;
            if (!text.empty()) text += ' ';
            text += std::to_string(each.price.value) + "x" + std::to_string(each.open.value);
        }
        side wanted;
        std::string text;
    };
    walk orders(which);
    world.venue().visit_book(only, orders);
    return orders.text;
}

/// A recorded day with one agent in it.
struct played {
    played(
        std::shared_ptr<const recorded_day> day, recorded_flow_options how,
        std::function<behaviour(agent&)> make = [](agent&) { return behaviour(); }, delay engine = delay())
        : kept(std::make_shared<recorded_flow>(day, how, 1)), flow(*kept) {
        market_options options;
        options.instruments.push_back(day->instrument);
        options.start_ns = day->start_ns;
        options.orders_max = 1'000;
        options.times.engine = engine;
        world = std::make_unique<market>(std::move(options));
        world->add_agent(named("you"), std::move(make));
        world->take_commands_from(kept);
        world->observe_with(flow);
        world->run(day->length_ns + 10 * ms);
        const holding none;
        const auto& held = world->agent_at(0).true_holdings();
        mine = held.empty() ? none : held.front();
        EXPECT_EQ(mine.cash + flow.cash(), 0);
        EXPECT_EQ(mine.lots + flow.lots(), 0);
        EXPECT_EQ(flow.position(), day->requests.size());
    }
    [[nodiscard]] const recorded_departures& departures() const { return flow.departures(); }

    std::shared_ptr<recorded_flow> kept;
    recorded_flow& flow;
    std::unique_ptr<market> world;
    holding mine;
};

recorded_flow_options policy_of(recorded_policy which, recorded_leftovers leftovers = recorded_leftovers::stay) {
    recorded_flow_options made;
    made.policy = which;
    made.leftovers = leftovers;
    return made;
}

constexpr counted_lots counted(std::uint64_t count, std::uint64_t lots) {
    return {count, lots};
}

TEST(recorded_day, keeps_each_request_with_its_time_its_fills_and_the_prices_after_it) {
    const auto day = day_of(one_trade);
    EXPECT_EQ(day->unexplained, 0U);
    EXPECT_EQ(day->start_ns, 1'703'500'000'000'000'000);
    ASSERT_EQ(day->requests.size(), 7U);
    EXPECT_EQ(day->requests[2].at_ns, 0) << "an order of the snapshot";
    EXPECT_EQ(day->requests[3].at_ns, 4 * ms);
    const recorded_request& trade = day->requests[4];
    EXPECT_EQ(trade.at_ns, 5 * ms);
    EXPECT_EQ(trade.filled_lots, 6U);
    EXPECT_EQ(trade.depth_lots, 12U);
    ASSERT_EQ(trade.fills_count, 2U);
    EXPECT_EQ(day->fills_of(trade)[0].quantity.value, 5U);
    EXPECT_EQ(day->fills_of(trade)[1].quantity.value, 1U);
    EXPECT_TRUE(trade.has_quotes);
    EXPECT_EQ(trade.bid, 97);
    EXPECT_EQ(trade.ask, 102);
    EXPECT_EQ(day->orders_count, 5U);
    EXPECT_EQ(day->length_ns, 11 * ms);
}

TEST(recorded_day, without_orders_of_agents_the_market_is_the_recorded_one_in_every_policy) {
    const auto day = day_of(one_trade);
    for (std::size_t i = 0; i < static_cast<std::size_t>(recorded_policy::count); ++i) {
        for (const auto leftovers : {recorded_leftovers::stay, recorded_leftovers::leave}) {
            const played p(day, policy_of(static_cast<recorded_policy>(i), leftovers));
            EXPECT_TRUE(p.departures().none());
            EXPECT_EQ(p.flow.unchanged_count(), day->requests.size());
            EXPECT_EQ(p.world->venue().state_hash(), day->state_hash);
            EXPECT_EQ(p.world->counts().trades, 2U);
        }
    }
}

TEST(recorded_day, an_aggressor_takes_what_is_left_behind_an_agent_with_a_better_price) {
    const auto offers = [](agent& me) {
        return enters_at(me, before_the_trade, limit(side::sell, ticks(101), lots(2)));
    };
    const played p(day_of(one_trade), policy_of(recorded_policy::what_is_left), offers);
    EXPECT_EQ(p.mine.lots, -2);
    EXPECT_EQ(p.mine.cash, 202);
    recorded_departures expected;
    expected.given_by_agents = counted(1, 2);
    expected.missing_fills = counted(2, 2);  // one lot of order 2, and the one of order 3
    expected.leftovers = counted(1, 1);
    EXPECT_EQ(p.departures(), expected);
    // Order 2 is left with a lot; order 3 was amended to its total and cancelled.
    EXPECT_EQ(book_side(*p.world, side::sell), "102x1 102x3");
    EXPECT_EQ(p.flow.unchanged_count(), p.flow.day().requests.size());
}

TEST(recorded_day, leftovers_leave_at_the_moment_of_the_recorded_fill) {
    const auto offers = [](agent& me) {
        return enters_at(me, before_the_trade, limit(side::sell, ticks(101), lots(2)));
    };
    const played p(day_of(one_trade), policy_of(recorded_policy::what_is_left, recorded_leftovers::leave), offers);
    EXPECT_EQ(p.departures().leftovers, counted(1, 1));
    EXPECT_EQ(book_side(*p.world, side::sell), "102x3");
}

TEST(recorded_day, an_agent_in_the_queue_is_filled_when_the_orders_before_it_are) {
    // Behind orders 2 and 3, before order 4, at their price: the recorded trade does not reach it.
    const auto offers = [](agent& me) {
        return enters_at(me, 2 * ms, limit(side::sell, ticks(102), lots(2)).tracked());
    };
    const played p(day_of(one_trade), policy_of(recorded_policy::what_is_left), offers);
    EXPECT_EQ(p.mine.lots, 0);
    EXPECT_TRUE(p.departures().none());
    EXPECT_EQ(book_side(*p.world, side::sell), "102x2 102x3");
}

TEST(recorded_day, an_aggressor_takes_the_same_orders_and_what_stands_before_them) {
    const auto offers = [](agent& me) {
        // One lot stands before the recorded orders, one behind those that trade.
        return enters_twice(me, before_the_trade, limit(side::sell, ticks(101), lots(2)),
                            limit(side::sell, ticks(102), lots(7)));
    };
    const played p(day_of(one_trade), policy_of(recorded_policy::same_orders), offers);
    EXPECT_EQ(p.mine.lots, -2);
    recorded_departures expected;
    expected.given_by_agents = counted(1, 2);
    expected.resized = counted(1, 2);
    expected.long_aggressors = counted(1, 2);
    EXPECT_EQ(p.departures(), expected);
    EXPECT_EQ(book_side(*p.world, side::sell), "102x3 102x7");
}

TEST(recorded_day, an_aggressor_of_the_same_orders_takes_less_when_an_agent_took_them) {
    const auto takes = [](agent& me) { return enters_at(me, before_the_trade, limit(side::buy, ticks(102), lots(5))); };
    const played p(day_of(one_trade), policy_of(recorded_policy::same_orders), takes);
    EXPECT_EQ(p.mine.lots, 5);
    EXPECT_EQ(p.mine.cash, -510);
    recorded_departures expected;
    expected.taken_by_agents = counted(1, 5);
    expected.resized = counted(1, 5);
    expected.short_aggressors = counted(1, 5);
    expected.missing_fills = counted(1, 5);
    EXPECT_EQ(p.departures(), expected);
    EXPECT_EQ(book_side(*p.world, side::sell), "102x3");
}

TEST(recorded_day,
     an_aggressor_takes_other_orders_when_an_agent_took_its_own_and_later_requests_of_these_are_left_out) {
    const auto takes = [](agent& me) { return enters_at(me, before_the_trade, limit(side::buy, ticks(102), lots(5))); };
    const played p(day_of(one_trade), policy_of(recorded_policy::what_is_left), takes);
    recorded_departures expected;
    expected.taken_by_agents = counted(1, 5);
    expected.missing_fills = counted(1, 5);
    expected.additional_fills = counted(2, 5);  // three lots of order 3, two of order 4
    expected.gone_amends = counted(1, 3);
    expected.gone_cancels = counted(1, 2);
    EXPECT_EQ(p.departures(), expected);
    EXPECT_EQ(book_side(*p.world, side::sell), "102x1");
}

TEST(recorded_day, an_aggressor_finds_nothing_and_is_left_out_of_the_same_orders) {
    const auto takes = [](agent& me) { return enters_at(me, before_the_trade, limit(side::buy, ticks(102), lots(9))); };
    const played p(day_of(one_trade), policy_of(recorded_policy::same_orders), takes);
    EXPECT_EQ(p.departures().gone_aggressors, counted(1, 6));
    EXPECT_EQ(p.departures().short_aggressors, counted(1, 6));
    EXPECT_EQ(p.departures().missing_fills, counted(2, 6));
    EXPECT_EQ(book_side(*p.world, side::sell), "102x3");
}

TEST(recorded_day, an_aggressor_is_scaled_by_the_depth_that_it_meets) {
    const auto offers = [](agent& me) {
        return enters_at(me, before_the_trade, limit(side::sell, ticks(101), lots(2)));
    };
    const played p(day_of(one_trade), policy_of(recorded_policy::scaled), offers);
    recorded_departures expected;  // 6 lots of 12 are 7 of 14
    expected.given_by_agents = counted(1, 2);
    expected.resized = counted(1, 1);
    expected.long_aggressors = counted(1, 1);
    expected.missing_fills = counted(1, 1);
    EXPECT_EQ(p.departures(), expected);
}

TEST(recorded_day, an_owner_restores_an_order_that_an_agent_took_at_the_back_of_the_queue) {
    recorded_flow_options how = policy_of(recorded_policy::refilled);
    how.refill_mean_ns = 1'000;
    const auto takes = [](agent& me) { return enters_at(me, before_the_trade, limit(side::buy, ticks(102), lots(5))); };
    const played p(day_of(one_trade), how, takes);
    EXPECT_EQ(p.departures().refills, counted(1, 5));
    EXPECT_EQ(p.departures().missing_fills, counted(1, 5));
    EXPECT_EQ(p.departures().additional_fills, counted(2, 5));
    EXPECT_EQ(p.departures().leftovers, counted(1, 5)) << "the recording has filled the order that was restored";
    EXPECT_EQ(book_side(*p.world, side::sell), "102x1 102x5");
}

TEST(recorded_day, an_order_that_was_restored_follows_its_recording) {
    recorded_flow_options how = policy_of(recorded_policy::refilled);
    how.refill_mean_ns = 1'000;
    const tape_file amended{
        "snapshot; A B 1 100 5; A A 2 102 5; A A 3 103 4",
        "A A 4 104 3",  // 4 ms
        "M A 2 102 4",  // 5 ms
        "C A 3 103 4",  // 6 ms
        "A A 5 105 1",  // 7 ms
        "M A 2 103 3",  // 8 ms
    };
    const auto takes = [](agent& me) { return enters_at(me, before_the_trade, limit(side::buy, ticks(102), lots(2))); };
    const played part(day_of(amended), how, takes);  // three lots rest, two come back
    EXPECT_EQ(part.departures().refills, counted(1, 2));
    EXPECT_EQ(book_side(*part.world, side::sell), "103x3 104x3 105x1");
    const auto takes_all = [](agent& me) {
        return enters_at(me, before_the_trade, limit(side::buy, ticks(102), lots(5)));
    };
    const played whole(day_of(amended), how, takes_all);
    EXPECT_EQ(whole.departures().refills, counted(1, 5));
    EXPECT_EQ(book_side(*whole.world, side::sell), "103x3 104x3 105x1");
    EXPECT_EQ(whole.departures().refused, counted(0, 0));
}

TEST(recorded_day, an_amend_to_less_than_an_agent_took_ends_the_order) {
    const tape_file amended{
        "snapshot; A B 1 100 5; A A 2 102 5",
        "A A 3 103 4",
        "M A 2 102 2",
    };
    const auto takes = [](agent& me) { return enters_at(me, 3 * ms + 1, limit(side::buy, ticks(102), lots(3))); };
    const played p(day_of(amended), policy_of(recorded_policy::what_is_left), takes);
    EXPECT_EQ(p.departures().ended_amends, counted(1, 2));
    EXPECT_EQ(book_side(*p.world, side::sell), "103x4");
}

TEST(recorded_day, a_recorded_order_trades_with_an_agent_that_it_did_not_meet_in_the_recording) {
    const tape_file entered{
        "snapshot; A B 1 100 5; A A 2 103 5",
        "A B 3 100 1",  // 3 ms
        "A A 4 101 4",  // 4 ms
        "C A 4 101 4",  // 5 ms
    };
    const auto bids = [](agent& me) { return enters_at(me, 3 * ms + 1, limit(side::buy, ticks(101), lots(3))); };
    const played p(day_of(entered), policy_of(recorded_policy::what_is_left), bids);
    EXPECT_EQ(p.mine.lots, 3);
    recorded_departures expected;
    expected.given_by_agents = counted(1, 3);
    expected.early_trades = counted(1, 3);
    EXPECT_EQ(p.departures(), expected);
    EXPECT_EQ(book_side(*p.world, side::sell), "103x5");
}

TEST(recorded_day, a_request_of_an_agent_takes_its_time_at_the_engine_and_the_recording_waits_for_nobody) {
    const auto takes = [](agent& me) { return enters_at(me, before_the_trade, limit(side::buy, ticks(102), lots(9))); };
    const played p(day_of(one_trade), policy_of(recorded_policy::what_is_left), takes, delay::constant(600 * us));
    EXPECT_EQ(p.world->counts().commands, 6U) << "two of the recording are left out, one is the agent's";
    EXPECT_EQ(p.departures().missing_fills, counted(0, 0)) << "the recorded aggressor came first";
    EXPECT_EQ(p.mine.lots, 6) << "of orders 3 and 4";
}

}  // namespace
}  // namespace corro::market
