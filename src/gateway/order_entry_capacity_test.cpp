// SPDX-License-Identifier: Apache-2.0
// Connections for which there is no room: what they are told, over every transport.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using testing::logon;
using testing::raw_client;
using testing::test_transport;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

class order_entry_capacity : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(, order_entry_capacity, ::testing::ValuesIn(testing::all_transports), testing::transport_name);

/// With plain sockets to the port for WebSockets.
class order_entry_capacity_http : public ::testing::Test {
 protected:
    void SetUp() override { testing::transport_under_test = test_transport::websocket; }
    void TearDown() override { testing::transport_under_test = test_transport::tcp; }
};

gateway_options room_for_strangers(std::uint32_t count) {
    gateway_options options;
    options.logon_timeout = 10min;  // longer than the test may take
    options.strangers_max = options.strangers_per_address_max = count;
    return options;
}

TEST_P(order_entry_capacity, tells_a_client_that_waits_for_its_logon_why_it_has_to_go) {
    test_venue venue(room_for_strangers(2));
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<client_pointer> all;
        for (int i = 0; i < 5; ++i) {
            all.push_back(co_await v->connect());
            CORRO_REQUIRE(all.back() != nullptr);
            CORRO_REQUIRE(co_await all.back()->expect<wire::challenge>());
        }
        for (std::size_t i = 0; i < 3; ++i) {
            EXPECT_TRUE(co_await all[i]->is_logged_out(wire::logout_reason::capacity)) << "client " << i;
        }
        all.clear();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        EXPECT_EQ(v->statistics().strangers_turned_out, 3U);
        EXPECT_EQ(v->statistics().protocol_errors, 0U);
    });
}

io::task<void> send(io::tcp_stream* to, std::string_view text) {
    static_cast<void>(co_await to->write_all(std::as_bytes(std::span(text))));
}

/// All that comes until the end of the connection, which has to be an orderly one.
io::task<std::string> read_to_end(io::tcp_stream* from) {
    std::string all;
    std::array<std::byte, 512> piece;
    while (true) {
        const io::io_result read = co_await from->read_some(piece);
        all.append(reinterpret_cast<const char*>(piece.data()), read.bytes);
        if (!read.error) continue;
        EXPECT_EQ(read.error, io::condition::end_of_stream) << read.error.message();
        co_return all;
    }
}

constexpr std::string_view upgrade_request =
    "GET / HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";

void expect_no_room(const std::string& response) {
    EXPECT_TRUE(response.starts_with("HTTP/1.1 503 ")) << response;
    EXPECT_NE(response.find("capacity"), std::string::npos) << response;
}

io::task<std::string> ask_for_websocket(test_venue* v) {
    auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
    if (!stream) co_return std::string();
    co_await send(&*stream, upgrade_request);
    std::string response = co_await read_to_end(&*stream);
    co_return response;
}

TEST_F(order_entry_capacity_http, answers_503_when_every_place_is_a_session) {
    gateway_options options = room_for_strangers(2);
    options.connections_max = 1;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        CORRO_REQUIRE(trader != nullptr);
        for (int i = 0; i < 3; ++i) {
            const std::string response = co_await ask_for_websocket(v);
            expect_no_room(response);
        }
        EXPECT_EQ(v->statistics().connections_refused, 3U);
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 1; }));
    });
}

TEST_F(order_entry_capacity_http, answers_503_to_a_request_that_comes_when_its_place_is_gone) {
    test_venue venue(room_for_strangers(1));
    venue.run([](test_venue* v) -> io::task<> {
        auto slow = co_await io::tcp_stream::connect(v->context, v->endpoint);
        CORRO_REQUIRE(slow);
        co_await send(&*slow, upgrade_request.substr(0, 40));
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 1; }));
        const client_pointer newcomer = co_await v->connect();
        CORRO_REQUIRE(newcomer != nullptr);
        EXPECT_EQ(v->statistics().strangers_turned_out, 1U);
        co_await send(&*slow, upgrade_request.substr(40));
        const std::string response = co_await read_to_end(&*slow);
        expect_no_room(response);
        CORRO_REQUIRE(co_await newcomer->log_on(logon(1)));
    });
}

// The others are closed at once: nobody can hold more of the venue by being sent away.
TEST_F(order_entry_capacity_http, only_so_many_are_told_at_the_same_time) {
    gateway_options options = room_for_strangers(3);
    options.farewells_max = 2;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<io::tcp_stream> silent;
        std::uint32_t most = 0;
        for (std::uint32_t i = 1; i <= 20; ++i) {
            auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
            CORRO_REQUIRE(stream);
            silent.push_back(std::move(*stream));
            CORRO_REQUIRE(
                co_await v->until([i](const test_venue& t) { return t.statistics().connections_accepted == i; }));
            most = std::max(most, v->statistics().connections_now);
        }
        EXPECT_LE(most, 3U + 2U + 3U) << "the last ones may just be leaving";
        EXPECT_EQ(v->statistics().strangers_turned_out, 17U);
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 3; }));
    });
}

}  // namespace
}  // namespace corro::gateway
