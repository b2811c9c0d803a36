// SPDX-License-Identifier: Apache-2.0
// Connections that never become a session: silent, slow, talking nonsense, or stuck in the greeting of their transport.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"
#include "io/testing/tested_platform.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::side;
using testing::is_done;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_transport;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

/// The transports that an unauthenticated connection reaches by TCP. Where time passes, one of them: the tests wait for
/// time limits. A world in memory has virtual time.
std::vector<test_transport> reached_by_tcp() {
    if (!io::time_is_virtual()) return {test_transport::tcp};
    return {test_transport::tcp, test_transport::tls, test_transport::websocket, test_transport::secure_websocket};
}

class order_entry_strangers : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, order_entry_strangers, ::testing::ValuesIn(reached_by_tcp()), testing::transport_name);

constexpr std::chrono::milliseconds patience{300};

gateway_options impatient() {
    gateway_options options;
    options.logon_timeout = patience;
    return options;
}

/// A machine may be as late as it likes; virtual time is exact.
void expect_no_later(const test_venue& v, io::steady_time due) {
    if (io::time_is_virtual()) {
        EXPECT_LE(v.context.now(), due);
    }
}

/// Opens a plain connection to whatever listens there and says so much of `text`, a byte at a time.
io::task<void> drip(test_venue* v, std::string_view text, std::chrono::milliseconds between) {
    auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
    if (!stream) co_return;
    for (const char& letter : text) {
        const io::io_result written = co_await stream->write_some(std::as_bytes(std::span(&letter, 1)));
        if (written.error) co_return;
        const std::error_code stopped = co_await io::sleep_for(between);
        if (stopped) co_return;
    }
    std::array<std::byte, 1'024> rest;
    while (true) {
        const io::io_result read = co_await stream->read_some(rest);
        if (read.error) co_return;
    }
}

TEST_P(order_entry_strangers, N5_slow_and_silent_strangers_do_not_disturb_and_are_sent_away) {
    test_venue venue(impatient());
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        CORRO_REQUIRE(trader != nullptr);
        io::task_scope strangers(v->context);
        const io::steady_time begin = v->context.now();
        for (int i = 0; i < 40; ++i) {
            strangers.spawn(drip(v, "", 1ms));
            strangers.spawn(drip(v, "GET / HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\n", 100ms));
            strangers.spawn(drip(v, "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03 a beginning of a handshake", 100ms));
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now > 100; }));
        for (std::uint64_t i = 1; i <= 100; ++i) {
            CORRO_REQUIRE(co_await is_done(trader.get(), order(side::buy, 90, 1, i)));
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 1; }));
        expect_no_later(*v, begin + patience + farewell_timeout + 50ms);
        CORRO_REQUIRE(co_await is_done(trader.get(), order(side::buy, 90, 1, 1'000)));
        strangers.request_stop();
        co_await strangers.join();
    });
}

TEST_P(order_entry_strangers, N5_of_more_strangers_than_there_is_room_for_the_oldest_go_first) {
    gateway_options options;
    options.strangers_max = 10;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        CORRO_REQUIRE(trader != nullptr);
        io::task_scope strangers(v->context);
        for (int i = 0; i < 30; ++i) strangers.spawn(drip(v, "", 1ms));
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().strangers_turned_out == 22; }));
        // Their address has proven a key, and other addresses keep a fifth of the places.
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 9; }));
        EXPECT_EQ(v->statistics().connections_refused, 0U);
        CORRO_REQUIRE(co_await is_done(trader.get(), order(side::buy, 90, 1, 1)));
        const client_pointer newcomer = co_await v->log_on(logon(1, 2));
        EXPECT_NE(newcomer, nullptr) << "who has a key finds a place among them";
        CORRO_REQUIRE(newcomer != nullptr);
        strangers.request_stop();
        co_await strangers.join();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 2; }));
        const client_pointer late = co_await v->log_on(logon(2));
        EXPECT_NE(late, nullptr) << "there is room again";
    });
}

class order_entry_strangers_http : public ::testing::Test {
 protected:
    void SetUp() override { testing::transport_under_test = test_transport::websocket; }
    void TearDown() override { testing::transport_under_test = test_transport::tcp; }
};

TEST_F(order_entry_strangers_http, N5_requests_that_open_no_websocket_do_not_keep_a_connection) {
    test_venue venue(impatient());
    venue.run([](test_venue* v) -> io::task<> {
        auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
        CORRO_REQUIRE(stream);
        const io::steady_time begin = v->context.now();
        const std::string_view request = "GET / HTTP/1.1\r\nHost: venue\r\n\r\n";
        std::array<std::byte, 4'096> answer;
        int answers_count = 0;
        while (true) {  // until the venue closes
            const io::io_result written = co_await stream->write_all(std::as_bytes(std::span(request)));
            if (written.error) break;
            const io::io_result read = co_await stream->read_some(answer);
            if (read.error) break;
            ++answers_count;
            CORRO_REQUIRE(!co_await io::sleep_for(1ms));
        }
        EXPECT_GT(answers_count, 0);
        expect_no_later(*v, begin + patience + farewell_timeout + 50ms);
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
    });
}

TEST_P(order_entry_strangers, a_venue_that_closes_does_not_wait_for_a_greeting) {
    gateway_options options;
    options.logon_timeout = 10min;  // longer than the test may take
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        io::task_scope strangers(v->context);
        for (int i = 0; i < 5; ++i) strangers.spawn(drip(v, "", 1ms));
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 5; }));
        v->gateway.close();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        strangers.request_stop();
        co_await strangers.join();
    });
}

}  // namespace
}  // namespace corro::gateway
