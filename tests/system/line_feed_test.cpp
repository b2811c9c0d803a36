// SPDX-License-Identifier: Apache-2.0
// N1: a receiver of the UDP lines rebuilds the venue's exact books, or marks them as stale, although the network loses,
// repeats and reorders packets.

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "client/line_feed.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/udp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;

/// The faults of a line, in percent of its packets.
struct weather {
    std::uint64_t lost = 0;
    std::uint64_t repeated = 0;
    std::uint64_t delayed = 0;
};

/// A faulty line: receives packets on its own port and forwards those that it does not lose.
class bad_line {
 public:
    bad_line(io::context& context, std::uint64_t seed) : random_(seed) {
        auto socket = io::udp_socket::open(context, io::endpoint::loopback(0));
        if (!socket) throw std::system_error(socket.error());
        socket_ = std::move(*socket);
        static_cast<void>(socket_.set_option(io::receive_buffer(4 << 20)));
    }

    [[nodiscard]] std::string address() const { return socket_.local_endpoint()->to_string(); }

    io::task<void> pass_on(io::endpoint to) {
        std::array<std::byte, 2'000> room;
        std::vector<std::vector<std::byte>> delayed;
        while (true) {
            const auto got = co_await socket_.receive_from(room);
            if (!got) co_return;
            std::vector<std::byte> packet(room.begin(), room.begin() + static_cast<std::ptrdiff_t>(got->bytes));
            if (random_.below(100) < now.lost) {
                ++lost;
                continue;
            }
            if (random_.below(100) < now.delayed) {
                delayed.push_back(std::move(packet));
                if (delayed.size() < 4) continue;
                packet = std::move(delayed[random_.below(delayed.size())]);
                std::erase_if(delayed, [](const auto& each) { return each.empty(); });
            }
            const std::uint64_t copies = random_.below(100) < now.repeated ? 2 : 1;
            for (std::uint64_t i = 0; i < copies; ++i) static_cast<void>(co_await socket_.send_to(packet, to));
        }
    }

    weather now;
    std::uint64_t lost = 0;

 private:
    base::prng random_;
    io::udp_socket socket_;
};

/// An exchange with two faulty lines to one receiver.
struct stormy_venue {
    explicit stormy_venue(std::uint64_t seed) : a(context, seed), b(context, seed + 1), exchange(context, config()) {}

    node::configuration config() const {
        node::configuration c = testing::small_venue();
        c.lines = {a.address(), b.address()};
        c.retransmission_listen = "127.0.0.1:0";
        return c;
    }
    client::line_feed_options receiver() const {
        client::line_feed_options options;
        options.lines = {io::endpoint::loopback(0), io::endpoint::loopback(0)};
        options.retransmissions = *exchange.retransmission_endpoint();
        options.snapshot = exchange.snapshot_endpoint();
        return options;
    }

    /// Runs `body(this)` beside the exchange and the lines. Closes the exchange afterwards.
    template <class Body>
    void run(Body body) {
        const auto all = [](stormy_venue* self, Body inner) -> io::task<void> {
            io::task_scope serving(self->context);
            serving.spawn(self->exchange.run());
            const auto in_time = co_await io::with_timeout(io::test_patience, inner(self));
            EXPECT_TRUE(in_time) << "the test did not come to its end";
            self->exchange.close();
            co_await serving.join();
        };
        io::block_on(context, all(this, body));
    }

    io::context context;
    bad_line a;
    bad_line b;
    node::testing::started_venue exchange;
};

