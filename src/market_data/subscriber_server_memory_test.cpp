// SPDX-License-Identifier: Apache-2.0
// The feed through shared memory: the same messages in the same order, from the log first and then from the broadcast.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/test_seed.hpp"
#include "io/loop/timer.hpp"
#include "io/shm/shm_broadcast.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/scope.hpp"
#include "market_data/subscriber_server.hpp"
#include "market_data/test_feed.hpp"

namespace corro::market_data {
namespace {

using namespace std::chrono_literals;
using testing::follower;
using testing::raw_subscriber;
using testing::stream_subscriber;
using testing::test_exchange;
using testing::test_feed_options;
namespace soup = wire::soup_bin_tcp;
using memory_subscriber = stream_subscriber<io::shm_stream>;

class subscriber_server_memory : public ::testing::Test {
 protected:
    subscriber_server_memory() = default;
    subscriber_server_memory(std::uint64_t seed, const test_feed_options& options, std::uint32_t orders_max)
        : exchange_(seed, options, orders_max) {}

    /// Has the exchange serve its feed through memory too.
    void serve(std::size_t broadcast_bytes) {
        auto made = io::shm_broadcast::make(broadcast_bytes, exchange_.feed.log().end_position());
        ASSERT_TRUE(made);
        broadcast_.emplace(std::move(*made));
        io::shm_options options;
        options.broadcast = &*broadcast_;
        auto acceptor = io::shm_acceptor::open(exchange_.context, at_, options);
        ASSERT_TRUE(acceptor);
        io::spawn(exchange_.context, exchange_.ports.serve_feed(std::move(*acceptor), *broadcast_));
    }
    template <class Body>
    void run(Body body) {
        exchange_.run([this, body](test_exchange* x) { return body(x, this); });
        exchange_.context.run();  // until the feed through memory has ended too
    }
    static io::task<std::unique_ptr<memory_subscriber>> subscribe(subscriber_server_memory* to,
                                                                  std::uint64_t sequence) {
        auto stream = co_await io::shm_stream::connect(to->exchange_.context, to->at_);
        EXPECT_TRUE(stream);
        if (!stream) co_return nullptr;
        auto s = std::make_unique<memory_subscriber>(std::move(*stream));
        const auto first = co_await s->log_in(sequence);
        if (!first) co_return nullptr;
        co_return s;
    }
    /// The connections through memory are not among those that the exchange waits for.
    static io::task<void> leave(test_exchange* x, std::unique_ptr<memory_subscriber> s) {
        s->stream.close();
        for (int i = 0; i < 1'000 && x->ports.statistics().subscribers_now != 0; ++i) {
            (void)co_await io::sleep_for(1ms);
        }
    }
    static io::task<bool> take_snapshot(test_exchange* x, follower* into) {
        const auto s = co_await raw_subscriber::connect(x->snapshot_port);
        if (s == nullptr || !co_await s->log_in(1)) co_return false;
        co_return co_await into->read_snapshot(s.get());
    }

