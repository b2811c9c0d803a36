// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "market/calibration/parameter_search.hpp"
#include "market/calibration/scenario_template.hpp"
#include "market/calibration/stylised_facts.hpp"
#include "market/market_fixture.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::side;

double fact(const fact_values& of, std::string_view name) {
    for (std::size_t i = 0; i < facts_count; ++i) {
        if (fact_rules()[i].name == name) return of[i];
    }
    ADD_FAILURE() << name;
    return 0;
}

behaviour a_day_of_facts(agent& me) {
    me.enter(limit(side::buy, ticks(98), lots(10)));  // 0 s: 98 to 102, 10 lots each
    me.enter(limit(side::sell, ticks(102), lots(10)));
    static_cast<void>(co_await me.sleep(10 * s));
    const agent::sent behind = me.enter(limit(side::sell, ticks(102), lots(5)));  // 10 s: joins, 10 lots ahead
    me.enter(limit(side::sell, ticks(104), lots(7)));                             // not at the best price
    static_cast<void>(co_await me.sleep(4 * s));
    me.enter(limit(side::buy, ticks(102), lots(4)).ioc());  // 14 s: takes 4 from the first
    static_cast<void>(co_await me.sleep(2 * s));
    me.cancel(behind.number);  // 16 s: not filled, lived for 6 s
    static_cast<void>(co_await me.sleep(4 * s));
    me.enter(limit(side::buy, ticks(104), lots(8)).ioc());  // 20 s: takes 6 at 102 and 2 at 104, in one transaction
    static_cast<void>(co_await me.sleep(10 * s));
}

TEST(stylised_facts, are_those_of_a_day_computed_by_hand) {
    market world(options_of());
    stylised_facts observed(world, {.begin_ns = 1 * s, .end_ns = 41 * s, .sample_ns = 1 * s, .blocks_count = 2});
    world.observe_with(observed);
    world.add_agent(named("all"), [](agent& me) { return a_day_of_facts(me); });
    world.run(41 * s);
    const std::vector<fact_block> blocks = observed.take();
    const fact_values found = facts_of(blocks);
    EXPECT_NEAR(fact(found, "quoted_spread_ticks"), (4.0 * 19 + 6 * 21) / 40, 1e-9);
    // The bid has 10 lots. The offer: 10 from 1 s, 15 from 10 s, 11 from 14 s, 6 from 16 s, 5 from 20 s on.
    EXPECT_NEAR(fact(found, "depth_at_best_lots"), 5 + (10.0 * 9 + 15 * 4 + 11 * 2 + 6 * 4 + 5 * 21) / 40 / 2, 1e-9);
    EXPECT_NEAR(fact(found, "transactions_per_minute"), 2 / 40.0 * 60, 1e-9);
    EXPECT_NEAR(fact(found, "lots_per_transaction"), 6, 1e-9);
    EXPECT_NEAR(fact(found, "best_orders_per_transaction"), 0.5, 1e-9) << "only the order that joined at 10 s";
    EXPECT_NEAR(fact(found, "unchanged_share"), 39.0 / 40, 1e-9) << "the middle moves once, from 100 to 101";
    EXPECT_NEAR(fact(found, "volatility_ticks_per_root_second"), std::sqrt(1 / 40.0 - 1 / 1600.0), 1e-9);
    EXPECT_NEAR(fact(found, "impact_1_ticks"), 0, 1e-9) << "the middle before the second is that before the first";
    EXPECT_NEAR(fact(found, "life_median_seconds"), 6, 1e-9);
    EXPECT_EQ(fact(found, "filled_share_behind_less"), 0);
    ASSERT_EQ(blocks.size(), 2U);
    EXPECT_EQ(blocks[0].intervals, std::vector<double>{6});
    EXPECT_EQ(blocks[0].lots, (std::vector<double>{4, 8}));
    ASSERT_EQ(blocks[0].ended.size(), 1U);
    EXPECT_EQ(blocks[0].ended[0].ahead_lots, 10);
    EXPECT_TRUE(blocks[1].signs.empty());
}

std::vector<fact_block> blocks_of(std::uint64_t seed, std::int64_t mean_ns) {
    market world(options_of(seed));
    stylised_facts observed(world, {.begin_ns = 10 * s, .end_ns = 210 * s, .sample_ns = 1 * s});
    world.observe_with(observed);
    for (int i = 0; i < 5; ++i) {
        world.add_agent(named("noisy" + std::to_string(i)), [mean_ns](agent& me) { return noisy(me, only, mean_ns); });
    }
    world.run(210 * s);
    return observed.take();
}

