// SPDX-License-Identifier: Apache-2.0
// The laws of a market, over random runs.

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "base/test_seed.hpp"
#include "market/market.hpp"
#include "market/market_fixture.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::event_kind;
using domain::side;

/// A market of noisy agents with links of their own.
std::unique_ptr<market> noisy_market(std::uint64_t seed, int agents_count, std::uint32_t instruments_count = 2,
                                     const std::string& idle_name = {}) {
    market_options options = options_of(seed, instruments_count);
    options.times.gateway = delay::uniform(1 * us, 9 * us);
    options.times.engine = delay::constant(3 * us);
    options.fees.resize(instruments_count);
    options.fees[0] = {.maker = -20, .taker = 33};
    auto made = std::make_unique<market>(std::move(options));
    for (int i = 0; i < agents_count; ++i) {
        const auto way = link_of(delay::lognormal(50 * us, 100e3, 0.5, 5 * ms), delay::uniform(20 * us, 300 * us),
                                 delay::exponential(10 * us, 50e3, 2 * ms));
        const domain::instrument_id in{static_cast<std::uint32_t>(i) % instruments_count + 1};
        made->add_agent(named("noisy" + std::to_string(i), way), [in](agent& me) { return noisy(me, in, 2 * ms); });
    }
    if (!idle_name.empty()) {
        made->add_agent(named(idle_name), [](agent&) { return behaviour(); });
    }
    return made;
}

