// SPDX-License-Identifier: Apache-2.0
// Agents inside recorded days of real exchanges, where the recordings are.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/test_seed.hpp"
#include "market/market_fixture.hpp"
#include "market/recorded_day/recorded_flow.hpp"
#include "recorded/replay/recorded_files_fixture.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::side;
using recorded::replay::data_file;

/// Files are read once for all tests of a process.
std::shared_ptr<const recorded_day> recording_of(std::vector<std::filesystem::path> files) {
    static std::map<std::vector<std::filesystem::path>, std::shared_ptr<const recorded_day>> known;
    std::shared_ptr<const recorded_day>& day = known[files];
    if (day == nullptr) {
        recorded::replay::recording_options from;
        from.files = files;
        day = std::make_shared<const recorded_day>(load_recorded_day(from));
    }
    return day;
}

/// Quotes at the best prices, and takes now and then.
behaviour quotes_and_takes(agent& me) {
    for (;;) {
        const bool goes_on = co_await me.sleep(me.random().exponential(5e9));
        if (!goes_on) co_return;
        const book_view& now = me.book(only);
        if (!now.is_two_sided()) continue;
        const side which = me.random().side();
        const domain::price_ticks near = which == side::buy ? now.bid : now.ask;
        const domain::price_ticks far = which == side::buy ? now.ask : now.bid;
        me.cancel_all();
        const bool takes = me.random().chance(0.3);
        const domain::quantity_lots quantity = lots(1 + static_cast<std::uint32_t>(me.random().below(20)));
        if (takes) {
            me.enter(limit(which, far, quantity).ioc());
        } else {
            me.enter(limit(which, near, quantity));
        }
    }
}

/// The reasons for which the venue rejects recorded requests.
struct reject_reasons final : market_observer {
    void on_command(const domain::command& command) override { last = command; }
    void on_events(std::span<const domain::event> events) override {
        for (const domain::event& e : events) {
            if (e.kind != domain::event_kind::order_rejected || e.order.session.value != recorded_account) continue;
            ++all[std::string(domain::to_string(e.reason)) + ", command " +
                  std::to_string(static_cast<int>(last.kind))];
        }
    }
    [[nodiscard]] std::string text() const {
        std::string made;
        for (const auto& [reason, count] : all) made += reason + ": " + std::to_string(count) + "\n";
        return made;
    }
    domain::command last;
    std::map<std::string, int> all;
};

struct result {
    std::uint64_t digest = 0;
    std::uint64_t state_hash = 0;
    std::uint64_t unchanged = 0;
    std::uint64_t trades = 0;
    recorded_departures departures;
    holding mine;
};

result play(const std::shared_ptr<const recorded_day>& day, recorded_flow_options how, std::uint64_t seed,
            bool has_agent) {
    market_options options;
    options.seed = seed;
    options.instruments.push_back(day->instrument);
    options.start_ns = day->start_ns;
    options.orders_max = day->orders_max + 10'000;
    market world(std::move(options));
    const auto way = link_of(delay::uniform(20 * us, 60 * us), delay::constant(20 * us), delay::constant(30 * us));
    world.add_agent(named("you", way),
                    [has_agent](agent& me) { return has_agent ? quotes_and_takes(me) : behaviour(); });
    const auto kept = std::make_shared<recorded_flow>(day, how, seed);
    recorded_flow& flow = *kept;
    world.take_commands_from(kept);
    world.observe_with(flow);
    reject_reasons rejected;
    world.observe_with(rejected);
    world.run(day->length_ns);
    result made;
    made.digest = world.digest();
    made.state_hash = world.venue().state_hash();
    made.unchanged = flow.unchanged_count();
    made.trades = world.counts().trades;
    made.departures = flow.departures();
    const auto held = world.agent_at(0).true_holdings();
    if (!held.empty()) made.mine = held.front();
    EXPECT_EQ(made.mine.cash + flow.cash(), 0);
    EXPECT_EQ(made.mine.lots + flow.lots(), 0);
    EXPECT_EQ(made.departures.taken_by_agents.lots + made.departures.given_by_agents.lots, made.mine.traded_lots);
    EXPECT_EQ(made.departures.refused, counted_lots()) << rejected.text();
    return made;
}

void expect_the_recorded_market(const std::shared_ptr<const recorded_day>& day) {
    EXPECT_EQ(day->unexplained, 0U);
    for (std::size_t i = 0; i < static_cast<std::size_t>(recorded_policy::count); ++i) {
        recorded_flow_options how;
        how.policy = static_cast<recorded_policy>(i);
        const result factual = play(day, how, 1, false);
        EXPECT_TRUE(factual.departures.none());
        EXPECT_EQ(factual.unchanged, day->requests.size());
        EXPECT_EQ(factual.state_hash, day->state_hash);
    }
}

void expect_departures_of_agents(const std::shared_ptr<const recorded_day>& day) {
    const std::uint64_t seed = base::test_seed();
    for (std::size_t i = 0; i < static_cast<std::size_t>(recorded_policy::count); ++i) {
        recorded_flow_options how;
        how.policy = static_cast<recorded_policy>(i);
        how.leftovers = i % 2 == 0 ? recorded_leftovers::stay : recorded_leftovers::leave;
        const result once = play(day, how, seed, true);
        const result twice = play(day, how, seed, true);
        EXPECT_EQ(once.digest, twice.digest);
        EXPECT_EQ(once.departures, twice.departures);
        EXPECT_GT(once.mine.traded_lots, 0U);
        EXPECT_GT(once.departures.taken_by_agents.lots, 0U);
        EXPECT_GT(once.departures.given_by_agents.lots, 0U);
        EXPECT_EQ(once.departures.refills.count != 0, how.policy == recorded_policy::refilled);
    }
}

#define CORRO_DAY_OR_SKIP(first, second)                           \
    if (data_file(first).empty() || data_file(second).empty()) {   \
        GTEST_SKIP() << first << " is absent: set CORRO_DATA_DIR"; \
    }                                                              \
    const auto day = recording_of({data_file(first), data_file(second)})

TEST(recorded_files, the_e_mini_session_without_orders_of_agents_is_the_recorded_one) {
    CORRO_DAY_OR_SKIP("esh4-glbx-mdp3-20231224.mbo.dbn.zst", "esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    EXPECT_EQ(day->requests.size(), 56'092U);
    expect_the_recorded_market(day);
}

TEST(recorded_files, an_agent_in_the_e_mini_session_departs_from_it_in_ways_that_are_counted) {
    CORRO_DAY_OR_SKIP("esh4-glbx-mdp3-20231224.mbo.dbn.zst", "esh4-glbx-mdp3-20231225.mbo.dbn.zst");
    expect_departures_of_agents(day);
}

TEST(recorded_files, the_amazon_day_without_orders_of_agents_is_the_recorded_one) {
    CORRO_DAY_OR_SKIP("AMZN_2012-06-21_34200000_57600000_message_1.csv",
                      "AMZN_2012-06-21_34200000_57600000_orderbook_1.csv");
    expect_the_recorded_market(day);
}

TEST(recorded_files, an_agent_in_the_amazon_day_departs_from_it_in_ways_that_are_counted) {
    CORRO_DAY_OR_SKIP("AMZN_2012-06-21_34200000_57600000_message_1.csv",
                      "AMZN_2012-06-21_34200000_57600000_orderbook_1.csv");
    expect_departures_of_agents(day);
}

}  // namespace
}  // namespace corro::market
