// SPDX-License-Identifier: Apache-2.0
// A recording written by hand, in which every middle is known, and an agent that takes two of its orders.
#include "market/metrics/metaorder_impact.hpp"

#include <gtest/gtest.h>

#include <map>
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

// Four orders of a snapshot, then a record at 5, 6 and 7 ms. The middle is 99.5 until 7 ms, then 100.5.
const tape_file rising{"snapshot; A B 1 97 50; A A 2 102 1; A A 3 103 1; A A 4 104 50", "A B 5 90 1", "A A 6 103 5",
                       "M B 1 99 50", "A B 7 91 1"};
// The same with both sides exchanged around 100: the middle is 100.5, then 99.5.
const tape_file falling{"snapshot; A A 1 103 50; A B 2 98 1; A B 3 97 1; A B 4 96 50", "A A 5 110 1", "A B 6 97 5",
                        "M A 1 101 50", "A A 7 109 1"};

struct piece {
    std::int64_t at_ns;
    side which;
    std::int64_t price;
};

behaviour trades_in_pieces(agent& me, std::vector<piece> pieces) {
    for (const piece& each : pieces) {
        const bool goes_on = co_await me.sleep(each.at_ns - me.now_ns());
        if (!goes_on) co_return;
        me.enter(limit(each.which, ticks(each.price), lots(1)).ioc());
    }
}

std::vector<impact_curve> curves_of(const tape_file& file, const std::vector<piece>& pieces,
                                    std::int64_t end_ns = 20 * ms) {
    recorded::replay::scratch_folder folder;
    recorded::replay::recording_options files;
    files.files = {folder.write("tape.dbn", recorded::replay::dbn_bytes(file))};
    const auto day = std::make_shared<const recorded_day>(load_recorded_day(files));
    market_options options;
    options.instruments.push_back(day->instrument);
    options.start_ns = day->start_ns;
    options.orders_max = 1'000;
    market world(std::move(options));
    world.add_agent(named("you"), [pieces](agent& me) { return trades_in_pieces(me, pieces); });
    const auto flow = std::make_shared<recorded_flow>(day, recorded_flow_options(), 1);
    world.observe_with(*flow);
    world.take_commands_from(flow);
    metaorder_impact measured(day, {"you"});
    world.observe_with(measured);
    world.run(end_ns);
    return measured.curves(end_ns);
}

const std::vector<piece> two_buys{{4'200'000, side::buy, 102}, {5'200'000, side::buy, 103}};
const std::vector<piece> two_sells{{4'200'000, side::sell, 98}, {5'200'000, side::sell, 97}};

void expect_curve(const std::vector<impact_curve>& all, side which, double sign) {
    ASSERT_EQ(all.size(), 1U);
    const impact_curve& one = all.front();
    EXPECT_EQ(one.group, "you");
    EXPECT_EQ(one.side, which);
    EXPECT_EQ(one.lots, 2);
    EXPECT_EQ(one.first_fill_ns, 4'200'000);
    EXPECT_EQ(one.last_fill_ns, 5'200'000);
    ASSERT_EQ(one.points.size(), 15U);
    for (std::size_t i = 0; i < 10; ++i) {
        const impact_point& at = one.points[i];
        EXPECT_FALSE(at.is_after);
        EXPECT_EQ(at.percent, 10 * (i + 1));
        EXPECT_EQ(at.at_ns, i < 5 ? 4'200'000 : 5'200'000) << i;
        EXPECT_EQ(at.recorded_middle, 100 - sign * 0.5) << i;
        EXPECT_EQ(at.impact_ticks, i < 5 ? 0.5 : 1.0) << "each order that was taken uncovers the next tick, " << i;
    }
    // At 6 ms an order is entered behind those that were taken, and half of the impact is gone. At 7 ms the whole
    // market moves by a tick, which is no impact.
    const std::vector<std::int64_t> times{5'300'000, 5'450'000, 5'700'000, 6'200'000, 7'200'000};
    const std::vector<double> impacts{1, 1, 1, 0.5, 0.5};
    const std::vector<double> recorded{-0.5, -0.5, -0.5, -0.5, 0.5};
    for (std::size_t i = 0; i < times.size(); ++i) {
        const impact_point& at = one.points[10 + i];
        EXPECT_TRUE(at.is_after);
        EXPECT_EQ(at.percent, metaorder_impact::after_percents[i]);
        EXPECT_EQ(at.at_ns, times[i]);
        EXPECT_EQ(at.recorded_middle, 100 + sign * recorded[i]) << i;
        EXPECT_EQ(at.middle, 100 + sign * (recorded[i] + impacts[i])) << i;
        EXPECT_EQ(at.impact_ticks, impacts[i]) << i;
    }
}

TEST(metaorder_impact, is_the_distance_to_the_recorded_middle_during_and_after_a_buy) {
    expect_curve(curves_of(rising, two_buys), side::buy, 1);
}

TEST(metaorder_impact, of_a_seller_has_the_other_sign) {
    expect_curve(curves_of(falling, two_sells), side::sell, -1);
}

TEST(metaorder_impact, has_the_points_that_the_run_has_reached) {
    const auto all = curves_of(rising, two_buys, 5'800'000);
    ASSERT_EQ(all.size(), 1U);
    ASSERT_EQ(all[0].points.size(), 13U);
    EXPECT_EQ(all[0].points.back().percent, 50U);
}

TEST(metaorder_impact, is_not_defined_for_a_group_that_trades_on_both_sides_or_not_at_all) {
    EXPECT_TRUE(curves_of(rising, {}).empty());
    EXPECT_TRUE(curves_of(rising, {two_buys[0], {5'200'000, side::sell, 97}}).empty());
}

TEST(metaorder_impact, names_its_points_as_metrics) {
    std::map<std::string, double> found;
    for (const metric& each : metrics_of(curves_of(rising, two_buys).at(0))) found[each.name] = each.value;
    EXPECT_EQ(found.size(), 17U);
    EXPECT_EQ(found.at("you.metaorder_lots"), 2);
    EXPECT_EQ(found.at("you.metaorder_seconds"), 0.001);
    EXPECT_EQ(found.at("you.impact_done_50_ticks"), 0.5);
    EXPECT_EQ(found.at("you.impact_done_100_ticks"), 1);
    EXPECT_EQ(found.at("you.impact_after_200_ticks"), 0.5);
}

}  // namespace
}  // namespace corro::market
