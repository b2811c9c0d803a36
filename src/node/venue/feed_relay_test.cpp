// SPDX-License-Identifier: Apache-2.0
#include "node/venue/feed_relay.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "base/test_seed.hpp"
#include "domain/event.hpp"
#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/task/block_on.hpp"
#include "market_data/test_market.hpp"
#include "node/configuration/limits.hpp"
#include "node/venue/run_on.hpp"

namespace corro::node {
namespace {

using market_data::testing::test_market;

/// Public events of random commands, more than `count`.
std::vector<domain::event> public_events(test_market& market, std::size_t count) {
    std::vector<domain::event> all;
    market.keep = &all;
    while (all.size() <= count) market.trade(1'000);
    market.keep = nullptr;
    return all;
}

io::task<void> push_all(feed_relay* relay, const std::vector<domain::event>* events, bool in_portions) {
    for (const domain::event& e : *events) {
        relay->push(e);
        if (in_portions && relay->has_portion()) co_await relay->hand_over();
    }
    co_await relay->hand_over();
}

io::task<void> relay_all(market_data::feed_publisher* into, const std::vector<domain::event>* events,
                         bool in_portions) {
    io::context& edge = co_await io::this_context();
    const auto replaying = edge.runs_on().make_worker(io::context_options());
    feed_relay relay(edge, replaying->where(), *into);
    co_await run_on(replaying.get(), push_all(&relay, events, in_portions));
    co_await relay.finish();
}

void expect_same(const test_market& market, const market_data::feed_publisher& relayed) {
    EXPECT_EQ(relayed.next_sequence(), market.feed.next_sequence());
    EXPECT_EQ(relayed.log().end_position(), market.feed.log().end_position());
    for (const domain::instrument& each : market.instruments()) {
        EXPECT_EQ(relayed.book(each.id)->digest(), market.feed.book(each.id)->digest());
        EXPECT_EQ(relayed.image().changed_at(each.id), market.feed.image().changed_at(each.id));
    }
}

// More events than the ring holds, so that both sides wait for each other.
TEST(feed_relay, publishes_what_a_replay_pushes_in_its_order) {
    for (const bool in_portions : {true, false}) {
        test_market market(base::test_seed());
        const std::vector<domain::event> events = public_events(market, 2 * feed_relay_capacity);
        market_data::feed_publisher relayed(market_data::feed_options(), market.generator.profile().instruments);
        io::context on;
        io::block_on(on, relay_all(&relayed, &events, in_portions));
        expect_same(market, relayed);
    }
}

TEST(feed_relay, finishes_without_events) {
    test_market market(base::test_seed());
    market_data::feed_publisher relayed(market_data::feed_options(), market.generator.profile().instruments);
    io::context on;
    const std::vector<domain::event> none;
    io::block_on(on, relay_all(&relayed, &none, true));
    expect_same(market, relayed);
}

io::task<void> finish_early(market_data::feed_publisher* into, const domain::event* event) {
    io::context& edge = co_await io::this_context();
    feed_relay relay(edge, edge, *into);
    relay.push(*event);
    co_await relay.finish();
}

// A replay that failed does not hand over its last events.
TEST(feed_relay, gives_the_feed_back_after_a_replay_that_failed) {
    test_market market(base::test_seed());
    const std::vector<domain::event> events = public_events(market, 0);
    market_data::feed_publisher relayed(market_data::feed_options(), market.generator.profile().instruments);
    io::context on;
    io::block_on(on, finish_early(&relayed, &events.front()));
    EXPECT_EQ(relayed.next_sequence(), 1U);
    relayed.publish(events.front());
    EXPECT_EQ(relayed.next_sequence(), 2U);
}

}  // namespace
}  // namespace corro::node
