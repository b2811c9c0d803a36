// SPDX-License-Identifier: Apache-2.0
// The feed over every transport. A venue serves it over TCP alone, so a relay with the gateway's listeners stands
// between, as a proxy that encrypts would.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/test_seed.hpp"
#include "client/feed_session.hpp"
#include "client/session_errors.hpp"
#include "client/venue_endpoint.hpp"
#include "gateway/gateway_options.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/transport/acceptor.hpp"
#include "gateway/transport/listener.hpp"
#include "gateway/transport/protocol.hpp"
#include "gateway/transports_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/net/transport_stream.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tls_fixture.hpp"
#include "market_data/test_feed.hpp"

namespace corro::client {
namespace {

using gateway::testing::test_transport;
using market_data::testing::book_comparison;
using market_data::testing::test_exchange;

io::task<io::io_result> read_from(io::transport_stream* from, std::span<std::byte> into) {
    io::io_result read;
    if (io::stream_socket* const socket = from->socket()) {
        read = co_await socket->read_some(into);
    } else {
        read = co_await from->layered().read_some(into);
    }
    co_return read;
}

io::task<io::io_result> write_to(io::transport_stream* to, std::span<const std::byte> bytes) {
    io::io_result written;
    if (io::stream_socket* const socket = to->socket()) {
        written = co_await socket->write_all(bytes);
    } else {
        written = co_await to->layered().write_all(bytes);
    }
    co_return written;
}

/// Forwards until one side ends.
io::task<void> pump(io::transport_stream* from, io::transport_stream* to, io::task_scope* both) {
    std::array<std::byte, 4096> bytes;
    while (true) {
        const io::io_result read = co_await read_from(from, bytes);
        if (read.error) break;
        const io::io_result written = co_await write_to(to, std::span(bytes).first(read.bytes));
        if (written.error) break;
    }
    both->request_stop();
}

/// Connects every client to a port of the venue.
class relay final : gateway::protocol {
 public:
    relay(io::context& context, test_transport kind, io::endpoint venue)
        : context_(context), kind_(kind), venue_(venue), acceptor_(context, options_, *this, statistics_) {}

    /// Until `close`.
    [[nodiscard]] io::task<void> run() {
        std::vector<gateway::listener> listeners = gateway::testing::listeners_of(kind_, context_, unix_address_);
        if (const auto at = listeners.front().local_endpoint()) at_ = *at;
        return acceptor_.serve(std::move(listeners));
    }
    void close() noexcept {
        acceptor_.close();
        if (open_ != nullptr) open_->request_stop();
    }
    [[nodiscard]] venue_endpoint where() const {
        switch (kind_) {
            case test_transport::unix_socket: return unix_address_;
            case test_transport::shared_memory: return venue_endpoint::shared_memory(unix_address_);
            case test_transport::tls: return venue_endpoint::tls(at_, io::client_context(), "localhost");
            case test_transport::websocket: return venue_endpoint::websocket(at_);
            case test_transport::secure_websocket:
                return venue_endpoint::secure_websocket(at_, io::client_context(), "localhost");
            default: return at_;
        }
    }

 private:
    io::task<void> serve(io::transport_stream client, gateway::connection_place* place) override {
        place->prove();
        auto venue = co_await io::tcp_stream::connect(context_, venue_);
        CORRO_REQUIRE(venue);
        io::transport_stream there(std::move(*venue));
        io::task_scope both(context_);
        open_ = &both;
        both.spawn(pump(&client, &there, &both));
        both.spawn(pump(&there, &client, &both));
        co_await both.join();
        open_ = nullptr;
        static_cast<void>(co_await client.shutdown());
    }
    [[nodiscard]] std::span<const std::byte> words_without_room() const noexcept override { return {}; }

