// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/test_seed.hpp"
#include "market/market_fixture.hpp"
#include "market/metrics/comparison.hpp"
#include "market/metrics/informed_trading.hpp"
#include "market/metrics/market_metrics.hpp"
#include "market/metrics/sampled_statistics.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::side;

double value_of(const std::vector<metric>& all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &metric::name);
    EXPECT_NE(found, all.end()) << name;
    return found == all.end() ? 0 : found->value;
}

behaviour a_small_day(agent& me) {
    me.enter(limit(side::buy, ticks(98), lots(10)));  // 0 s: 98 to 102, 10 lots each
    me.enter(limit(side::sell, ticks(102), lots(10)));
    static_cast<void>(co_await me.sleep(10 * s));
    me.enter(limit(side::sell, ticks(104), lots(10)));
    me.enter(limit(side::buy, ticks(102), lots(10)));  // 10 s: takes 10 at 102, middle 100: effective spread 4
    static_cast<void>(co_await me.sleep(10 * s));      // then 98 to 104, middle 101: realised 2 x (102 - 101) = 2
}

TEST(market_metrics, are_those_of_a_small_day_computed_by_hand) {
    market world(options_of());
    market_metrics measured(world.options(), 1 * s, 5 * s);
    world.observe_with(measured);
    world.add_agent(named("all"), [](agent& me) { return a_small_day(me); });
    world.run(20 * s);
    const std::vector<metric> all = measured.result(world);
    EXPECT_EQ(value_of(all, "trades"), 1);
    EXPECT_EQ(value_of(all, "volume_lots"), 10);
    EXPECT_EQ(value_of(all, "order_to_trade"), 4);
    EXPECT_NEAR(value_of(all, "quoted_spread_ticks"), (4.0 * 10 + 6 * 10) / 20, 1e-9);
    EXPECT_NEAR(value_of(all, "effective_spread_ticks"), 4, 1e-9);
    EXPECT_NEAR(value_of(all, "realised_spread_ticks"), 2, 1e-9);
    EXPECT_NEAR(value_of(all, "price_impact_ticks"), 2, 1e-9);
    EXPECT_NEAR(value_of(all, "depth_at_best_lots"), 10, 1e-9);
    EXPECT_NEAR(value_of(all, "quoted_time_share"), 1, 1e-9);
    EXPECT_EQ(value_of(all, "commands"), 4);
}

behaviour widens_and_returns(agent& me) {
    me.enter(limit(side::buy, ticks(98), lots(10)));
    me.enter(limit(side::sell, ticks(102), lots(10)));
    me.enter(limit(side::sell, ticks(104), lots(10)));
    static_cast<void>(co_await me.sleep(10 * s));
    me.enter(limit(side::buy, ticks(102), lots(10)));  // 10 s: 98 to 104, wider than 4
    static_cast<void>(co_await me.sleep(1 * s));
    me.enter(limit(side::sell, ticks(103), lots(10)));  // 11 s: still wider
    static_cast<void>(co_await me.sleep(2 * s));
    me.enter(limit(side::sell, ticks(102), lots(10)));  // 13 s: back after 3 s
    static_cast<void>(co_await me.sleep(7 * s));
    me.enter(limit(side::buy, ticks(103), lots(20)));  // 20 s: two levels in one transaction, 98 to 104
    static_cast<void>(co_await me.sleep(2 * s));
    me.enter(limit(side::sell, ticks(98), lots(5)));  // 22 s: another transaction comes first, and widens nothing
    static_cast<void>(co_await me.sleep(1 * s));
    me.enter(limit(side::sell, ticks(102), lots(10)));  // 23 s: too late
    static_cast<void>(co_await me.sleep(1 * s));
    me.enter(limit(side::sell, ticks(98), lots(5)));  // 24 s: the last bid goes
    static_cast<void>(co_await me.sleep(1 * s));
    me.enter(limit(side::buy, ticks(99), lots(1)));  // 25 s: back after 1 s, and narrower
}

