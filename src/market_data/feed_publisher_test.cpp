// SPDX-License-Identifier: Apache-2.0
// The publisher of a feed without a socket: its messages, its followers, and its continuation after a restart.
#include "market_data/feed_publisher.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/byte_stream.hpp"
#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "market_data/test_market.hpp"

namespace corro::market_data {
namespace {

using testing::market_follower;
using testing::test_market;

feed_options small_log() {
    feed_options options;
    options.feed_log_bytes = feed_log_bytes_min;
    return options;
}

/// Copies the bytes of the log at each flush, from a position of its own.
class copying_follower final : public feed_follower {
 public:
    explicit copying_follower(const feed_log& log) : log_(log), position_(log.end_position()) {}

    void flush() noexcept override {
        ++flushes;
        copy();
    }
    void keep_up() noexcept override {
        ++keep_ups;
        longest_step = std::max(longest_step, log_.end_position() - position_);
        copy();
    }
    void close() noexcept override { ++closings; }

    std::vector<std::byte> bytes;
    int flushes = 0;
    int keep_ups = 0;
    int closings = 0;
    std::uint64_t longest_step = 0;  ///< of a keep_up, in bytes

 private:
    void copy() {
        for (auto some = log_.bytes_from(position_, 1000); !some.empty(); some = log_.bytes_from(position_, 1000)) {
            bytes.insert(bytes.end(), some.begin(), some.end());
            position_ += some.size();
        }
    }
    const feed_log& log_;
    std::uint64_t position_;
};

TEST(feed_publisher, gives_every_follower_the_same_messages_from_which_the_books_follow) {
    base::prng seeds(base::test_seed());
    for (int i = 0; i < 20 && !::testing::Test::HasFailure(); ++i) {
        const std::uint64_t seed = seeds();
        SCOPED_TRACE("seed " + std::to_string(seed));
        test_market market(seed);
        copying_follower from_the_start(market.feed.log());
        market.feed.follow(from_the_start);
        for (int batch = 0; batch < 50; ++batch) market.trade(20);
        copying_follower late(market.feed.log());
        market.feed.follow(late);
        const std::size_t before = from_the_start.bytes.size();
        for (int batch = 0; batch < 10; ++batch) market.trade(20);
        EXPECT_EQ(from_the_start.flushes, 60);
        EXPECT_EQ(late.flushes, 10) << "followers do not depend on each other";
        ASSERT_EQ(late.bytes.size(), from_the_start.bytes.size() - before);
        EXPECT_TRUE(std::equal(late.bytes.begin(), late.bytes.end(),
                               from_the_start.bytes.begin() + static_cast<std::ptrdiff_t>(before)));

        market_follower books(market.instruments());
        ASSERT_TRUE(books.take_feed(from_the_start.bytes));
        EXPECT_EQ(books.difference(market), "");
        EXPECT_EQ(books.commands_seen, market.commands_with_news) << "each command's end is marked once";
        EXPECT_EQ(books.last_sequence, market.public_events);
        EXPECT_EQ(market.feed.statistics().messages, market.public_events);
        EXPECT_EQ(market.feed.statistics().bytes, from_the_start.bytes.size());
    }
}

TEST(feed_publisher, a_turn_that_publishes_many_times_the_log_outruns_no_follower) {
    feed_options options;
    options.feed_log_bytes = 65'536;
    test_market market(base::test_seed(), options);
    copying_follower copies(market.feed.log());
    market.feed.follow(copies);
    market.trade(10);
    EXPECT_EQ(copies.keep_ups, 0) << "a small turn is sent when it ends";
    const std::size_t before = copies.bytes.size();
    const int flushes = copies.flushes;
    market.trade(20'000);
    ASSERT_GT(copies.bytes.size() - before, 8 * market.feed.log().capacity_bytes()) << "the turn is too small to test";
    EXPECT_EQ(copies.flushes, flushes + 1);
    EXPECT_GT(copies.keep_ups, 8);
    EXPECT_LE(copies.longest_step, market.feed.log().capacity_bytes() / keep_up_divisor + feed_log::message_bytes_max);
    EXPECT_EQ(copies.bytes.size(), market.feed.statistics().bytes);
    market_follower books(market.instruments());
    ASSERT_TRUE(books.take_feed(copies.bytes));
    EXPECT_EQ(books.difference(market), "");
    // The next keep_up counts from the flush.
    const int keep_ups = copies.keep_ups;
    market.trade(10);
    EXPECT_EQ(copies.keep_ups, keep_ups);
}

TEST(feed_publisher, closes_its_followers_once_and_takes_no_event_afterwards) {
    test_market market(2);
    copying_follower one(market.feed.log());
    copying_follower other(market.feed.log());
    market.feed.follow(one);
    market.feed.follow(other);
    market.trade(10);
    market.feed.close();
    market.feed.close();
    EXPECT_TRUE(market.feed.is_closed());
    EXPECT_EQ(one.closings, 1);
    EXPECT_EQ(other.closings, 1);
    EXPECT_DEATH(market.trade(100), "nothing may be published after");
}

TEST(feed_publisher, continues_from_its_saved_state_with_the_next_number) {
    test_market market(base::test_seed(), small_log());
    market.trade(3'000);
    for (const std::size_t kept : {std::size_t{0}, std::size_t{10'000}, std::size_t{100'000'000}}) {
        std::vector<std::byte> bytes;
        base::memory_sink sink(bytes);
        ASSERT_TRUE(market.feed.save(sink, kept));
        feed_publisher next(small_log(), market.instruments());
        base::memory_source source(bytes);
        for (const domain::instrument& each : market.venue.instruments()) next.define(each);
        ASSERT_TRUE(next.load(source)) << kept;
        EXPECT_EQ(next.next_sequence(), market.feed.next_sequence());
        EXPECT_EQ(next.image().last_command(), market.feed.image().last_command());
        for (const domain::instrument& each : market.venue.instruments()) {
            EXPECT_EQ(next.book(each.id)->digest(), market.feed.book(each.id)->digest());
        }
        // The messages that were kept are the newest ones, byte for byte.
        const std::uint64_t first = next.log().first_sequence();
        EXPECT_GE(first, market.feed.log().first_sequence());
        std::uint64_t here = next.log().position_of(first);
        std::uint64_t there = market.feed.log().position_of(first);
        EXPECT_LE(next.log().end_position() - here, std::max(kept, std::size_t{0}));
        while (here != next.log().end_position()) {
            const auto packet = next.log().packet_at(here);
            const auto same = market.feed.log().packet_at(there);
            ASSERT_TRUE(std::ranges::equal(packet, same));
            here += packet.size();
            there += packet.size();
        }
    }
}

TEST(feed_publisher, loads_nothing_from_damaged_bytes_and_stays_as_it_was) {
    test_market market(4, small_log());
    market.trade(500);
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    ASSERT_TRUE(market.feed.save(sink, 10'000));
    base::prng random(base::test_seed());
    for (int i = 0; i < 50; ++i) {
        std::vector<std::byte> damaged = bytes;
        if (i % 2 == 0) {
            damaged.resize(random.below(damaged.size()));
        } else {
            damaged.at(random.below(damaged.size())) ^= static_cast<std::byte>(1 + random.below(255));
        }
        feed_publisher next(small_log(), market.instruments());
        for (const domain::instrument& each : market.venue.instruments()) next.define(each);
        base::memory_source source(damaged);
        ASSERT_FALSE(next.load(source));
        EXPECT_EQ(next.next_sequence(), 1U);
        for (const domain::instrument& each : market.venue.instruments()) {
            EXPECT_EQ(next.book(each.id)->orders_count(), 0U);
        }
    }
}

TEST(feed_publisher, N1_books_from_another_publisher_continue_at_its_number) {
    test_market market(6);
    market.trade(300);
    feed_publisher second(small_log(), market.instruments());
    for (const domain::instrument& each : market.venue.instruments()) second.define(each);
    second.begin_at(market.feed.next_sequence(), market.feed.image().last_command());
    for (const domain::instrument& each : market.venue.instruments()) {
        ASSERT_TRUE(second.adopt(each.id, *market.feed.book(each.id)));
    }
    EXPECT_FALSE(second.adopt(domain::instrument_id{1'000}, feed::book_image()));
    std::vector<domain::event> events;
    market.keep = &events;
    market.trade(300);
    for (const domain::event& e : events) second.publish(e);
    EXPECT_EQ(second.next_sequence(), market.feed.next_sequence());
    for (const domain::instrument& each : market.instruments()) {
        EXPECT_EQ(second.book(each.id)->digest(), market.feed.book(each.id)->digest());
    }
}

TEST(feed_publisher_asserts, who_may_call_and_when) {
    test_market market(8);
    copying_follower one(market.feed.log());
    market.feed.follow(one);
    EXPECT_DEATH(market.feed.follow(one), "only once");
    market.trade(200);
    ASSERT_GT(market.public_events, 0U);
    EXPECT_DEATH(market.feed.begin_at(10, 10), "only once");
    const domain::instrument_id id{static_cast<std::uint32_t>(market.feed.image().instruments().count() + 1)};
    const testing::definition_events events(market.instruments(), id);
    market.feed.publish(events.all().front());
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    EXPECT_DEATH(static_cast<void>(market.feed.save(sink, 0)), "all or not at all");
    market.feed.close();
    EXPECT_DEATH(market.feed.follow(one), "closed feed");
}

}  // namespace
}  // namespace corro::market_data