    io::context& context_;
    test_transport kind_;
    io::endpoint venue_;
    io::endpoint at_;
    const io::unix_endpoint unix_address_ =
        *io::unix_endpoint::parse("@corro-relay-" + std::to_string(std::random_device{}()));
    gateway::gateway_options options_;
    gateway::gateway_statistics statistics_;
    gateway::acceptor acceptor_;
    io::task_scope* open_ = nullptr;  ///< of the connection; one at a time
};

/// The first difference between the session's books and the venue's; empty when there is none.
std::string difference(const feed_session& session, const test_exchange& x) {
    for (const domain::instrument& i : x.instruments()) {
        const feed::book_image* const book = session.book(i.id);
        if (book == nullptr) return "an instrument is missing";
        const std::string found = book_comparison::difference(x.venue, i.id, *book);
        if (!found.empty()) return found;
    }
    return {};
}

io::task<std::error_code> follow_to_the_end(feed_session* session, const test_exchange* x) {
    while (session->next_sequence() != x->feed.next_sequence()) {
        const auto event = session->poll();
        if (!event) co_return event.error();
        if (*event) continue;
        const std::error_code error = co_await session->fill();
        if (error) co_return error;
    }
    co_return std::error_code();
}

class client_feed : public gateway::testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, client_feed,
                         ::testing::Values(test_transport::tcp, test_transport::unix_socket,
                                           test_transport::shared_memory, test_transport::tls,
                                           test_transport::websocket, test_transport::secure_websocket),
                         gateway::testing::transport_name);

io::task<void> join_follow_and_resume(test_exchange* x, relay* feed, relay* snapshots) {
    x->trade(2'000);
    auto joined = co_await feed_session::join(feed->where(), snapshots->where());
    CORRO_REQUIRE(joined);
    feed_session* const session = joined->get();
    EXPECT_EQ(difference(*session, *x), "") << "by snapshot alone";
    x->trade(1'000);
    CORRO_REQUIRE(!co_await follow_to_the_end(session, x));
    EXPECT_EQ(difference(*session, *x), "") << "by snapshot and increments";
    // What comes while the connection is broken comes behind it.
    session->abandon();
    x->trade(1'000);
    while (x->ports.statistics().subscribers_now != 0) co_await io::yield();
    CORRO_REQUIRE(!co_await session->resume(feed->where()));
    x->trade(1'000);
    CORRO_REQUIRE(!co_await follow_to_the_end(session, x));
    EXPECT_EQ(difference(*session, *x), "") << "after a new connection";
    // A stream that is connected already.
    session->abandon();
    while (x->ports.statistics().subscribers_now != 0) co_await io::yield();
    auto stream = co_await feed->where().connect();
    CORRO_REQUIRE(stream);
    x->trade(100);
    CORRO_REQUIRE(!co_await session->resume(std::move(*stream)));
    CORRO_REQUIRE(!co_await follow_to_the_end(session, x));
    EXPECT_EQ(difference(*session, *x), "") << "over a stream that was there";
    x->feed.close();
    const auto nothing = session->poll();
    EXPECT_TRUE(nothing && !*nothing);
    while (true) {
        const auto ended = session->poll();
        if (!ended) {
            EXPECT_EQ(ended.error(), session_errc::end_of_session);
            break;
        }
        CORRO_REQUIRE(!co_await session->fill());
    }
}

TEST_P(client_feed, joins_follows_and_resumes) {
    test_exchange exchange(base::test_seed());
    exchange.run([](test_exchange* x) -> io::task<> {
        relay feed(x->context, gateway::testing::transport_under_test, x->feed_port);
        relay snapshots(x->context, gateway::testing::transport_under_test, x->snapshot_port);
        io::task_scope relaying(x->context);
        relaying.spawn(feed.run());
        relaying.spawn(snapshots.run());
        co_await join_follow_and_resume(x, &feed, &snapshots);
        feed.close();
        snapshots.close();
        co_await relaying.join();
    });
}

TEST(client_prices, are_those_of_the_book_as_decimals) {
    test_exchange exchange(base::test_seed());
    exchange.run([](test_exchange* x) -> io::task<> {
        x->trade(3'000);
        const auto image = co_await feed_session::fetch_snapshot(x->snapshot_port);
        CORRO_REQUIRE(image);
        // Random instruments may share a name; the last one has it.
        std::map<std::string, domain::instrument> named;
        image->instruments().for_each([&](const domain::instrument& i) { named[std::string(i.name.view())] = i; });
        std::size_t both_count = 0;
        for (const auto& [name, i] : named) {
            const auto best = co_await feed_session::fetch_best(x->snapshot_port, name);
            CORRO_REQUIRE(best);
            const domain::top& top = image->book(i.id)->top();
            const double tick = static_cast<double>(i.tick_size.value) / 1e9;
            EXPECT_EQ(best->tick, tick);
            EXPECT_EQ(best->bid.has_value(), top.bid_price != domain::no_price);
            EXPECT_EQ(best->ask.has_value(), top.ask_price != domain::no_price);
            if (best->bid) {
                EXPECT_NEAR(*best->bid, static_cast<double>(top.bid_price.value) * tick, 1e-6);
            }
            if (best->ask) {
                EXPECT_NEAR(*best->ask, static_cast<double>(top.ask_price.value) * tick, 1e-6);
            }
            const double ticks = best->middle / tick;
            EXPECT_NEAR(ticks, std::round(ticks), 1e-3) << "a multiple of the tick";
            if (!best->bid || !best->ask) continue;
            ++both_count;
            EXPECT_GE(best->middle, *best->bid);
            EXPECT_LE(best->middle, *best->ask);
        }
        EXPECT_GT(both_count, 0U);
        const auto unknown = co_await feed_session::fetch_best(x->snapshot_port, "NONE");
        CORRO_REQUIRE(!unknown);
        EXPECT_EQ(unknown.error(), session_errc::unknown_instrument);
    });
}

}  // namespace
}  // namespace corro::client