TEST(market_metrics, resilience_is_that_of_a_day_computed_by_hand) {
    market world(options_of());
    market_metrics measured(world.options(), 1 * s, 5 * s);
    world.observe_with(measured);
    world.add_agent(named("all"), [](agent& me) { return widens_and_returns(me); });
    world.run(30 * s);
    const std::vector<metric> all = measured.result(world);
    EXPECT_EQ(value_of(all, "trades"), 5);
    EXPECT_NEAR(value_of(all, "resilience_share"), 2.0 / 3, 1e-12);
    EXPECT_NEAR(value_of(all, "resilience_seconds"), (3.0 + 1) / 2, 1e-12);
    EXPECT_NEAR(value_of(all, "vpin"), (40 - 0.8) / 40, 1e-9) << "30 bought, 10 sold: one bucket of 0.8 has both";
    EXPECT_EQ(std::ranges::count(all, "pin", &metric::name), 0) << "fewer than 40 samples";
}

TEST(informed_trading, vpin_cuts_trades_at_the_ends_of_buckets) {
    // 12 lots in 3 buckets of 4: +4, then +2 and -2, then +4.
    EXPECT_NEAR(vpin_of(std::vector<double>{6, -2, 4}, 3), 8.0 / 12, 1e-12);
    EXPECT_NEAR(vpin_of(std::vector<double>{6, -2, 4}, 1), 8.0 / 12, 1e-12);
    EXPECT_NEAR(vpin_of(std::vector<double>{1, -1, 1, -1}, 2), 0, 1e-12);
    EXPECT_NEAR(vpin_of(std::vector<double>{-7}, 50), 1, 1e-9);
    EXPECT_EQ(vpin_of({}, 50), 0);
}

TEST(informed_trading, pin_is_that_of_periods_that_leave_no_doubt) {
    // 6 periods without news, 3 of good and 1 of bad: a = 0.4, d = 0.25, b = s = 10, m = 100. PIN = 40 / 60.
    std::vector<period_trades> periods(6, {10, 10});
    periods.insert(periods.end(), 3, {110, 10});
    periods.push_back({10, 110});
    const informed_trading found = estimate_informed_trading(periods);
    EXPECT_NEAR(found.news_share, 0.4, 1e-6);
    EXPECT_NEAR(found.bad_news_share, 0.25, 1e-6);
    EXPECT_NEAR(found.buys, 10, 1e-4);
    EXPECT_NEAR(found.sells, 10, 1e-4);
    EXPECT_NEAR(found.informed, 100, 1e-3);
    EXPECT_NEAR(found.pin(), 40.0 / 60, 1e-6);
    EXPECT_EQ(estimate_informed_trading({}).pin(), 0);
    EXPECT_EQ(estimate_informed_trading(std::vector<period_trades>(40)).pin(), 0) << "no trades";
}

TEST(informed_trading, pin_finds_the_model_that_made_the_trades) {
    random_stream random(base::test_seed(), "periods");
    const auto poisson = [&random](double rate) {
        std::uint32_t count = 0;
        for (double at = random.exponential(1); at < rate; at += random.exponential(1)) ++count;
        return count;
    };
    std::vector<period_trades> periods;
    for (int i = 0; i < 2'000; ++i) {
        const bool has_news = random.chance(0.3);
        const bool is_bad = random.chance(0.4);
        const double informed = has_news ? 30 : 0;
        periods.push_back({poisson(20 + (is_bad ? 0 : informed)), poisson(25 + (is_bad ? informed : 0))});
    }
    const informed_trading found = estimate_informed_trading(periods);
    EXPECT_NEAR(found.news_share, 0.3, 0.06);
    EXPECT_NEAR(found.bad_news_share, 0.4, 0.12);
    EXPECT_NEAR(found.informed, 30, 2.5);
    EXPECT_NEAR(found.buys, 20, 0.8);
    EXPECT_NEAR(found.sells, 25, 0.8);
    EXPECT_NEAR(found.pin(), 9.0 / 54, 0.035);
}

