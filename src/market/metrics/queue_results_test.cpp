// SPDX-License-Identifier: Apache-2.0
// A trade of two lots between two groups: what each has afterwards.
#include "market/metrics/queue_results.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "market/market_fixture.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::side;

behaviour rests_on_both_sides(agent& me) {
    me.enter(limit(side::sell, ticks(100), lots(3)));
    me.enter(limit(side::buy, ticks(98), lots(1)));
    co_return;
}

behaviour takes_two_lots(agent& me) {
    const bool goes_on = co_await me.sleep(5 * ms);
    if (goes_on) me.enter(limit(side::buy, ticks(100), lots(2)).ioc());
}

TEST(queue_results, of_both_sides_of_a_trade_are_opposite_but_for_the_fees) {
    market_options options = options_of();
    options.instruments[0].tick_size = domain::price_nano{250'000'000};
    options.instruments[0].lot_size = 10;
    options.fees = {{.maker = -200'000'000, .taker = 330'000'000}};
    market world(std::move(options));
    world.add_agent(named("maker"), rests_on_both_sides);
    world.add_agent(named("taker"), takes_two_lots);
    queue_results measured(world, {"maker", "taker"});
    world.observe_with(measured);
    world.run(20 * ms);
    std::map<std::string, double> is;
    for (const metric& each : measured.result()) is[each.name] = each.value;
    // Two lots were traded at 100, and the middle of 98 and 100 is 99. A tick of a lot is 0.25 x 10.
    EXPECT_EQ(is.at("maker.profit_tick_lots"), 2);
    EXPECT_EQ(is.at("taker.profit_tick_lots"), -2);
    EXPECT_DOUBLE_EQ(is.at("maker.fees_paid"), -0.4);
    EXPECT_DOUBLE_EQ(is.at("taker.fees_paid"), 0.66);
    EXPECT_DOUBLE_EQ(is.at("maker.profit_after_fees"), 5.4);
    EXPECT_DOUBLE_EQ(is.at("taker.profit_after_fees"), -5.66);
    EXPECT_EQ(is.at("maker.lots_at_end"), -2);
    EXPECT_EQ(is.at("taker.lots_at_end"), 2);
    EXPECT_EQ(is.at("maker.maker_lots"), 2);
    EXPECT_EQ(is.at("taker.taker_lots"), 2);
    EXPECT_EQ(is.at("maker.filled_share"), 0.5);
    EXPECT_EQ(is.at("maker.orders_behind_0"), 2);
}

}  // namespace
}  // namespace corro::market