TEST(market_laws, lots_and_cash_are_conserved_and_accounts_agree_with_the_venue) {
    const auto world = noisy_market(base::test_seed(), 12);
    event_list all;
    world->observe_with(all);
    world->run(20 * s);
    ASSERT_GT(world->counts().trades, 1'000U);
    std::map<std::uint32_t, std::int64_t> lots;
    std::map<std::uint32_t, std::int64_t> cash;
    std::int64_t fees = 0;
    for (std::size_t i = 0; i < world->agents_count(); ++i) {
        const agent& who = world->agent_at(i);
        for (const holding& each : who.true_holdings()) {
            lots[each.instrument.value] += each.lots;
            cash[each.instrument.value] += each.cash;
            fees += each.fees;
            EXPECT_EQ(each.lots, world->venue().position_of(who.account(), each.instrument));
        }
    }
    for (const auto& [instrument, sum] : lots) EXPECT_EQ(sum, 0) << instrument;
    for (const auto& [instrument, sum] : cash) EXPECT_EQ(sum, 0) << instrument;
    EXPECT_EQ(fees, world->fees_received());
    EXPECT_NE(fees, 0);
}

TEST(market_laws, agents_end_up_with_what_is_true_when_all_messages_have_arrived) {
    const auto world = noisy_market(base::test_seed() + 1, 8);
    world->run(5 * s);
    for (std::size_t i = 0; i < world->agents_count(); ++i) world->stop(world->agent_at(i));
    world->run(6 * s);
    std::uint32_t open = 0;
    for (std::size_t i = 0; i < world->agents_count(); ++i) {
        // The stop has ended the behaviours; messages that arrived later stay unread. Count what is known.
        open += static_cast<std::uint32_t>(world->agent_at(i).orders().size());
    }
    EXPECT_GT(open, 0U);
    EXPECT_LE(world->venue().open_orders_count(), open + 8 * 16) << "an agent knows of nearly all of its orders";
}

TEST(market_laws, the_same_seed_gives_the_same_commands_and_another_seed_others) {
    const std::uint64_t seed = base::test_seed();
    std::vector<std::uint64_t> digests;
    for (const std::uint64_t each : {seed, seed, seed + 1}) {
        const auto world = noisy_market(each, 10);
        world->run(5 * s);
        digests.push_back(world->digest());
    }
    EXPECT_EQ(digests[0], digests[1]);
    EXPECT_NE(digests[0], digests[2]);
}

TEST(market_laws, a_run_in_pieces_is_the_same_run) {
    const std::uint64_t seed = base::test_seed();
    const auto whole = noisy_market(seed, 10);
    whole->run(2 * s);
    const auto pieces = noisy_market(seed, 10);
    for (std::int64_t at = 0; at <= 2 * s; at += 7 * ms) {
        while (!pieces->run(std::min(at, 2 * s), 16)) pieces->forget_commands();
        pieces->forget_commands();
    }
    while (!pieces->run(2 * s, 16)) pieces->forget_commands();
    EXPECT_EQ(whole->digest(), pieces->digest());
}

TEST(market_laws, has_the_same_digest_with_every_compiler) {
    const auto world = noisy_market(7, 10);
    world->run(5 * s);
    EXPECT_EQ(world->digest(), 0x814347e16fb06440ULL) << std::hex << world->digest();
}

TEST(market_laws, an_agent_that_does_nothing_changes_nothing_for_the_others) {
    const std::uint64_t seed = base::test_seed();
    const auto without = noisy_market(seed, 10);
    const auto with = noisy_market(seed, 10, 2, "idle");
    without->run(3 * s);
    with->run(3 * s);
    EXPECT_EQ(without->digest(), with->digest());
}

/// Compares what it sees with what the venue had published by then.
struct publications final : market_observer {
    void on_command(const domain::command& command) override { time = command.time.value - start_ns; }
    void on_events(std::span<const domain::event> events) override {
        for (const domain::event& e : events) {
            if (e.kind == event_kind::trade) trades_at.push_back(time);
        }
    }
    std::int64_t start_ns = 0;
    std::int64_t time = 0;
    std::vector<std::int64_t> trades_at;
};

struct glimpse {
    std::int64_t at_ns;
    std::int32_t trades_count;
};
behaviour looks_often(agent& me, std::vector<glimpse>* seen) {
    for (;;) {
        if (me.random().chance(0.5)) {
            const bool goes_on = co_await me.sleep(me.random().exponential(300e3));
            if (!goes_on) co_return;
        } else {
            static_cast<void>(co_await me.until(next_news(only), 1 * ms));
            if (me.is_stopping()) co_return;
        }
        seen->push_back({me.now_ns(), me.book().trades_count});
    }
}

TEST(market_laws, no_agent_sees_the_future_nor_the_past_beyond_its_link) {
    const std::int64_t least = 400 * us;
    const std::int64_t most = 900 * us;
    const auto world = noisy_market(base::test_seed(), 10, 1);
    std::vector<glimpse> seen;
    publications all;
    all.start_ns = world->options().start_ns;
    world->observe_with(all);
    world->add_agent(named("looker", link_of(delay(), delay(), delay::uniform(least, most))),
                     [&](agent& me) { return looks_often(me, &seen); });
    world->run(10 * s);
    ASSERT_GT(seen.size(), 5'000U);
    const auto published_by = [&](std::int64_t at) {
        return std::ranges::upper_bound(all.trades_at, at) - all.trades_at.begin();
    };
    std::int32_t before = 0;
    for (const glimpse& each : seen) {
        ASSERT_LE(each.trades_count, published_by(each.at_ns - least)) << "at " << each.at_ns;
        ASSERT_GE(each.trades_count, published_by(each.at_ns - most)) << "at " << each.at_ns;
        ASSERT_GE(each.trades_count, before);
        before = each.trades_count;
    }
}

/// Sends orders, amends, cancels and mass cancels at random, and looks at nothing: what happens to them changes
/// nothing.
behaviour sends_blindly(agent& me) {
    for (request_number number = 1;; ++number) {
        const bool goes_on = co_await me.sleep(me.random().exponential(1e6));
        if (!goes_on) co_return;
        const request_number earlier = 1 + static_cast<request_number>(me.random().below(number));
        const domain::price_ticks price = ticks(me.random().between(95, 105));
        switch (me.random().below(5)) {
            case 0: me.cancel(earlier); break;
            case 1: me.amend(earlier, price, lots(2)); break;
            case 2:
                if (me.random().chance(0.2)) {
                    me.cancel_all(only);
                    break;
                }
                [[fallthrough]];
            default: me.enter(limit(me.random().side(), price, lots(1))); break;
        }
    }
}

using request_times = std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<std::int64_t, domain::command_kind>>;

/// When the venue received each request: agents `bumped...` have one link, agents `plain...` another.
request_times blind_requests(std::uint64_t seed, std::int64_t bump_of_all, std::int64_t bump_of_link) {
    market_options options = options_of(seed);
    options.times.bump_ns = bump_of_all;
    market world(std::move(options));
    const delay way = delay::lognormal(50 * us, 100e3, 0.5, 5 * ms);
    const auto bumped = std::make_shared<const link>(way, way, way, true, bump_of_link);
    const auto plain = std::make_shared<const link>(way, way, way);
    for (int i = 0; i < 3; ++i) world.add_agent(named("bumped" + std::to_string(i), bumped), sends_blindly);
    for (int i = 0; i < 3; ++i) world.add_agent(named("plain" + std::to_string(i), plain), sends_blindly);
    world.run(2 * s);
    request_times all;
    for (const domain::command& c : world.commands()) {
        all[{c.account.value, c.request()}] = {c.time.value - world.options().start_ns, c.kind};
    }
    return all;
}

TEST(market_laws, a_speed_bump_delays_orders_and_amends_of_its_link_by_itself_and_nothing_else) {
    const std::uint64_t seed = base::test_seed();
    const request_times without = blind_requests(seed, 0, 0);
    ASSERT_GT(without.size(), 10'000U);
    for (const std::int64_t bump_of_all : {std::int64_t{0}, 5 * ms + 3}) {
        for (const std::int64_t bump_of_link : {std::int64_t{1}, 20 * ms}) {
            std::map<domain::command_kind, std::size_t> delayed;
            const request_times with = blind_requests(seed, bump_of_all, bump_of_link);
            for (const auto& [which, found] : with) {
                const auto [at, kind] = found;
                const bool is_cancel =
                    kind == domain::command_kind::cancel_order || kind == domain::command_kind::cancel_orders;
                const bool has_bump = which.first <= 3;
                const std::int64_t bump = is_cancel ? 0 : bump_of_all + (has_bump ? bump_of_link : 0);
                ASSERT_EQ(at, without.at(which).first + bump) << "account " << which.first;
                ASSERT_EQ(kind, without.at(which).second);
                if (has_bump) ++delayed[kind];
            }
            EXPECT_EQ(delayed.size(), 4U) << "orders, amends, cancels and mass cancels were seen";
            // Only those at the end of the run have not arrived.
            EXPECT_GE(with.size() + 500, without.size());
        }
    }
}

behaviour one_at_a_time(agent& me, int index, int count) {
    // Agents take turns, far apart, so that there is one order of commands by hand too.
    static_cast<void>(co_await me.sleep((index + 1) * 1 * ms));
    for (;;) {
        const side which = me.random().side();
        static_cast<void>(co_await me.enter(limit(which, ticks(me.random().between(98, 102)), lots(3))));
        const bool goes_on = co_await me.sleep(count * 1 * ms);
        if (!goes_on) co_return;
    }
}

TEST(market_laws, without_latency_and_one_at_a_time_it_is_the_facility_driven_by_hand) {
    const std::uint64_t seed = base::test_seed();
    const int count = 5;
    market world(options_of(seed));
    event_list all;
    world.observe_with(all);
    for (int i = 0; i < count; ++i) {
        world.add_agent(named("turn" + std::to_string(i)), [i](agent& me) { return one_at_a_time(me, i, count); });
    }
    world.run(1 * s);

    struct sink final : facility::event_consumer {
        void consume(std::span<const domain::event> some) noexcept override {
            events.insert(events.end(), some.begin(), some.end());
        }
        std::vector<domain::event> events;
    } by_hand;
    const market_options options = options_of(seed);
    facility::facility plain(world.venue_options(), options.instruments, by_hand);
    std::vector<random_stream> streams;
    std::vector<std::uint32_t> requests(count, 0);
    for (int i = 0; i < count; ++i) streams.emplace_back(seed, "turn" + std::to_string(i));
    std::uint64_t sequence = 0;
    for (std::int64_t at = 1; at <= 1'000; ++at) {
        const auto turn = static_cast<std::size_t>((at - 1) % count);
        domain::command c;
        c.sequence = domain::sequence_number{++sequence};
        c.time = domain::time_ns{options.start_ns + at * ms};
        c.account = domain::account_id{static_cast<std::uint32_t>(turn) + 1};
        c.session = domain::session_id{static_cast<std::uint32_t>(turn) + 1};
        c.instrument = only;
        c.set_request(++requests[turn]);
        c.client_order = domain::client_order_id{requests[turn]};
        c.order_terms().side = streams[turn].side();
        c.enter_order().price = ticks(streams[turn].between(98, 102));
        c.enter_order().quantity = lots(3);
        plain.apply(c);
    }
    ASSERT_EQ(sequence, world.counts().commands);
    EXPECT_EQ(plain.state_hash(), world.venue().state_hash());
    ASSERT_EQ(by_hand.events.size(), all.events.size());
    for (std::size_t i = 0; i < all.events.size(); ++i) {
        ASSERT_EQ(std::memcmp(&by_hand.events[i], &all.events[i], sizeof(domain::event)), 0) << i;
    }
}

}  // namespace
}  // namespace corro::market
