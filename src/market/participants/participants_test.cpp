// SPDX-License-Identifier: Apache-2.0
#include "market/participants/participants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_seed.hpp"
#include "market/market_fixture.hpp"
#include "market/participants/common_workload.hpp"
#include "market/participants/quoting.hpp"
#include "market/scenario/scenario_parts.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::side;

TEST(oracle, has_the_moments_of_an_ornstein_uhlenbeck_process) {
    oracle_options how;
    how.start_ticks = 500;
    how.mean_ticks = 100;
    how.reversion_per_second = 0.5;
    how.volatility = 4;
    how.step_ns = 10'000'000;
    const int runs = 4'000;
    const std::uint64_t seed = base::test_seed();
    double sum = 0;
    double squares = 0;
    const double t = 2;
    for (int i = 0; i < runs; ++i) {
        oracle one(how, seed + static_cast<std::uint64_t>(i), "test");
        const double x = one.at(static_cast<std::int64_t>(t * 1e9));
        sum += x;
        squares += x * x;
    }
    const double mean = sum / runs;
    const double variance = squares / runs - mean * mean;
    const double exact_variance = 16 / (2 * 0.5) * (1 - std::exp(-2 * 0.5 * t));
    EXPECT_NEAR(mean, 100 + 400 * std::exp(-0.5 * t), 4 * std::sqrt(exact_variance / runs));
    EXPECT_NEAR(variance, exact_variance, 0.1 * exact_variance);
}

TEST(oracle, has_the_moments_of_heston_s_process) {
    oracle_options how;
    how.volatility = 2;
    how.variance_reversion_per_second = 0.5;
    how.variance_volatility = 0.6;
    how.variance_correlation = -0.7;
    how.step_ns = 50'000'000;
    oracle one(how, 7, "heston");
    // Changes of a fifth of a second: the variance hardly moves within one.
    constexpr int count = 400'000;
    double squares = 0;
    double fourths = 0;
    double leverage = 0;  // of a change on the square of the next
    double before = 0;
    for (int i = 1; i <= count; ++i) {
        const double now = one.at(std::int64_t{i} * 200'000'000);
        const double last = one.at(std::int64_t{i - 1} * 200'000'000);
        const double change = now - last;
        squares += change * change;
        fourths += change * change * change * change;
        leverage += before * change * change;
        before = change;
    }
    const double variance = squares / count;
    EXPECT_NEAR(variance, 2 * 2 * 0.2, 0.05 * 0.8);
    // 3 E[v^2] = 3 (1 + b^2 / (2 a)) = 4.08, less what v moves within a change.
    EXPECT_NEAR(fourths / count / (variance * variance), 4.08, 0.25);
    EXPECT_LT(leverage / count, -0.02) << "falls come before large changes";
}

TEST(oracle, gives_the_same_path_in_any_order_of_looks) {
    oracle_options how;
    how.volatility = 1;
    how.jumps_per_second = 0.5;
    how.jump_deviation_ticks = 10;
    how.shocks = {{3 * s, 40}};
    oracle forwards(how, 1, "x");
    oracle jumping(how, 1, "x");
    const double late = jumping.at(9 * s);
    std::vector<double> path;
    for (std::int64_t at = 0; at <= 9 * s; at += 100 * ms) path.push_back(forwards.at(at));
    EXPECT_EQ(path.back(), late);
    EXPECT_EQ(jumping.at(2 * s), path[20]);
}