    test_exchange exchange_{base::test_seed()};
    const io::unix_endpoint at_ = *io::unix_endpoint::parse("@corro-feed-" + std::to_string(::getpid()));
    std::optional<io::shm_broadcast> broadcast_;
};

TEST_F(subscriber_server_memory, joins_by_a_snapshot_follows_every_increment_and_gets_the_end) {
    serve(1U << 20U);
    run([](test_exchange* x, subscriber_server_memory* test) -> io::task<> {
        x->trade(2'000);
        follower f;
        CORRO_REQUIRE(co_await take_snapshot(x, &f));
        x->trade(50);  // from the log
        auto s = co_await subscribe(test, f.last_sequence + 1);
        CORRO_REQUIRE(s != nullptr);
        for (int i = 0; i < 200; ++i) {
            x->trade(20);
            if (i % 10 == 0) (void)co_await io::sleep_for(1ms);  // the loop sleeps, and is rung
            CORRO_REQUIRE(co_await f.follow(s.get(), x->feed.next_sequence() - 1));
            CORRO_REQUIRE(f.difference(*x).empty());
        }
        EXPECT_TRUE(f.is_consistent);
        x->trade(20);
        const std::uint64_t last = x->feed.next_sequence() - 1;
        x->feed.close();
        CORRO_REQUIRE(co_await f.follow(s.get(), last));
        const auto end = co_await s->next();
        CORRO_REQUIRE(end);
        EXPECT_EQ(end->type, soup::packet_type::end_of_session);
        EXPECT_FALSE(co_await s->next()) << "the connection ends";
        co_await leave(x, std::move(s));
    });
}

TEST_F(subscriber_server_memory, a_subscriber_that_stops_reading_is_overrun_and_logs_in_again_without_a_gap) {
    serve(1U << 16U);
    run([](test_exchange* x, subscriber_server_memory* test) -> io::task<> {
        x->trade(500);
        follower f;
        CORRO_REQUIRE(co_await take_snapshot(x, &f));
        auto s = co_await subscribe(test, f.last_sequence + 1);
        auto other = co_await subscribe(test, x->feed.next_sequence());
        CORRO_REQUIRE(s != nullptr && other != nullptr);
        x->trade(20);
        CORRO_REQUIRE(co_await f.follow(s.get(), x->feed.next_sequence() - 1));
        for (int i = 0; i < 300; ++i) {
            x->trade(20);
            co_await io::yield();
        }
        const auto lost = co_await s->next();
        EXPECT_FALSE(lost) << "what it had not read is overwritten";
        std::array<std::byte, 8> bytes{};
        const io::io_result read = co_await s->stream.read_some(bytes);
        EXPECT_EQ(read.error, std::errc::no_buffer_space);
        EXPECT_EQ(x->ports.statistics().slow_cut, 0U);
        const std::uint64_t next = s->next_sequence;
        s.reset();
        s = co_await subscribe(test, next);
        CORRO_REQUIRE(s != nullptr);
        CORRO_REQUIRE(co_await f.follow(s.get(), x->feed.next_sequence() - 1));
        EXPECT_TRUE(f.is_consistent);
        EXPECT_TRUE(f.difference(*x).empty());
        other->stream.close();
        co_await leave(x, std::move(s));
    });
}

/// An exchange whose log is small compared with one sweep of all its orders.
class subscriber_server_sweep : public subscriber_server_memory {
 protected:
    static constexpr std::uint32_t orders_count = 4'000;

    subscriber_server_sweep() : subscriber_server_memory(plain_seed(), small_log(), orders_count + 100) {}

    /// One command that trades with every order.
    static void sweep(test_exchange* x) {
        domain::command c;
        c.sequence = domain::sequence_number{orders_count + 1};
        c.instrument = x->instruments().front().id;
        c.client_order = domain::client_order_id{1};
        c.terms.order.side = domain::side::sell;
        c.enter_order().price = domain::price_ticks{-1'000'000'000};
        c.enter_order().quantity = domain::quantity_lots{orders_count};
        x->venue.apply(c);
    }

 private:
    /// Of a market whose first instrument trades by price and time, without bands and halts.
    static std::uint64_t plain_seed() {
        for (std::uint64_t seed = base::test_seed();; ++seed) {
            const domain::instrument i = facility::testing::command_generator(seed).profile().instruments.front();
            const bool is_plain = i.price_high.value - i.price_low.value >= domain::price_ticks_max &&
                                  i.dynamic_band == 0 && i.breaker_move == 0 && i.volatility_auction == 0 &&
                                  i.order_quantity_max.value >= orders_count && !i.implied &&
                                  i.allocation.algorithm == domain::match_algorithm::fifo;
            if (is_plain) return seed;
        }
    }
    static test_feed_options small_log() {
        test_feed_options options;
        options.feed_log_bytes = 65'536;
        return options;
    }
};

TEST_F(subscriber_server_sweep, one_command_that_publishes_many_times_the_log_outruns_no_subscriber) {
    serve(4U << 20U);
    run([](test_exchange* x, subscriber_server_memory* test) -> io::task<> {
        x->fill(orders_count);
        follower by_memory;
        follower by_tcp;
        CORRO_REQUIRE(co_await take_snapshot(x, &by_memory));
        CORRO_REQUIRE(co_await take_snapshot(x, &by_tcp));
        auto memory = co_await subscribe(test, by_memory.last_sequence + 1);
        auto tcp = co_await raw_subscriber::connect(x->feed_port);
        CORRO_REQUIRE(memory != nullptr && tcp != nullptr);
        CORRO_REQUIRE(co_await tcp->log_in(by_tcp.last_sequence + 1));
        (void)co_await io::sleep_for(1ms);  // both wait for messages
        const std::uint64_t before = x->feed.statistics().bytes;
        sweep(x);
        EXPECT_GT(x->feed.statistics().bytes - before, 8 * x->feed.log().capacity_bytes());
        EXPECT_EQ(x->venue.open_orders_count(), 0U);
        x->feed.flush();
        CORRO_REQUIRE(co_await by_memory.follow(memory.get(), x->feed.next_sequence() - 1));
        EXPECT_TRUE(by_memory.difference(*x).empty());
        CORRO_REQUIRE(co_await by_tcp.follow(tcp.get(), x->feed.next_sequence() - 1));
        EXPECT_TRUE(by_tcp.difference(*x).empty());
        EXPECT_EQ(x->ports.statistics().slow_cut, 0U);
        tcp->stream.close();
        co_await leave(x, std::move(memory));
    });
}

TEST_F(subscriber_server_memory, rejects_what_is_not_available_and_ends_a_logout) {
    serve(1U << 16U);
    run([](test_exchange* x, subscriber_server_memory* test) -> io::task<> {
        x->trade(100);
        EXPECT_TRUE(co_await subscribe(test, x->feed.next_sequence() + 1) == nullptr);
        auto s = co_await subscribe(test, x->feed.next_sequence());
        CORRO_REQUIRE(s != nullptr);
        (void)co_await io::sleep_for(1ms);
        CORRO_REQUIRE(co_await s->write(memory_subscriber::packet(soup::packet_type::logout_request)));
        const auto end = co_await s->next();
        EXPECT_FALSE(end) << "the connection ends";
        co_await leave(x, std::move(s));
        EXPECT_EQ(x->ports.statistics().subscribers_now, 0U);
    });
}

}  // namespace
}  // namespace corro::market_data