/// Sends requests of a seeded trader and waits for each answer.
io::task<bool> trade(node::venue* exchange, std::uint32_t session_number, std::uint64_t seed, int requests_count) {
    auto session =
        co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, session_number));
    if (!session) co_return false;
    client::trader trader(client::trader_options(), testing::instruments_of(**session),
                          {domain::price_ticks{9'000}, domain::price_ticks{200}}, std::uint64_t{session_number} << 32U,
                          seed);
    for (int i = 0; i < requests_count; ++i) {
        if ((*session)->send(trader.next_request()) == 0) co_return false;
        bool answered = false;
        while (!answered) {
            const auto answer = co_await (*session)->next();
            if (!answer) co_return false;
            if (answer->reject) {
                trader.on_reject(answer->reject->session_reject_reason);
                answered = true;
            } else {
                answered = trader.on_event(answer->event);
            }
        }
    }
    co_return !co_await (*session)->log_out();
}

/// Takes consecutive events until the receiver has reached message `last`.
io::task<std::error_code> follow(client::line_feed* feed, std::uint64_t last) {
    while (feed->image().next_sequence() <= last) {
        std::error_code error = co_await feed->fill();
        while (!error) {
            const auto event = feed->poll();
            if (!event) error = event.error();
            if (!event || !*event) break;
        }
        if (error) co_return error;
    }
    co_return std::error_code();
}

bool books_are_equal(const client::market_image& ours, const node::venue& venue) {
    bool equal = true;
    ours.instruments().for_each([&](const domain::instrument& i) {
        const auto* one = ours.book(i.id);
        const auto* other = venue.book(i.id);
        equal = equal && one->digest() == other->digest() && one->orders_count() == other->orders_count() &&
                one->volumes().volume == other->volumes().volume;
        for (const auto side : {domain::side::buy, domain::side::sell}) {
            for (const auto& level : other->levels(side)) {
                const auto mine = one->orders_at(side, level.price);
                const auto theirs = other->orders_at(side, level.price);
                equal = equal && mine.size() == theirs.size();
                for (std::size_t k = 0; equal && k < mine.size(); ++k) equal = mine[k].order == theirs[k].order;
            }
        }
    });
    return equal;
}

io::task<void> trade_in_a_storm(stormy_venue* v) {
    // A receiver joins later, while packets are lost.
    CORRO_REQUIRE(co_await trade(&v->exchange, 1, 1, 500));
    auto feed = co_await client::line_feed::join(v->receiver());
    CORRO_REQUIRE(feed);
    io::task_scope network(v->context);
    network.spawn(v->a.pass_on(*(*feed)->line_endpoint(0)));
    network.spawn(v->b.pass_on(*(*feed)->line_endpoint(1)));
    network.spawn((*feed)->receive());
    const bool traded = co_await trade(&v->exchange, 2, 2, 1'500);
    EXPECT_TRUE(traded);
    // The last packets may be lost too; then the heartbeat shows it. It passes without faults.
    v->a.now = v->b.now = weather{};
    const std::error_code error = co_await follow(feed->get(), v->exchange.feed_statistics().messages);
    EXPECT_FALSE(error) << error.message();
    EXPECT_TRUE(books_are_equal((*feed)->image(), v->exchange));
    EXPECT_GT(v->a.lost, 10U);
    EXPECT_GT((*feed)->statistics().duplicates, 10U);
    EXPECT_GT((*feed)->statistics().requests, 0U);
    EXPECT_GT(v->exchange.line_statistics()->messages_again, 0U);
    EXPECT_EQ((*feed)->statistics().packets_refused, 0U);
    network.request_stop();
    co_await network.join();
}

TEST(line_feed, n1_rebuilds_the_exact_books_whatever_the_lines_lose_repeat_and_reorder) {
    const std::uint64_t seed = base::test_seed();
    for (const std::uint64_t lost : {30U, 70U}) {
        stormy_venue venue(seed + lost);
        venue.a.now = {.lost = lost, .repeated = 10, .delayed = 20};
        venue.b.now = {.lost = lost, .repeated = 5, .delayed = 30};
        venue.run(trade_in_a_storm);
    }
}

io::task<void> trade_until_stale(stormy_venue* v) {
    client::line_feed_options options = v->receiver();
    // Nothing answers on this port.
    auto nobody = io::udp_socket::open(v->context, io::endpoint::loopback(0));
    CORRO_REQUIRE(nobody);
    options.retransmissions = *nobody->local_endpoint();
    options.requests_max = 3;
    options.retry_interval = 5ms;
    auto feed = co_await client::line_feed::join(options);
    CORRO_REQUIRE(feed);
    io::task_scope network(v->context);
    network.spawn(v->a.pass_on(*(*feed)->line_endpoint(0)));
    network.spawn(v->b.pass_on(*(*feed)->line_endpoint(1)));
    network.spawn((*feed)->receive());
    const bool traded = co_await trade(&v->exchange, 1, 3, 1'000);
    EXPECT_TRUE(traded);
    const std::error_code error = co_await follow(feed->get(), v->exchange.feed_statistics().messages);
    EXPECT_EQ(error, client::make_error_code(client::session_errc::sequence_gap));
    EXPECT_LT((*feed)->image().next_sequence(), v->exchange.feed_statistics().messages);
    network.request_stop();
    co_await network.join();
}

TEST(line_feed, n1_says_that_the_books_are_stale_when_what_is_lost_cannot_be_had) {
    stormy_venue venue(base::test_seed());
    venue.a.now = venue.b.now = {.lost = 50};
    venue.run(trade_until_stale);
}

TEST(line_feed, two_members_of_a_multicast_group_see_the_market_and_its_end) {
    constexpr std::uint32_t loopback_interface = 1;
    io::context context;
    // A port that is free now. Nothing else in this test uses it.
    std::uint16_t port = 0;
    {
        auto probe = io::udp_socket::open(context, io::endpoint::any(0));
        ASSERT_TRUE(probe);
        port = probe->local_endpoint()->port();
        if (const std::error_code refused =
                probe->join_group(io::endpoint::ipv4({239, 255, 17, 9}, port), loopback_interface)) {
            GTEST_SKIP() << "no multicast on the loopback interface here: " << refused.message();
        }
    }
    node::configuration c = testing::small_venue();
    const io::endpoint group = io::endpoint::ipv4({239, 255, 17, 9}, port);
    c.lines = {group.to_string()};
    c.retransmission_listen = "127.0.0.1:0";
    c.multicast_interface = loopback_interface;
    c.multicast_hops = 0;
    node::testing::started_venue exchange(context, c);
    client::line_feed_options options;
    options.lines = {group};
    options.multicast_interface = loopback_interface;
    options.retransmissions = *exchange.retransmission_endpoint();
    options.snapshot = exchange.snapshot_endpoint();

    const auto body = [](io::context* on, node::venue* x, client::line_feed_options how) -> io::task<void> {
        io::task_scope serving(*on);
        serving.spawn(x->run());
        auto one = co_await client::line_feed::join(how);
        auto other = co_await client::line_feed::join(how);
        CORRO_REQUIRE(one && other);
        io::task_scope receiving(*on);
        receiving.spawn((*one)->receive());
        receiving.spawn((*other)->receive());
        const bool traded = co_await trade(x, 1, 5, 500);
        EXPECT_TRUE(traded);
        for (client::line_feed* feed : {one->get(), other->get()}) {
            const std::error_code error = co_await follow(feed, x->feed_statistics().messages);
            EXPECT_FALSE(error) << error.message();
            EXPECT_TRUE(books_are_equal(feed->image(), *x));
        }
        x->close();
        co_await serving.join();
        const std::error_code ended = co_await follow(one->get(), ~std::uint64_t{0});
        EXPECT_EQ(ended, client::make_error_code(client::session_errc::end_of_session));
        receiving.request_stop();
        co_await receiving.join();
    };
    const auto in_time = [](io::context* on, node::venue* x, client::line_feed_options how,
                            decltype(body) inner) -> io::task<void> {
        const auto done = co_await io::with_timeout(io::test_patience, inner(on, x, how));
        EXPECT_TRUE(done) << "the test did not come to its end";
    };
    io::block_on(context, in_time(&context, &exchange, options, body));
}

TEST(line_feed, refuses_requests_that_are_not_for_this_venue) {
    stormy_venue venue(base::test_seed());
    venue.run([](stormy_venue* v) -> io::task<void> {
        CORRO_REQUIRE(co_await trade(&v->exchange, 1, 1, 50));
        auto socket = io::udp_socket::open(v->context, io::endpoint::loopback(0));
        CORRO_REQUIRE(socket);
        namespace mold = wire::mold_udp64;
        std::array<std::byte, mold::request_bytes> request;
        const auto ask = [&](const char* session, std::uint64_t sequence, std::size_t size) {
            mold::request r;
            r.session = *mold::make_session_name(session);
            r.sequence = sequence;
            r.count = 2;
            mold::encode(r, request);
            return socket->send_to(std::span(request).first(size), *v->exchange.retransmission_endpoint());
        };
        static_cast<void>(co_await ask("OTHER", 1, mold::request_bytes));
        static_cast<void>(co_await ask("CORRO", 1'000'000, mold::request_bytes));
        static_cast<void>(co_await ask("CORRO", 1, mold::request_bytes - 1));
        static_cast<void>(co_await ask("CORRO", 3, mold::request_bytes));
        std::array<std::byte, 2'000> room;
        const auto got = co_await io::with_timeout(10s, socket->receive_from(room));
        CORRO_REQUIRE(got && *got);
        const auto packet = mold::decode(std::span(room).first((*got)->bytes));
        CORRO_REQUIRE(packet);
        EXPECT_EQ(packet->sequence(), 3U);
        EXPECT_EQ(packet->messages_count(), 2U);
        EXPECT_EQ(v->exchange.line_statistics()->requests, 4U);
        EXPECT_EQ(v->exchange.line_statistics()->requests_refused, 3U);
    });
}

}  // namespace
}  // namespace corro
