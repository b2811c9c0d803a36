// SPDX-License-Identifier: Apache-2.0
// Ports on listeners and streams that are not sockets.
#include "market_data/soup_port.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/channel.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "market_data/soup_options.hpp"
#include "market_data/subscriber_registry.hpp"
#include "market_data/subscriber_services.hpp"
#include "market_data/test_feed.hpp"
#include "market_data/test_pipe.hpp"

namespace corro::market_data {
namespace {

using testing::pipe_acceptor;
using testing::pipe_stream;
using subscriber_of_pipe = testing::stream_subscriber<pipe_stream>;
namespace soup = wire::soup_bin_tcp;

/// A market whose ports are made here: the feed's and the snapshots'.
struct market_on_pipes final : feed_follower {
    explicit market_on_pipes(std::uint64_t seed)
        : market(seed),
          registry(context, registry_options()),
          feed(market.feed, registry),
          snapshots(context, market.feed, registry, snapshot_service::options()),
          feed_port(context, feed, registry, options),
          snapshot_port(context, snapshots, registry, options) {
        market.feed.follow(*this);
    }
    void flush() noexcept override { feed.flush(); }
    void keep_up() noexcept override { feed.keep_up(); }
    void close() noexcept override {
        registry.close();
        feed_port.close();
        snapshot_port.close();
    }

    io::context context;
    soup_options options;
    testing::test_market market;
    subscriber_registry registry;
    feed_service feed;
    snapshot_service snapshots;
    soup_port<feed_service> feed_port;
    soup_port<snapshot_service> snapshot_port;
};

// A late joiner: a snapshot from a listener, then the feed on a stream that was there already.
io::task<void> join_late(market_on_pipes* m) {
    io::task_scope serving(m->context);
    io::channel<pipe_stream> arrivals(4);
    serving.spawn(m->snapshot_port.serve(pipe_acceptor(arrivals)));
    m->market.trade(500);

    auto [ours, theirs] = pipe_stream::make();
    EXPECT_TRUE(arrivals.try_send(theirs));
    subscriber_of_pipe snapshot(std::move(ours));
    const auto accepted = co_await snapshot.log_in(1);
    CORRO_REQUIRE(accepted);
    testing::follower books;
    const bool is_whole = co_await books.read_snapshot(&snapshot);
    CORRO_REQUIRE(is_whole);
    EXPECT_EQ(books.difference(m->market), "");
    snapshot.stream.close();

    m->market.trade(500);
    auto ends = pipe_stream::make();
    serving.spawn(m->feed_port.serve_stream(std::move(ends.second)));
    subscriber_of_pipe feed(std::move(ends.first));
    const auto first = co_await feed.log_in(books.last_sequence + 1);
    CORRO_REQUIRE(first);
    for (int i = 0; i < 20; ++i) {
        m->market.trade(20);
        const bool follows = co_await books.follow(&feed, m->market.feed.next_sequence() - 1);
        CORRO_REQUIRE(follows);
        EXPECT_EQ(books.difference(m->market), "");
    }
    EXPECT_EQ(m->registry.statistics().logins, 2U);

    m->market.feed.close();
    const auto last = co_await feed.next_change();
    CORRO_REQUIRE(last);
    EXPECT_EQ(last->type, soup::packet_type::end_of_session);
    feed.stream.close();
    co_await serving.join();
    EXPECT_EQ(m->registry.statistics().subscribers_now, 0U);
    EXPECT_EQ(m->registry.statistics().protocol_errors, 0U);
}

TEST(soup_port, serves_subscribers_on_any_listener_and_any_stream) {
    market_on_pipes m(21);
    const auto in_time = io::block_on(m.context, io::with_timeout(io::test_patience, join_late(&m)));
    EXPECT_TRUE(in_time) << "the test did not finish";
}

// Every connection is closed by the port, whatever it sends.
io::task<void> talk_nonsense(market_on_pipes* m) {
    io::task_scope serving(m->context);
    for (const std::size_t size : {1U, 20U, 600U}) {
        auto ends = pipe_stream::make();
        serving.spawn(m->feed_port.serve_stream(std::move(ends.second)));
        subscriber_of_pipe s(std::move(ends.first));
        const bool is_written = co_await s.write(std::vector<std::byte>(size, std::byte{0xff}));
        EXPECT_TRUE(is_written);
        static_cast<void>(co_await s.stream.shutdown());
        const auto answer = co_await s.next();
        EXPECT_FALSE(answer) << size << " bytes";
    }
    co_await serving.join();
    EXPECT_EQ(m->registry.statistics().protocol_errors, 3U);
    EXPECT_EQ(m->registry.statistics().subscribers_now, 0U);
}

TEST(soup_port, ends_a_stream_that_does_not_log_in) {
    market_on_pipes m(22);
    const auto in_time = io::block_on(m.context, io::with_timeout(io::test_patience, talk_nonsense(&m)));
    EXPECT_TRUE(in_time) << "the test did not finish";
}

}  // namespace
}  // namespace corro::market_data
