// SPDX-License-Identifier: Apache-2.0
// Test support: a facility with random traffic, the publisher of its feed with its ports, and a subscriber that keeps
// every packet.
//
// Everything runs on one context in the test's own process, over TCP on the loopback address.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/subscriber_server.hpp"
#include "market_data/test_market.hpp"
#include "wire/soup_bin_tcp.hpp"

namespace corro::market_data::testing {

/// Options of a feed and of its ports.
struct test_feed_options : feed_options, subscriber_options {};

/// A market with its ports.
class test_exchange final : public test_market {
 public:
    explicit test_exchange(std::uint64_t seed, const test_feed_options& options = test_feed_options(),
                           std::uint32_t orders_max = 0)
        : test_market(seed, options, orders_max), ports(context, options, feed) {}

    /// Runs `body(this)` beside the ports, then closes the feed. A body that takes longer than `io::test_patience` is
    /// stopped and fails.
    template <class Body>
    void run(Body body) {
        io::block_on(context, run_all(this, body));
    }

    io::context context;
    subscriber_server ports;
    io::endpoint feed_port;
    io::endpoint snapshot_port;

 private:
    template <class Body>
    static io::task<void> run_all(test_exchange* self, Body body) {
        auto feed_acceptor = io::tcp_acceptor::open(self->context, io::endpoint::loopback(0));
        auto snapshot_acceptor = io::tcp_acceptor::open(self->context, io::endpoint::loopback(0));
        CORRO_REQUIRE(feed_acceptor && snapshot_acceptor);
        self->feed_port = *feed_acceptor->local_endpoint();
        self->snapshot_port = *snapshot_acceptor->local_endpoint();
        io::task_scope serving(self->context);
        serving.spawn(self->ports.serve_feed(std::move(*feed_acceptor)));
        serving.spawn(self->ports.serve_snapshots(std::move(*snapshot_acceptor)));
        const auto in_time = co_await io::with_timeout(io::test_patience, body(self));
        EXPECT_TRUE(in_time) << "the test did not finish";
        self->feed.close();
        co_await serving.join();
        EXPECT_EQ(self->ports.statistics().subscribers_now, 0U);
    }
};

/// A connection to a port, over a stream of any kind.
template <io::stream Stream>
class stream_subscriber {
 public:
    explicit stream_subscriber(Stream s) : stream(std::move(s)), input_(1U << 20U) {}

    io::task<bool> write(std::vector<std::byte> bytes) {
        const io::io_result written = co_await io::write_all(stream, std::span<const std::byte>(bytes));
        co_return written.ok();
    }

    static std::vector<std::byte> login(std::uint64_t sequence, const std::string& session = {}) {
        soup::login_request request;
        request.requested_session = session;
        request.requested_sequence = sequence;
        std::vector<std::byte> bytes(soup::login_request_bytes);
        EXPECT_TRUE(soup::encode(request, bytes));
        return bytes;
    }

    static std::vector<std::byte> packet(soup::packet_type type) {
        const auto header = soup::header(type, 0);
        return {header.begin(), header.end()};
    }

    /// The next packet, valid until the next call; nothing when the connection has ended.
    io::task<std::optional<soup::packet>> next() {
        while (true) {
            const auto found = soup::decode(std::span(input_).subspan(begin_, end_ - begin_), soup::sender::server);
            if (!found) {
                ADD_FAILURE() << "the venue sent an invalid packet: " << found.error().message();
                co_return std::nullopt;
            }
            if (*found) {
                begin_ += (*found)->size;
                co_return **found;
            }
            std::memmove(input_.data(), input_.data() + begin_, end_ - begin_);
            end_ -= begin_;
            begin_ = 0;
            const io::io_result read = co_await stream.read_some(std::span(input_).subspan(end_));
            end_ += read.bytes;
            if (read.error) co_return std::nullopt;
        }
    }

    /// The next packet that is not a heartbeat.
    io::task<std::optional<soup::packet>> next_change() {
        while (true) {
            const std::optional<soup::packet> packet = co_await next();
            if (!packet || packet->type != soup::packet_type::server_heartbeat) co_return packet;
        }
    }

    /// Logs in. Returns the number of the next message, or nothing when the login is rejected.
    io::task<std::optional<std::uint64_t>> log_in(std::uint64_t sequence, std::string session = {}) {
        if (!co_await write(login(sequence, session))) co_return std::nullopt;
        const std::optional<soup::packet> reply = co_await next();
        if (!reply || reply->type != soup::packet_type::login_accepted) co_return std::nullopt;
        const auto accepted = soup::decode_login_accepted(reply->payload);
        if (!accepted) co_return std::nullopt;
        next_sequence = accepted->next_sequence;
        co_return accepted->next_sequence;
    }

    /// Whether the login is rejected, with the code for what is not available, and the connection closed.
    io::task<bool> is_rejected(std::uint64_t sequence, std::string session = {}) {
        if (!co_await write(login(sequence, session))) co_return false;
        const std::optional<soup::packet> reply = co_await next();
        if (!reply || reply->type != soup::packet_type::login_rejected) co_return false;
        const auto code = soup::decode_login_rejected(reply->payload);
        const bool said = code && *code == soup::reject_code::session_not_available;
        co_return said && !co_await next();
    }

    /// Whether the connection ends without another packet.
    io::task<bool> is_cut() { co_return !co_await next_change(); }

    Stream stream;
    std::uint64_t next_sequence = 0;

 private:
    std::vector<std::byte> input_;
    std::size_t begin_ = 0;
    std::size_t end_ = 0;
};

/// A connection over TCP.
class raw_subscriber : public stream_subscriber<io::tcp_stream> {
 public:
    using stream_subscriber::stream_subscriber;

    static io::task<std::unique_ptr<raw_subscriber>> connect(io::endpoint where) {
        auto stream = co_await io::tcp_stream::connect(co_await io::this_context(), where);
        if (!stream) {
            ADD_FAILURE() << "connecting: " << stream.error().message();
            co_return nullptr;
        }
        co_return std::make_unique<raw_subscriber>(std::move(*stream));
    }
};

/// A follower that reads from connections.
class follower : public market_follower {
 public:
    using market_follower::market_follower;

    /// Reads a whole snapshot, up to the end of its session.
    template <io::stream Stream>
    io::task<bool> read_snapshot(stream_subscriber<Stream>* from) {
        while (true) {
            const std::optional<soup::packet> packet = co_await from->next();
            if (!packet) co_return false;
            if (packet->type == soup::packet_type::end_of_session) co_return begun&& ended;
            if (packet->type != soup::packet_type::sequenced_data || ended || !take(packet->payload, 0))
                co_return false;
        }
    }

    /// Reads the feed until message `last` has been applied.
    template <io::stream Stream>
    io::task<bool> follow(stream_subscriber<Stream>* from, std::uint64_t last) {
        while (from->next_sequence <= last) {
            const std::optional<soup::packet> packet = co_await from->next_change();
            if (!packet || packet->type != soup::packet_type::sequenced_data) co_return false;
            if (!take(packet->payload, from->next_sequence++)) co_return false;
        }
        co_return true;
    }
};

}  // namespace corro::market_data::testing