TEST(sampled_statistics, know_a_random_walk_and_an_autoregression) {
    random_stream random(base::test_seed(), "series");
    std::vector<double> walk{0};
    std::vector<double> steps;
    std::vector<double> remembering{0};
    for (int i = 0; i < 100'000; ++i) {
        steps.push_back(random.normal());
        walk.push_back(walk.back() + steps.back());
        remembering.push_back(0.5 * remembering.back() + random.normal());
    }
    EXPECT_NEAR(variance_ratio(walk, 10), 1, 0.05);
    EXPECT_NEAR(autocorrelation(steps, 1), 0, 0.015);
    EXPECT_NEAR(autocorrelation(remembering, 1), 0.5, 0.015);
    EXPECT_NEAR(autocorrelation(remembering, 3), 0.125, 0.015);
    EXPECT_NEAR(hurst_exponent(steps), 0.5, 0.05);
    std::vector<double> tails;
    for (int i = 0; i < 100'000; ++i) tails.push_back(random.pareto(1, 3));
    EXPECT_NEAR(hill_tail(tails, 0.05), 3, 0.2);
    std::vector<double> doubled;
    for (const double each : steps) doubled.push_back(2 * each + random.normal());
    EXPECT_NEAR(slope_of(steps, doubled), 2, 0.02);
    EXPECT_EQ(variance_of(std::vector<double>{1, 2, 3, 4}), 5.0 / 3);
    EXPECT_EQ(hurst_exponent(std::vector<double>{1, 2}), 0.5);
}

TEST(sampled_statistics, signs_of_cut_orders_remember) {
    // Lillo, Mike and Farmer: sizes of exponent 1.5 give signs whose memory has H = (3 - 1.5) / 2 + ... > 1/2.
    random_stream random(base::test_seed(), "signs");
    std::vector<double> signs;
    while (signs.size() < 100'000) {
        const double sign = random.chance(0.5) ? 1 : -1;
        for (double left = std::min(random.pareto(1, 1.5), 5'000.0); left >= 1; left -= 1) signs.push_back(sign);
    }
    EXPECT_GT(hurst_exponent(signs), 0.65);
    EXPECT_GT(autocorrelation(signs, 10), 0.2);
}

TEST(comparison, finds_a_difference_that_is_there_and_none_that_is_not) {
    random_stream random(base::test_seed(), "pairs");
    std::vector<double> first;
    std::vector<double> same;
    std::vector<double> higher;
    for (int i = 0; i < 100; ++i) {
        first.push_back(random.normal(10, 5));
        same.push_back(first.back() + random.normal(0, 1));
        higher.push_back(first.back() + random.normal(0.5, 1));
    }
    const paired_difference none = compare_pairs(first, same, 1);
    EXPECT_GT(none.p_value, 0.001);
    const paired_difference some = compare_pairs(first, higher, 1);
    EXPECT_LT(some.p_value, 0.01);
    EXPECT_GT(some.low, 0);
    EXPECT_LT(some.low, some.difference);
    EXPECT_GT(some.high, some.difference);
    EXPECT_NEAR(some.difference, 0.5, 0.4);
}

TEST(comparison, covers_the_true_difference_as_often_as_it_says) {
    random_stream random(base::test_seed(), "coverage");
    int covered = 0;
    for (int run = 0; run < 100; ++run) {
        std::vector<double> first;
        std::vector<double> second;
        for (int i = 0; i < 30; ++i) {
            first.push_back(random.normal());
            second.push_back(first.back() + random.normal(1, 1));
        }
        const paired_difference d = compare_pairs(first, second, static_cast<std::uint64_t>(run));
        covered += d.low <= 1 && 1 <= d.high ? 1 : 0;
    }
    EXPECT_GE(covered, 84);  // 95 expected, less for a bootstrap of 30
}

TEST(comparison, corrects_for_the_number_of_tests) {
    const std::vector<double> corrected = holm_correction(std::vector<double>{0.01, 0.04, 0.03});
    EXPECT_NEAR(corrected[0], 0.03, 1e-12);
    EXPECT_NEAR(corrected[2], 0.06, 1e-12);
    EXPECT_NEAR(corrected[1], 0.06, 1e-12);
}

}  // namespace
}  // namespace corro::market