TEST(oracle, adds_shocks_that_stay_and_follows_a_given_path) {
    oracle_options how;
    how.shocks = {{3 * s, 40}};
    oracle shocked(how, 1, "x");
    EXPECT_EQ(shocked.at(3 * s - 1), 10'000);
    EXPECT_EQ(shocked.at(3 * s + 1 * ms), 10'040);
    EXPECT_EQ(shocked.at(60 * s), 10'040);
    how.path = {{1 * s, 5}, {2 * s, 7}};
    oracle given(how, 1, "x");
    EXPECT_EQ(given.at(0), 5);
    EXPECT_EQ(given.at(2 * s - 1), 5);
    EXPECT_EQ(given.at(2 * s), 7);
    EXPECT_EQ(given.at(3 * s - 1), 7);
    EXPECT_EQ(given.at(3 * s), 47) << "news is added to given values, too";
    EXPECT_EQ(given.at(90 * s), 47);
}

TEST(oracle, a_look_at_a_given_path_reads_a_few_entries_however_many_there_are) {
    // Twice as many entries add one reading to each of the two searches.
    const auto readings_of = [](std::int64_t count) {
        oracle_options how;
        for (std::int64_t i = 0; i < count; ++i) {
            how.path.emplace_back(i * s, static_cast<double>(i));
            how.shocks.emplace_back(i * s, 0.5);
        }
        oracle one(how, 1, "x");
        constexpr std::int64_t looks = 100;
        for (std::int64_t i = 0; i < looks; ++i) {
            const std::int64_t second = count * i / looks;
            EXPECT_EQ(one.at(second * s), static_cast<double>(second) + 0.5 * static_cast<double>(second + 1));
        }
        return static_cast<double>(one.entries_read()) / static_cast<double>(looks);
    };
    const double few = readings_of(1'000);
    const double many = readings_of(32'000);  // 2^5 times as many
    EXPECT_GT(few, 2) << "the readings are counted";
    EXPECT_NEAR(many - few, 2 * 5, 1);
    EXPECT_LT(many, 40);
}

/// The normal draws of a path: without reversion, each change is the volatility times one.
std::vector<double> draws_of(const oracle_options& how, std::uint64_t seed, std::string_view name, int count) {
    oracle path(how, seed, name);
    std::vector<double> all;
    for (int i = 1; i <= count; ++i) {
        const double now = path.at(std::int64_t{i} * how.step_ns);
        all.push_back(now - path.at(std::int64_t{i - 1} * how.step_ns));
    }
    return all;
}

oracle_options factor_walk(std::vector<oracle_options::factor> factors) {
    oracle_options how;
    how.start_ticks = how.mean_ticks = 0;
    how.volatility = 3;
    how.step_ns = 1 * s;
    how.factors = std::move(factors);
    return how;
}

double mean_product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum / static_cast<double>(a.size());
}

TEST(oracle, values_with_common_factors_have_the_correlations_of_their_loadings) {
    const auto near = factor_walk({{"index", 0.8}, {"rates", 0.3}});
    const auto far = factor_walk({{"index", 0.6}, {"rates", -0.5}});
    const auto alone = factor_walk({{"oil", 0.9}});
    const double exact = 0.8 * 0.6 - 0.3 * 0.5;
    constexpr int count = 4'000;
    constexpr int runs = 25;
    const std::uint64_t seed = base::test_seed();
    double mean = 0;
    for (std::uint64_t i = 0; i < runs; ++i) {
        const auto a = draws_of(near, seed + i, "near", count);
        const auto b = draws_of(far, seed + i, "far", count);
        const auto c = draws_of(alone, seed + i, "alone", count);
        // Five errors each: a product of normal numbers with correlation c has the variance 1 + c^2, a square 2.
        const double error = 5 * 9 / std::sqrt(count);
        EXPECT_NEAR(mean_product(a, b), 9 * exact, error * std::sqrt(1 + exact * exact)) << "seed " << seed + i;
        EXPECT_NEAR(mean_product(a, c), 0, error) << "seed " << seed + i;
        for (const auto& each : {a, b, c}) {
            EXPECT_NEAR(mean_product(each, each), 9, error * std::sqrt(2.0)) << "seed " << seed + i;
        }
        mean += mean_product(a, b) / 9 / runs;
    }
    EXPECT_NEAR(mean, exact, 5 * std::sqrt((1 + exact * exact) / (count * runs))) << "seed " << seed;
}

TEST(oracle, common_factors_keep_the_moments_of_a_path) {
    auto how = factor_walk({{"index", -0.6}, {"rates", 0.8}});
    how.reversion_per_second = 0.5;
    double squares = 0;
    double fourths = 0;
    oracle path(how, base::test_seed(), "value");
    constexpr int count = 50'000;
    for (int i = 1; i <= count; ++i) {
        // Values ten seconds apart hardly depend on each other.
        const double x = path.at(std::int64_t{i} * 10 * s);
        squares += x * x / count;
        fourths += x * x * x * x / count;
    }
    EXPECT_NEAR(squares, 9, 5 * 9 * std::sqrt(2.1 / count)) << "sigma^2 / (2 k)";
    EXPECT_NEAR(fourths / (squares * squares), 3, 5 * std::sqrt(30.0 / count));
}

TEST(oracle, a_path_depends_on_no_other_one_and_two_with_the_whole_factor_are_the_same) {
    const auto plain = draws_of(factor_walk({}), 7, "near", 50);
    EXPECT_EQ(draws_of(factor_walk({{"index", 0}}), 7, "near", 50), plain) << "its own draws are those without factors";
    const auto one = draws_of(factor_walk({{"index", 1}}), 7, "near", 50);
    EXPECT_EQ(draws_of(factor_walk({{"index", 1}}), 7, "far", 50), one);
    EXPECT_NE(one, plain);
    auto mirrored = draws_of(factor_walk({{"index", -1}}), 7, "far", 50);
    for (double& each : mirrored) each = -each;
    EXPECT_EQ(mirrored, one);
    // Jumps come from the path's own stream, which a factor does not move.
    auto jumping = factor_walk({{"index", 0.7}});
    jumping.jumps_per_second = 0.2;
    jumping.jump_deviation_ticks = 1'000;
    auto alone = jumping;
    alone.factors.clear();
    oracle with(jumping, 3, "x");
    oracle without(alone, 3, "x");
    EXPECT_NEAR(with.at(200 * s), without.at(200 * s), 8 * 3 * std::sqrt(2 * 200.0));
    EXPECT_GT(std::abs(with.at(200 * s)), 600) << "there were jumps";
}

TEST(hawkes, has_its_mean_rates_and_clusters) {
    // Rates (I - B)^-1 mu with B = [[0.5, 0.2], [0.2, 0.5]] and mu = (1, 1): 1 / (1 - 0.7) each.
    hawkes_options how;
    how.base = {1, 1};
    how.terms = {{10, {3, 1, 1, 3}}, {1, {0.2, 0.1, 0.1, 0.2}}};
    EXPECT_NEAR(hawkes_process::row_sum_max(how), 0.7, 1e-12);
    hawkes_process process(how);
    random_stream random(base::test_seed(), "hawkes");
    const double until = 60'000;
    std::vector<double> counts_per_second(static_cast<std::size_t>(until), 0);
    double of_kind[2] = {0, 0};
    for (;;) {
        const auto next = process.next(random);
        if (next.at >= until) break;
        of_kind[next.kind] += 1;
        counts_per_second[static_cast<std::size_t>(next.at)] += 1;
    }
    EXPECT_NEAR(of_kind[0] / until, 1 / 0.3, 0.1);
    EXPECT_NEAR(of_kind[1] / until, 1 / 0.3, 0.1);
    double sum = 0;
    double squares = 0;
    for (const double each : counts_per_second) {
        sum += each;
        squares += each * each;
    }
    const double mean = sum / until;
    // Poisson counts would have a variance of their mean.
    EXPECT_GT(squares / until - mean * mean, 2 * mean);
}

TEST(optimal_maker, quotes_the_published_distances) {
    optimal_maker_options how;  // Avellaneda and Stoikov's: gamma 0.1, sigma 2, k 1.5, T 1
    const quote_distances flat = avellaneda_stoikov(how, 0, 1);
    EXPECT_NEAR(flat.bid + flat.ask, 0.1 * 4 + 20 * std::log(1 + 0.1 / 1.5), 1e-12);
    EXPECT_EQ(flat.bid, flat.ask);
    const quote_distances is_long = avellaneda_stoikov(how, 3, 0.5);
    EXPECT_NEAR(is_long.bid - is_long.ask, 2 * 3 * 0.1 * 4 * 0.5, 1e-12) << "a long maker bids lower";
    const quote_distances without_end = gueant_lehalle_fernandez_tapia(how, 0);
    const double slope = std::sqrt(4 * 0.1 / (2 * 1.5 * 140) * std::pow(1 + 0.1 / 1.5, 1 + 1.5 / 0.1));
    EXPECT_NEAR(without_end.bid, std::log(1 + 0.1 / 1.5) / 0.1 + slope / 2, 1e-12);
    EXPECT_NEAR(gueant_lehalle_fernandez_tapia(how, 4).bid - without_end.bid, 4 * slope, 1e-12);
}

/// The simulation of section 3.3 of Avellaneda and Stoikov (2008): T = 1, dt = 0.005, s0 = 100, A = 140.
struct maker_outcome {
    double profit_mean, profit_deviation, position_deviation;
};
maker_outcome simulate_maker(bool by_inventory, std::uint64_t seed) {
    optimal_maker_options how;
    random_stream random(seed, "avellaneda-stoikov");
    const int runs = 2'000;
    const double dt = 0.005;
    double profit[2] = {0, 0};
    double position[2] = {0, 0};
    for (int i = 0; i < runs; ++i) {
        double mid = 100;
        double q = 0;
        double cash = 0;
        for (int step = 0; step < 200; ++step) {
            const quote_distances at = avellaneda_stoikov(how, by_inventory ? q : 0, 1 - dt * step);
            const bool buys = random.chance(140 * std::exp(-1.5 * at.bid) * dt);
            const bool sells = random.chance(140 * std::exp(-1.5 * at.ask) * dt);
            if (buys) cash -= mid - at.bid;
            if (sells) cash += mid + at.ask;
            q += (buys ? 1 : 0) - (sells ? 1 : 0);
            mid += (random.chance(0.5) ? 2 : -2) * std::sqrt(dt);
        }
        const double gained = cash + q * mid;
        profit[0] += gained;
        profit[1] += gained * gained;
        position[0] += q;
        position[1] += q * q;
    }
    const auto deviation = [](const double(&m)[2]) { return std::sqrt(m[1] / runs - m[0] / runs * m[0] / runs); };
    return {profit[0] / runs, deviation(profit), deviation(position)};
}

TEST(optimal_maker, has_the_published_profit_and_inventory) {
    // Table 1 of the paper, gamma = 0.1, 1,000 runs: inventory strategy 62.94 (5.89), position 2.80; symmetric 67.21
    // (13.43), position 8.66. The differences allowed are those of their and our samples.
    const maker_outcome by_inventory = simulate_maker(true, base::test_seed());
    EXPECT_NEAR(by_inventory.profit_mean, 62.94, 2.5);
    EXPECT_NEAR(by_inventory.profit_deviation, 5.89, 1.0);
    EXPECT_NEAR(by_inventory.position_deviation, 2.80, 0.4);
    const maker_outcome symmetric = simulate_maker(false, base::test_seed());
    EXPECT_NEAR(symmetric.profit_mean, 67.21, 2.5);
    EXPECT_NEAR(symmetric.profit_deviation, 13.43, 1.5);
    EXPECT_NEAR(symmetric.position_deviation, 8.66, 0.8);
}

TEST(black_76, has_the_price_of_the_textbook_and_keeps_parity) {
    // Hull, "Options, Futures, and Other Derivatives", without discounting: F = K = 20, sigma 0.25, four months.
    const option_value put = black_76(false, 20, 20, 4.0 / 12, 0.25);
    EXPECT_NEAR(put.price * std::exp(-0.09 * 4 / 12), 1.12, 0.005);
    const option_value call = black_76(true, 95, 100, 0.5, 0.3);
    const option_value other = black_76(false, 95, 100, 0.5, 0.3);
    EXPECT_NEAR(call.price - other.price, 95 - 100, 1e-10);
    EXPECT_NEAR(call.delta - other.delta, 1, 1e-12);
    EXPECT_EQ(black_76(true, 95, 90, 0, 0.3).price, 5);
}

TEST(execution, follows_its_schedule) {
    execution_options how;
    how.duration_ns = 100 * s;
    EXPECT_EQ(done_by(how, 0.25), 0.25);
    how.kind = schedule_kind::vwap;
    how.curve = {3, 1};
    EXPECT_EQ(done_by(how, 0.25), 0.375);
    EXPECT_EQ(done_by(how, 0.5), 0.75);
    EXPECT_EQ(done_by(how, 2), 1);
    how.kind = schedule_kind::almgren_chriss;
    how.urgency_per_second = 0.03;
    EXPECT_NEAR(done_by(how, 0.5), 1 - std::sinh(1.5) / std::sinh(3.0), 1e-12);
    how.urgency_per_second = 0;
    EXPECT_EQ(done_by(how, 0.5), 0.5);
}

behaviour offers_without_end(agent& me, domain::instrument_id in) {
    for (;;) {
        if (working_lots(me, in, side::sell) < 500) me.enter(limit(side::sell, ticks(100), lots(1'000)).on(in));
        const bool goes_on = co_await me.sleep(10 * ms);
        if (!goes_on) co_return;
    }
}

TEST(execution, buys_what_it_shall_and_no_more) {
    for (const schedule_kind kind : {schedule_kind::twap, schedule_kind::vwap, schedule_kind::almgren_chriss}) {
        market world(options_of());
        world.add_agent(named("seller"), [](agent& me) { return offers_without_end(me, only); });
        execution_options how;
        how.kind = kind;
        how.lots = 137;
        how.begin_ns = 1 * s;
        how.duration_ns = 10 * s;
        how.slice_ns = 500 * ms;
        how.curve = {1, 2, 1};
        agent& buyer =
            world.add_agent(named("buyer", link_of(delay::constant(1 * ms), delay::constant(1 * ms), delay())),
                            [how](agent& me) { return execution(me, how); });
        world.run(6 * s);
        const std::int64_t halfway = buyer.true_holdings().front().lots;
        EXPECT_GT(halfway, 60);
        EXPECT_LT(halfway, 110);
        world.run(60 * s);
        EXPECT_EQ(buyer.true_holdings().front().lots, 137);
    }
}

/// Offers 50 lots at 100; begins an auction after a second, which ends at ten; halts from 20 s on.
behaviour offers_and_changes_the_phase(agent& me) {
    me.enter(limit(side::sell, ticks(100), lots(50)).on(only));
    const auto change = [&me](domain::trading_phase to) {
        domain::command c;
        c.kind = domain::command_kind::change_phase;
        c.payload.change_phase = domain::change_phase{};
        c.instrument = only;
        c.change_phase().phase = to;
        me.send(c);
    };
    const std::vector<std::pair<std::int64_t, domain::trading_phase>> all{
        {1, domain::trading_phase::volatility_auction},
        {10, domain::trading_phase::continuous},
        {20, domain::trading_phase::halted}};
    for (const auto& each : all) {
        const bool goes_on = co_await me.sleep(each.first * s - me.now_ns());
        if (!goes_on) co_return;
        change(each.second);
    }
}

behaviour value_after(agent& me, value_options how, std::int64_t pause_ns) {
    const bool goes_on = co_await me.sleep(pause_ns);
    if (goes_on) co_await value_trader(me, how);
}

TEST(value_trader, bids_its_estimate_in_an_auction_takes_afterwards_and_waits_in_a_halt) {
    market world(options_of());
    event_list seen;
    world.observe_with(seen);
    agent_options by = named("seller");
    by.is_operator = true;
    world.add_agent(by, [](agent& me) { return offers_and_changes_the_phase(me); });
    oracle_options worth;
    worth.start_ticks = 110;
    value_options how;
    how.fundamental = std::make_shared<oracle>(worth, 1, "value");
    how.interval_ns = 1e8;
    how.observation_deviation_ticks = 0;
    how.threshold_ticks = 2;
    how.lots = 3;
    how.position_max = 20;
    agent& trader = world.add_agent(named("value"), [how](agent& me) { return value_after(me, how, 2 * s); });
    world.run(9 * s);
    ASSERT_FALSE(trader.orders().empty());
    EXPECT_EQ(trader.orders().back().price, ticks(108)) << "its estimate less the threshold";
    EXPECT_TRUE(trader.true_holdings().empty());
    world.run(10 * s);
    ASSERT_EQ(trader.true_holdings().size(), 1U);
    EXPECT_EQ(trader.true_holdings()[0].lots, 3) << "the auction has filled it";
    world.run(20 * s);
    EXPECT_EQ(trader.true_holdings()[0].lots, 20) << "it takes the offer";
    world.run(30 * s);
    EXPECT_EQ(seen.count(domain::event_kind::order_rejected), 0);
}

behaviour sells_to_the_maker(agent& me) {
    me.enter(limit(side::buy, ticks(98), lots(1'000)));
    me.enter(limit(side::sell, ticks(102), lots(1'000)));
    static_cast<void>(co_await me.sleep(5 * s));
    me.enter(limit(side::sell, ticks(99), lots(100)).ioc());
    static_cast<void>(co_await me.sleep(20 * s));
}

TEST(ladder_maker, with_a_large_position_stands_behind_the_other_side_and_is_not_rejected) {
    market world(options_of());
    event_list seen;
    world.observe_with(seen);
    world.add_agent(named("other"), [](agent& me) { return sells_to_the_maker(me); });
    ladder_options how;
    how.half_spread_ticks = 1;
    how.levels = 2;
    how.lots = 100;
    how.skew_ticks = 0.1;  // 100 lots move the centre by 10 ticks: the offers want to stand at 91 and 92
    agent& maker = world.add_agent(named("maker"), [how](agent& me) { return ladder_maker(me, how); });
    world.run(20 * s);
    ASSERT_EQ(maker.true_holdings().size(), 1U);
    EXPECT_EQ(maker.true_holdings()[0].lots, 100);
    std::vector<std::int64_t> offers;
    for (const known_order& each : maker.orders()) {
        if (each.side == side::sell) offers.push_back(each.price.value);
    }
    std::ranges::sort(offers);
    EXPECT_EQ(offers, (std::vector<std::int64_t>{99, 100})) << "from one tick above the best bid on";
    EXPECT_EQ(seen.count(domain::event_kind::order_rejected), 0);
}

behaviour offers(agent& me, domain::instrument_id in, std::int64_t bid, std::int64_t ask, std::int64_t at_ns) {
    const bool goes_on = co_await me.sleep(at_ns);
    if (!goes_on) co_return;
    me.enter(limit(side::buy, ticks(bid), lots(10)).on(in));
    me.enter(limit(side::sell, ticks(ask), lots(10)).on(in));
}

behaviour halts(agent& me, std::int64_t at_ns) {
    const bool goes_on = co_await me.sleep(at_ns);
    if (goes_on) me.send(phase_command(only, domain::trading_phase::halted));
}

/// Fees in ticks of instrument 1.
market_options with_fees(double maker, double taker, std::uint32_t lot_size = 1) {
    market_options options = options_of();
    options.instruments[0].lot_size = lot_size;
    const auto nano = [&](double n) {
        return static_cast<std::int64_t>(n * static_cast<double>(options.instruments[0].tick_size.value));
    };
    options.fees = {{.maker = nano(maker), .taker = nano(taker)}};
    return options;
}

/// The best prices that one agent alone quotes.
template <class Make>
std::pair<std::int64_t, std::int64_t> quotes_of(market_options options, Make make) {
    market world(std::move(options));
    world.add_agent(named("maker"), make);
    world.run(1 * s);
    const book_view& book = world.latest(only);
    return {book.bid.value, book.ask.value};
}

TEST(agent, prices_its_orders_within_the_dynamic_band_that_it_has_seen) {
    const auto price_of = [](std::int64_t band, std::int64_t auction_ns, side which) {
        market_options options = options_of();
        options.instruments[0].dynamic_band = band;
        options.instruments[0].volatility_auction = auction_ns;
        market world(options);
        world.add_agent(named("first"), [](agent& me) { return offers(me, only, 99, 100, 0); });
        agent& other = world.add_agent(named("other"), [](agent& me) { return offers(me, only, 100, 150, 1 * s); });
        world.run(2 * s);
        EXPECT_EQ(world.latest(only).last.value, 100);
        static_cast<void>(other.book(only));
        return other.price_in(only, which, which == side::buy ? 120 : 80).value;
    };
    EXPECT_EQ(price_of(0, 0, side::buy), 120);
    EXPECT_EQ(price_of(8, 0, side::buy), 108);
    EXPECT_EQ(price_of(8, 0, side::sell), 92);
    EXPECT_EQ(price_of(30, 0, side::sell), 80);
    EXPECT_EQ(price_of(8, 1 * s, side::buy), 120) << "such an order starts an auction";
}

TEST(fees, are_in_ticks_of_a_lot) {
    const auto maker_fee_of = [](market_options options) {
        market world(std::move(options));
        const agent& me = world.add_agent(named("any"), [](agent&) { return behaviour(); });
        return me.fees(only).maker;
    };
    EXPECT_EQ(maker_fee_of(with_fees(1.5, 2)), 1.5);
    EXPECT_EQ(maker_fee_of(with_fees(1.5, 2, 10)), 0.15) << "a lot of ten units has ten times the value in a tick";
    EXPECT_EQ(maker_fee_of(options_of()), 0);
}

TEST(ladder_maker, adds_its_fee_to_the_half_spread_only_when_it_counts_fees) {
    const auto quotes = [](double maker_fee, bool counts) {
        ladder_options how;
        how.half_spread_ticks = 2;
        how.counts_fees = counts;
        return quotes_of(with_fees(maker_fee, 9), [how](agent& me) { return ladder_maker(me, how); });
    };
    using both = std::pair<std::int64_t, std::int64_t>;
    EXPECT_EQ(quotes(3, false), (both{9'998, 10'002}));
    EXPECT_EQ(quotes(3, true), (both{9'995, 10'005}));
    EXPECT_EQ(quotes(-1, true), (both{9'999, 10'001})) << "a rebate narrows the spread";
    EXPECT_EQ(quotes(-1, false), (both{9'998, 10'002}));
}

TEST(optimal_maker, wants_its_distances_after_the_fee_when_it_counts_fees) {
    optimal_maker_options how;
    how.risk_aversion = 0.1;
    how.decay = 0.2;
    how.intensity = 5;
    for (const bool has_end : {true, false}) {
        how.has_end = has_end;
        how.counts_fees = false;
        const auto quotes = [&how](double maker_fee) {
            return quotes_of(with_fees(maker_fee, 9), [how](agent& me) { return optimal_maker(me, how); });
        };
        how.horizon_ns = 2 * s;  // the last quotes are those after one of them
        const auto before = quotes(6);
        how.counts_fees = true;
        const auto after = quotes(6);
        optimal_maker_options net = how;
        if (!has_end) net.intensity *= std::exp(-how.decay * 6);
        const auto distance = [&](const optimal_maker_options& of) {
            return has_end ? avellaneda_stoikov(of, 0, 1).bid : gueant_lehalle_fernandez_tapia(of, 0).bid;
        };
        EXPECT_EQ(before.first, static_cast<std::int64_t>(std::floor(10'000 - distance(how)))) << has_end;
        EXPECT_EQ(after.first, static_cast<std::int64_t>(std::floor(10'000 - distance(net) - 6))) << has_end;
        EXPECT_EQ(after.second - 10'000, 10'000 - after.first) << has_end;
        EXPECT_LT(after.first, before.first) << has_end;
    }
}

TEST(optimal_maker, has_finite_distances_where_a_fee_leaves_no_fills) {
    optimal_maker_options how;
    how.lots = 2;
    for (const double intensity : {1e-300, 0.0}) {
        how.intensity = intensity;
        for (const double volatility : {2.0, 0.0}) {
            how.volatility = volatility;
            for (const double position : {-0.5, 0.0, 0.5}) {
                const quote_distances at = gueant_lehalle_fernandez_tapia(how, position);
                EXPECT_TRUE(std::isfinite(at.bid) && std::isfinite(at.ask)) << intensity << " " << volatility;
                EXPECT_GE(at.bid + at.ask, 0) << intensity << " " << volatility;
            }
        }
    }
}

TEST(value_trader, takes_and_quotes_at_prices_after_its_fees_when_it_counts_them) {
    oracle_options worth;
    worth.start_ticks = 110;
    value_options how;
    how.interval_ns = 1e8;
    how.observation_deviation_ticks = 0;
    how.threshold_ticks = 1;
    how.passive_ticks = 2;
    how.lots = 3;
    how.position_max = 3;
    const auto lots_after = [&](bool counts, std::vector<std::int64_t>* prices) {
        how.counts_fees = counts;
        how.fundamental = std::make_shared<oracle>(worth, 1, "value");
        market world(with_fees(4, 5));
        world.add_agent(named("seller"), [](agent& me) { return offers(me, only, 50, 107, 0); });
        const agent& trader = world.add_agent(named("value"), [how](agent& me) { return value_after(me, how, 1 * s); });
        event_list seen;
        world.observe_with(seen);
        world.run(9 * s);
        for (const domain::event& e : seen.events) {
            if (e.kind == domain::event_kind::order_entered && e.order.session.value == 2 && e.side == side::buy) {
                prices->push_back(e.order.price.value);
            }
        }
        return trader.position();
    };
    std::vector<std::int64_t> prices;
    EXPECT_EQ(lots_after(false, &prices), 3) << "107 is better than 110 less the threshold";
    prices.clear();
    EXPECT_EQ(lots_after(true, &prices), 0) << "107 and a fee of 5 are more than 110";
    ASSERT_GT(prices.size(), 3U);
    EXPECT_EQ(std::ranges::count(prices, 104), static_cast<std::ptrdiff_t>(prices.size()))
        << "110 less 2 less the fee of 4 for makers";
}

/// Sellers and buyers with private values. After they stop trading, each notes what its position is worth.
std::vector<double> gains_after_fees(bool counts) {
    market_options options = with_fees(3, 5);
    options.seed = base::test_seed();
    market world(options);
    zero_intelligence_options how;
    how.interval_ns = 2e8;
    how.counts_fees = counts;
    constexpr std::size_t count = 30;
    for (std::size_t i = 0; i < count; ++i) {
        world.add_agent(named("zi-" + std::to_string(i)), [how](agent& me) { return zero_intelligence(me, how); });
    }
    agent_options by = named("operator");
    by.is_operator = true;
    world.add_agent(by, [](agent& me) { return halts(me, 20 * s); });
    world.run(40 * s);
    std::vector<double> gains(count);
    std::vector<double> values(count);
    for (const note& each : world.notes()) values[each.agent] = each.value;
    for (std::size_t i = 0; i < count; ++i) {
        gains[i] = values[i];
        for (const holding& each : world.agent_at(i).true_holdings()) {
            gains[i] += static_cast<double>(each.cash) + 10'000 * static_cast<double>(each.lots) -
                        static_cast<double>(each.fees) / 1e9;
        }
    }
    return gains;
}

TEST(zero_intelligence, loses_nothing_after_fees_when_it_counts_them) {
    const std::vector<double> with = gains_after_fees(true);
    EXPECT_GE(std::ranges::min(with), -1e-6);
    EXPECT_GT(std::ranges::max(with), 3) << "they trade";
    EXPECT_LT(std::ranges::min(gains_after_fees(false)), -1) << "fees that are not counted cause losses";
}

TEST(latency_arbitrageur, wants_its_edge_after_the_fee_when_it_counts_fees) {
    const auto lots_with = [](double taker, bool counts) {
        market_options options = options_of(1, 2);
        options.fees = {{.maker = 0, .taker = static_cast<std::int64_t>(taker * 1e9)}, {}};
        market world(options);
        world.add_agent(named("slow"), [](agent& me) { return offers(me, only, 100, 103, 1 * s); });
        world.add_agent(named("fast"), [](agent& me) { return offers(me, domain::instrument_id{2}, 105, 107, 2 * s); });
        latency_arbitrage_options how;
        how.in = only;
        how.leader = domain::instrument_id{2};
        how.edge_ticks = 1;
        how.lots = 5;
        how.position_max = 5;
        how.counts_fees = counts;
        const agent& me =
            world.add_agent(named("arbitrageur"), [how](agent& a) { return latency_arbitrageur(a, how); });
        world.run(5 * s);
        return me.true_holdings().empty() ? 0 : me.true_holdings()[0].lots;
    };
    EXPECT_EQ(lots_with(1.5, false), 5) << "103 is two ticks below 105";
    EXPECT_EQ(lots_with(1, true), 5) << "one tick is left";
    EXPECT_EQ(lots_with(1.5, true), 0) << "half a tick would be left";
}

constexpr domain::instrument_id the_option{2};

behaviour quotes_an_option(agent& me, std::int64_t bid, std::int64_t ask) {
    me.enter(limit(side::buy, ticks(9'999), lots(1'000)));
    me.enter(limit(side::sell, ticks(10'001), lots(1'000)));
    me.enter(limit(side::buy, ticks(bid), lots(1'000)).on(the_option));
    me.enter(limit(side::sell, ticks(ask), lots(1'000)).on(the_option));
    co_return;
}

/// A future around 10,000 ticks of 0.25, and an option on it.
market_options option_market() {
    market_options options = options_of(1, 2);
    options.instruments[0].tick_size = domain::price_nano{250'000'000};
    domain::instrument& option = options.instruments[1];
    option.kind = domain::instrument_kind::option;
    option.right = domain::option_right::call;
    option.strike = domain::price_nano{2'500'000'000'000};
    option.tick_size = domain::price_nano{50'000'000};
    return options;
}

TEST(options_maker, stands_behind_those_with_another_opinion_and_is_not_rejected) {
    const double worth = black_76(true, 2'500, 2'500, 0.25, 0.2).price / 0.05;  // some 1,994 ticks
    // The others quote 20 ticks beyond the maker's worth: they bid more than it asks, or ask less than it bids.
    for (const bool is_dear : {true, false}) {
        const std::int64_t bid = static_cast<std::int64_t>(worth) + (is_dear ? 20 : -30);
        const std::int64_t ask = bid + 10;
        market world(option_market());
        event_list seen;
        world.observe_with(seen);
        world.add_agent(named("others"), [bid, ask](agent& me) { return quotes_an_option(me, bid, ask); });
        options_maker_options how;
        how.options = {the_option};
        agent& maker = world.add_agent(named("maker"), [how](agent& me) { return options_maker(me, how); });
        world.run(10 * s);
        std::map<side, std::int64_t> quotes;
        for (const known_order& each : maker.orders()) quotes[each.side] = each.price.value;
        ASSERT_EQ(quotes.size(), 2U);
        EXPECT_EQ(quotes[side::sell], is_dear ? bid + 1 : static_cast<std::int64_t>(std::ceil(worth + 4)));
        EXPECT_EQ(quotes[side::buy], is_dear ? static_cast<std::int64_t>(std::floor(worth - 4)) : ask - 1);
        EXPECT_EQ(seen.count(domain::event_kind::order_rejected), 0);
    }
}

TEST(zero_intelligence, finds_most_of_the_possible_surplus) {
    // Gode and Sunder (1993) found more than 97 percent. Here all trade with all in a continuous auction, and values
    // lie in a band around one price; each trader wants to buy or sell one lot.
    const std::uint64_t seed = base::test_seed();
    market_options options = options_of(seed);
    options.orders_max = 1U << 14U;
    options.accounts_max = 512;
    market world(std::move(options));
    zero_intelligence_options how;
    how.interval_ns = 1e9;
    how.position_max = 1;
    how.surplus_most_ticks = 20;
    for (int i = 0; i < 200; ++i) {
        world.add_agent(named("zi" + std::to_string(i)), [how](agent& me) { return zero_intelligence(me, how); });
    }
    world.run(600 * s);
    // The best allocation: units move from the lowest values to the highest. Values come from the agents' streams.
    std::vector<double> values;
    for (int i = 0; i < 200; ++i) {
        random_stream own(seed, "zi" + std::to_string(i));
        double drawn[2] = {own.normal(0, 20), own.normal(0, 20)};
        values.insert(values.end(), std::begin(drawn), std::end(drawn));
    }
    std::ranges::sort(values, std::greater());
    // Each agent begins with the higher of its values unused and the lower one held: 200 of 400 units are held.
    double best = 0;
    for (std::size_t i = 0; i < 200; ++i) best += values[i];
    double held_at_first = 0;
    for (int i = 0; i < 200; ++i) {
        random_stream own(seed, "zi" + std::to_string(i));
        const double a = own.normal(0, 20);
        const double b = own.normal(0, 20);
        held_at_first += std::max(a, b);
    }
    std::map<std::uint32_t, double> found;
    for (const note& each : world.notes()) found[each.agent] = each.value;
    double gained = 0;
    for (const auto& [who, value] : found) gained += value;
    const double possible = best - held_at_first;
    EXPECT_GT(gained, 0.85 * possible);
    EXPECT_LE(gained, possible + 1e-6);
}

TEST(common_workload, trades_and_has_the_same_digest_each_time) {
    common_workload how;
    how.agents_count = 50;
    const auto first = make_common_workload(how);
    const auto second = make_common_workload(how);
    first->run(60 * s);
    second->run(60 * s);
    EXPECT_GT(first->counts().trades, 500U);
    EXPECT_EQ(first->digest(), second->digest());
}

}  // namespace
}  // namespace corro::market
