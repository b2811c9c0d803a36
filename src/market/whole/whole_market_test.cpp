// SPDX-License-Identifier: Apache-2.0
// The same agents with the market's own facility, and with a whole venue.

#include "market/whole/whole_market.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/test_seed.hpp"
#include "market/market_fixture.hpp"
#include "market/participants/participants.hpp"
#include "market/whole/repeated_market.hpp"

namespace corro::market {
namespace {

using namespace testing;
using domain::event_kind;

std::shared_ptr<const link> equal_ways(const delay& request, const delay& back) {
    return link_of(request, back, back);
}

/// Noisy agents, makers that watch the feed, takers that wait for answers; on two links and one without a delay.
std::unique_ptr<market> mixed_market(std::uint64_t seed, const delay& near_way, const delay& far_way) {
    market_options options = options_of(seed, 2);
    options.start_ns = whole_market::start_ns();
    options.fees.resize(2);
    options.fees[0] = {.maker = -20, .taker = 33};
    auto made = std::make_unique<market>(std::move(options));
    const auto near = equal_ways(near_way, near_way.scaled(0.5));
    const auto far = equal_ways(far_way, far_way);
    for (int i = 0; i < 6; ++i) {
        const domain::instrument_id in{static_cast<std::uint32_t>(i) % 2 + 1};
        made->add_agent(named(fmt::format("noisy{}", i), i < 3 ? near : far),
                        [in](agent& me) { return noisy(me, in, 2 * ms); });
    }
    agent_options thinker = named("thinker", far);
    thinker.compute = delay::uniform(1 * us, 30 * us);
    made->add_agent(thinker, [](agent& me) -> behaviour {
        for (;;) {
            const bool has_news = co_await me.until(next_quote(only), 20 * ms);
            if (me.is_stopping()) co_return;
            const book_view now = me.book(only);
            if (!has_news || !now.is_two_sided()) continue;
            const domain::side side = me.random().side();
            const answer got = co_await me.enter(limit(side, now.best(side), lots(2)).ioc());
            me.note("answered", got.is_accepted() ? 1 : 0);
        }
    });
    made->add_agent(named("ladder", near), [](agent& me) {
        ladder_options how;
        how.refresh_ns = 5 * ms;
        how.levels = 3;
        how.lots = 4;
        how.anchor_ticks = 100;
        return ladder_maker(me, how);
    });
    return made;
}

/// A fill as its owner sees it.
std::string text_of(const domain::event& fill) {
    const domain::execution& x = fill.execution;
    return fmt::format("{} {} {} {} {} {} {} {}", fill.time.value, fill.instrument.value, x.account.value,
                       static_cast<int>(fill.side), x.price.value, x.quantity.value, x.leaves.value,
                       x.client_order.value);
}

/// Fills by their order at the venue: agents hear of them at different times.
std::vector<std::string> fills_of(const event_list& all) {
    std::vector<std::string> made;
    for (const domain::event& each : all.events) {
        if (each.kind == event_kind::order_executed) made.push_back(text_of(each));
    }
    std::ranges::sort(made);
    return made;
}

TEST(whole_market, executes_what_the_market_itself_does_with_equal_links) {
    const std::uint64_t seed = base::test_seed();
    const delay near = delay::constant(40 * us + 1);
    const delay far = delay::constant(700 * us + 3);
    const auto direct = mixed_market(seed, near, far);
    event_list directly;
    direct->observe_with(directly);
    direct->run(2 * s);

    whole_market whole(mixed_market(seed, near, far), whole_options());
    event_list wholly;
    whole.agents().observe_with(wholly);
    whole.run(2 * s);
    const std::uint64_t hash = whole.state_hash();
    whole.run(2 * s + 2 * ms);  // the last answers arrive
    whole.close();

    EXPECT_EQ(hash, direct->venue().state_hash());
    const std::vector<std::string> fills = fills_of(directly);
    EXPECT_GT(fills.size(), 500U);
    std::vector<domain::command> commands = whole.commands();
    std::erase_if(commands, [](const domain::command& c) { return c.time.value > whole_market::start_ns() + 2 * s; });
    EXPECT_EQ(difference_of(direct->commands(), commands), "");
    event_list until_then;
    for (const domain::event& each : wholly.events) {
        if (each.time.value <= whole_market::start_ns() + 2 * s) until_then.events.push_back(each);
    }
    EXPECT_EQ(fills_of(until_then), fills);
}

TEST(whole_market, gives_its_run_again_when_its_journal_is_executed_again) {
    const std::uint64_t seed = base::test_seed();
    const delay near = delay::constant(40 * us + 1);
    const delay far = delay::constant(700 * us + 3);
    const auto direct = mixed_market(seed, near, far);
    direct->run(500 * ms);
    const whole_record record = run_whole(mixed_market(seed, near, far), 500 * ms);
    const auto again = repeat(record, direct->options());
    again->run(500 * ms);
    EXPECT_GT(direct->counts().trades, 50U);
    EXPECT_EQ(again->digest(), direct->digest());
    EXPECT_EQ(again->venue().state_hash(), direct->venue().state_hash());
    EXPECT_EQ(again->venue().state_hash(), record.state_hash);
    EXPECT_EQ(again->fees_received(), direct->fees_received());
    ASSERT_EQ(again->agents_count(), direct->agents_count());
    for (std::size_t i = 0; i < direct->agents_count(); ++i) {
        const auto& expected = direct->agent_at(i).true_holdings();
        const auto& found = again->agent_at(i).true_holdings();
        ASSERT_EQ(found.size(), expected.size()) << direct->name_of(i);
        for (std::size_t k = 0; k < expected.size(); ++k) {
            EXPECT_EQ(found[k].lots, expected[k].lots) << direct->name_of(i);
            EXPECT_EQ(found[k].cash, expected[k].cash) << direct->name_of(i);
        }
    }
    ASSERT_GT(direct->notes().size(), 5U);
    ASSERT_EQ(again->notes().size(), direct->notes().size());
    for (std::size_t i = 0; i < direct->notes().size(); ++i) {
        EXPECT_EQ(again->notes()[i].at_ns, direct->notes()[i].at_ns);
        EXPECT_EQ(again->notes()[i].agent, direct->notes()[i].agent);
        EXPECT_EQ(again->notes()[i].value, direct->notes()[i].value);
    }
}

TEST(whole_market, differs_when_a_link_is_one_nanosecond_longer) {
    // The control of the comparison above.
    const std::uint64_t seed = base::test_seed();
    const delay near = delay::constant(40 * us + 1);
    const auto direct = mixed_market(seed, near, delay::constant(700 * us + 3));
    direct->run(200 * ms);
    whole_market whole(mixed_market(seed, near, delay::constant(700 * us + 4)), whole_options());
    whole.run(200 * ms);
    whole.close();
    EXPECT_NE(difference_of(direct->commands(), whole.commands()), "");
}

TEST(whole_market, refuses_what_a_whole_venue_does_not_offer) {
    const auto refusal_of = [](market_options options, std::shared_ptr<const link> way) -> std::string {
        auto made = std::make_unique<market>(std::move(options));
        made->add_agent(named("one", std::move(way)), [](agent& me) { return noisy(me, only, 2 * ms); });
        try {
            const whole_market whole(std::move(made), whole_options());
        } catch (const std::runtime_error& e) {
            return e.what();
        }
        return {};
    };
    const delay one = delay::constant(1 * us);
    EXPECT_EQ(refusal_of(options_of(), equal_ways(one, delay::uniform(1 * us, 2 * us))), "");
    EXPECT_NE(refusal_of(options_of(), link_of(one, one, delay::constant(2 * us))).find("same delay"),
              std::string::npos);
    const delay skewed = delay::lognormal(1 * us, 2e3, 0.5, 1 * ms);
    EXPECT_NE(refusal_of(options_of(), equal_ways(one, skewed)).find("constant and uniform"), std::string::npos);
    EXPECT_NE(refusal_of(options_of(), link_of(one, one, one, false)).find("keep their order"), std::string::npos);
    const auto bumped = std::make_shared<const link>(one, one, one, true, 1);
    EXPECT_NE(refusal_of(options_of(), bumped).find("no speed bumps"), std::string::npos);
    market_options timed = options_of();
    timed.times.engine = one;
    EXPECT_NE(refusal_of(std::move(timed), equal_ways(one, one)).find("times of its own"), std::string::npos);
}

}  // namespace
}  // namespace corro::market