TEST(stylised_facts, of_two_markets_are_near_if_the_markets_are_alike) {
    const std::vector<fact_block> recorded = blocks_of(1, 200 * ms);
    const fact_reference reference(recorded, 1);
    EXPECT_EQ(reference.distance(reference.values()), 0);
    const double of_alike = reference.distance(facts_of(blocks_of(2, 200 * ms)));
    const double of_slower = reference.distance(facts_of(blocks_of(2, 2'000 * ms)));
    EXPECT_LT(of_alike, 3) << "the same market with another seed";
    EXPECT_GT(of_slower, 2 * of_alike) << "ten times as slow";
    const std::vector<scored_fact> card = score(recorded, blocks_of(2, 2'000 * ms), 1);
    ASSERT_EQ(card.size(), facts_count);
    EXPECT_TRUE(std::ranges::is_sorted(card, std::greater(), &scored_fact::distance)) << "losses first";
    for (const scored_fact& each : card) {
        EXPECT_LE(each.recorded_low, each.recorded_high) << each.rule.name;
        EXPECT_LE(each.distance_low, each.distance_high) << each.rule.name;
        EXPECT_LE(each.distance, distance_max) << each.rule.name;
    }
}

TEST(parameter_search, finds_the_least_of_a_narrow_valley) {
    // The coordinates differ a hundredfold in what they cost.
    const auto cost_of = [](const std::vector<double>& x) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double apart = x[i] - 0.2 - 0.1 * static_cast<double>(i);
            sum += apart * apart * (i % 2 == 0 ? 1 : 100);
        }
        return sum;
    };
    parameter_search search(std::vector<double>(6, 0.9), 7);
    parameter_search again(std::vector<double>(6, 0.9), 7);
    std::vector<double> costs;
    for (int round = 0; round < 120; ++round) {
        const std::vector<std::vector<double>> asked = search.ask();
        EXPECT_EQ(asked, again.ask()) << "a seed has one search";
        if (round == 0) {
            EXPECT_EQ(asked.front(), std::vector<double>(6, 0.9));
        }
        costs.clear();
        for (const std::vector<double>& each : asked) {
            for (const double x : each) EXPECT_TRUE(x >= 0 && x <= 1) << x;
            costs.push_back(cost_of(each));
        }
        search.tell(costs);
        again.tell(costs);
    }
    EXPECT_LT(search.best_cost(), 1e-4);
    EXPECT_NEAR(search.best()[3], 0.5, 0.01);
}

TEST(scenario_template, has_its_numbers_between_their_bounds) {
    const scenario_template made("a = \"${80 in 20 to 500}ms\"\nb = ${3 in 1 to 9, whole}\nc = ${0 in -1 to 1}\n", "t");
    ASSERT_EQ(made.parameters().size(), 3U);
    EXPECT_EQ(made.parameters()[1].line, 2U);
    EXPECT_EQ(made.filled(made.begin()), "a = \"80.00ms\"\nb = 3\nc = 0.000\n");
    EXPECT_EQ(made.filled(std::vector<double>{0, 0, 0}), "a = \"20.00ms\"\nb = 1\nc = -1.000\n");
    EXPECT_EQ(made.filled(std::vector<double>{1, 1, 1}), "a = \"500.0ms\"\nb = 9\nc = 1.000\n");
    EXPECT_EQ(made.filled(std::vector<double>{0.5, 0.5, 0.75}), "a = \"100.00ms\"\nb = 3\nc = 0.5000\n");
    EXPECT_EQ(scenario_template("no parameter", "t").filled({}), "no parameter");
}

TEST(scenario_template, an_error_has_its_line) {
    const auto error_of = [](const char* text) -> std::string {
        try {
            static_cast<void>(scenario_template(text, "t.toml"));
        } catch (const node::configuration_error& e) {
            return e.what();
        }
        return "none";
    };
    EXPECT_EQ(error_of("\n${80 in 20 to 50}"), "t.toml:2: expected a number between its bounds");
    EXPECT_EQ(error_of("${80 in 20 to 500\n}"), "t.toml:1: expected a '}' after \"${\"");
    EXPECT_EQ(error_of("\n\n${80}"),
              "t.toml:3: expected NUMBER in NUMBER to NUMBER, as ${80 in 20 to 500}; found \"80\"");
    EXPECT_EQ(error_of("${1.5 in 1.2 to 1.8, whole}"), "t.toml:1: no whole number is between the bounds");
    EXPECT_NE(error_of("${nan in 1 to 2}"), "none");
    EXPECT_NE(error_of("${1 in 0 to 1e300}"), "none");
}

}  // namespace
}  // namespace corro::market
