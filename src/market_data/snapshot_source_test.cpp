// SPDX-License-Identifier: Apache-2.0
// Snapshots of all books, without a socket: what they contain, and how often they are made.
#include "market_data/snapshot_source.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "market_data/test_market.hpp"

namespace corro::market_data {
namespace {

using namespace std::chrono_literals;
using testing::market_follower;
using testing::test_market;

constexpr std::chrono::steady_clock::time_point noon{std::chrono::hours(12)};

TEST(snapshot_source, gives_books_that_equal_the_facilitys_for_every_seed) {
    base::prng seeds(base::test_seed());
    for (int i = 0; i < 20 && !::testing::Test::HasFailure(); ++i) {
        const std::uint64_t seed = seeds();
        SCOPED_TRACE("seed " + std::to_string(seed));
        test_market market(seed);
        market.trade(1'000);
        snapshot_source source(market.feed);
        market_follower books;
        ASSERT_TRUE(books.take_snapshot(*source.take(noon)));
        EXPECT_EQ(books.difference(market), "");
        EXPECT_EQ(books.last_sequence, market.feed.next_sequence() - 1);
        EXPECT_EQ(books.last_command, market.feed.image().last_command());
    }
}

TEST(snapshot_source, N1_a_snapshot_of_any_moment_and_the_messages_after_it_give_the_present_books) {
    test_market market(base::test_seed());
    snapshot_source source(market.feed);
    for (int moment = 0; moment < 20; ++moment) {
        market.trade(50);
        market_follower books;
        ASSERT_TRUE(books.take_snapshot(*source.take(noon + moment * 1h)));
        const std::uint64_t behind = market.feed.log().end_position();
        market.trade(50);
        ASSERT_TRUE(books.take_feed(market.feed.log().bytes_from(behind, 100'000'000)));
        EXPECT_EQ(books.difference(market), "");
    }
}

TEST(snapshot_source, N6_makes_no_more_than_its_limit_in_a_window_and_gives_the_last_one_otherwise) {
    test_market market(5);
    snapshot_options options;
    options.snapshots_made_max = 2;
    options.snapshots_window = 1s;
    snapshot_source source(market.feed, options);
    market.trade(100);
    const auto first = source.take(noon);
    EXPECT_EQ(source.take(noon + 1ms), first) << "nothing has changed";
    EXPECT_EQ(source.made_count(), 1U);
    market.trade(100);
    const auto second = source.take(noon + 2ms);
    EXPECT_NE(second, first);
    market.trade(100);
    EXPECT_EQ(source.take(noon + 999ms), second) << "the window's limit is reached";
    EXPECT_EQ(source.made_count(), 2U);
    const auto third = source.take(noon + 1s);
    EXPECT_NE(third, second);
    market_follower books;
    ASSERT_TRUE(books.take_snapshot(*third));
    EXPECT_EQ(books.difference(market), "");
}

TEST(snapshot_source, makes_one_beyond_the_limit_when_the_feed_cannot_be_joined_from_the_last_one_any_more) {
    feed_options small;
    small.feed_log_bytes = feed_log_bytes_min;
    test_market market(9, small);
    snapshot_options options;
    options.snapshots_made_max = 1;
    options.snapshots_window = 24h;
    snapshot_source source(market.feed, options);
    market.trade(10);
    const auto first = source.take(noon);
    const std::uint64_t begin = market.feed.statistics().bytes;
    while (market.feed.statistics().bytes - begin <= feed_log_bytes_min / (2 * join_lag_divisor)) {
        EXPECT_EQ(source.take(noon), first);
        market.trade(10);
    }
    EXPECT_NE(source.take(noon), first);
    EXPECT_EQ(source.made_count(), 2U);
}

TEST(snapshot_source, contains_the_events_of_a_definition_that_is_not_complete) {
    test_market market(3);
    market.trade(50);
    const domain::instrument_id id{static_cast<std::uint32_t>(market.feed.image().instruments().count() + 1)};
    testing::definition_events events(market.instruments(), id);
    ASSERT_GT(events.all().size(), 1U);
    domain::event begun = events.all().front();
    begun.command = domain::sequence_number{market.feed.image().last_command() + 1};
    market.feed.publish(begun);
    const auto bytes = make_snapshot(market.feed.image(), market.feed.next_sequence());
    const auto packets = market_follower::packets_of(bytes);
    ASSERT_GT(packets.size(), 2U);
    const auto frame = wire::next_frame(packets[packets.size() - 2].payload);
    ASSERT_TRUE(frame && *frame);
    EXPECT_EQ((*frame)->message, wire::template_id::instrument_terms) << "before the end";
}

TEST(snapshot_source_asserts, that_time_does_not_go_back) {
    const test_market market(1);
    snapshot_source source(market.feed);
    static_cast<void>(source.take(noon));
    EXPECT_DEATH(static_cast<void>(source.take(noon - 1s)), "does not go back");
    EXPECT_DEATH(static_cast<void>(make_snapshot(market.feed.image(), 0)), "numbered from 1");
}

}  // namespace
}  // namespace corro::market_data
