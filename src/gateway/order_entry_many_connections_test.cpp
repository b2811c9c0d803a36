// SPDX-License-Identifier: Apache-2.0
// What crowds of strangers cost while they are there, and what is left of that when they have gone.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/test_memory.hpp"
#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"
#include "io/tls/tls_engine.hpp"
#include "io/tls/tls_stream.hpp"

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

/// Over TLS.
class order_entry_crowds_tls : public ::testing::Test {
 protected:
    void SetUp() override { testing::transport_under_test = test_transport::tls; }
    void TearDown() override { testing::transport_under_test = test_transport::tcp; }
};

/// Over WebSockets.
class order_entry_crowds_websocket : public ::testing::Test {
 protected:
    void SetUp() override { testing::transport_under_test = test_transport::websocket; }
    void TearDown() override { testing::transport_under_test = test_transport::tcp; }
};

gateway_options patient() {
    gateway_options options;
    options.logon_timeout = 10min;  // longer than the test may take
    options.strangers_per_address_max = options.strangers_max;
    return options;
}

io::task<bool> are_there(test_venue* v, std::uint32_t count) {
    co_return co_await v->until([count](const test_venue& t) { return t.statistics().connections_now == count; });
}

/// Opens connections that send `words` and nothing more.
io::task<void> come(test_venue* v, std::uint32_t count, std::string words, std::vector<io::tcp_stream>* crowd) {
    crowd->reserve(count);
    const std::uint64_t steps_before = v->gateway.handshake_steps_count();
    for (std::uint32_t i = 0; i < count; ++i) {
        auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
        CORRO_REQUIRE(stream);
        const io::io_result written = co_await stream->write_all(std::as_bytes(std::span(words)));
        CORRO_REQUIRE(written.ok());
        crowd->push_back(std::move(*stream));
    }
    CORRO_REQUIRE(co_await are_there(v, count));
    if (testing::transport_under_test == test_transport::tls) {
        CORRO_REQUIRE(co_await v->until(
            [all = steps_before + count](const test_venue& t) { return t.gateway.handshake_steps_count() == all; }));
    } else if (!words.empty()) {
        CORRO_REQUIRE(!co_await io::sleep_for(20ms));
    }
}

/// The same, and they go again; what each of them costs while they are there.
io::task<void> come_and_go(test_venue* v, std::uint32_t count, std::string words, std::size_t* bytes_each) {
    std::vector<io::tcp_stream> crowd;
    const std::size_t before = base::heap_in_use().given_bytes;
    co_await come(v, count, std::move(words), &crowd);
    *bytes_each = (base::heap_in_use().given_bytes - before) / count;
    crowd.clear();
    CORRO_REQUIRE(co_await are_there(v, 0));
}

TEST(order_entry_crowds, N6_a_stranger_costs_a_few_kilobytes_and_a_crowd_leaves_nothing_behind) {
    test_venue venue(patient());
    venue.run([](test_venue* v) -> io::task<> {
        std::size_t bytes_each = 0;
        co_await come_and_go(v, 400, "", &bytes_each);  // from here on the pools are warm
        const base::heap_use before = base::heap_in_use();
        for (const std::uint32_t count : {100U, 200U, 400U}) {
            co_await come_and_go(v, count, "", &bytes_each);
            EXPECT_LT(bytes_each, 16U * 1024) << count << " strangers";
        }
        const base::heap_use after = base::heap_in_use();
        EXPECT_LE(after.given_bytes, before.given_bytes + before.given_bytes / 10);
        EXPECT_LE(after.taken_bytes, before.taken_bytes + before.taken_bytes / 10);
        EXPECT_EQ(v->gateway.spare_buffers_count(), 0U) << "buffers of sessions are for sessions";
    });
}

/// Crowds of `count` that say these words come one after the other. What the first leaves behind serves the others.
void expect_that_crowds_leave_nothing_behind(std::uint32_t count, const std::string& words, std::size_t bytes_max) {
    gateway_options options = patient();
    options.handshakes.steps_max = UINT32_MAX;
    test_venue venue(options);
    venue.run([&](test_venue* v) -> io::task<> {
        return [](test_venue* at, std::uint32_t size, std::string first_words, std::size_t most) -> io::task<> {
            std::size_t bytes_each = 0;
            co_await come_and_go(at, size, first_words, &bytes_each);
            EXPECT_LT(bytes_each, most);
            const base::heap_use before = base::heap_in_use();
            for (int crowd = 2; crowd <= 5; ++crowd) co_await come_and_go(at, size, first_words, &bytes_each);
            const base::heap_use after = base::heap_in_use();
            EXPECT_LT(bytes_each, most);
            // Under sanitizers, which have an allocator of their own, both are zero.
            EXPECT_LE(after.given_bytes, before.given_bytes + before.given_bytes / 10);
            EXPECT_LE(after.taken_bytes, before.taken_bytes + before.taken_bytes / 10);
        }(v, count, words, bytes_max);
    });
}

/// What a client of TLS says first.
std::string first_words_of_tls() {
    io::detail::tls_engine client(io::client_context(), "localhost");
    static_cast<void>(client.handshake());
    const std::span<const std::byte> hello = client.pending();
    return {reinterpret_cast<const char*>(hello.data()), hello.size()};
}

TEST_F(order_entry_crowds_tls, N6_crowds_of_unfinished_handshakes_leave_nothing_behind) {
    expect_that_crowds_leave_nothing_behind(200, first_words_of_tls(), 160U * 1024);
}

TEST_F(order_entry_crowds_websocket, N6_crowds_of_unfinished_requests_leave_nothing_behind) {
    expect_that_crowds_leave_nothing_behind(200, "GET / HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\n", 32U * 1024);
}

// The pages of what has been freed are the system's again: the memory of the process is measured, not the allocator's.
// Connections that stay lie among those that go, and one behind all of them.
TEST_F(order_entry_crowds_tls, N6_a_gateway_gives_the_memory_of_a_crowd_of_handshakes_back) {
#if defined(CORRO_SANITIZED)
    GTEST_SKIP() << "sanitizers have an allocator of their own";
#endif
    gateway_options options = patient();
    options.handshakes.steps_max = UINT32_MAX;
    options.crowd_look_interval = 5ms;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        constexpr std::uint32_t count = 300;
        constexpr std::uint32_t staying_count = 6;
        std::vector<io::tcp_stream> crowd;
        co_await come(v, count, first_words_of_tls(), &crowd);
        const std::size_t given_before = base::heap_in_use().given_bytes;
        const std::size_t resident_before = base::resident_bytes();
        for (std::uint32_t i = 0; i < count; ++i) {
            if ((i + 1) % (count / staying_count) != 0) crowd[i].close();
        }
        CORRO_REQUIRE(co_await are_there(v, staying_count));
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().crowds_left == 1; }));
        const std::size_t freed = given_before - base::heap_in_use().given_bytes;
        EXPECT_GT(freed, std::size_t{count} * 64 * 1024);
        // Buffers that no connection has touched were never resident, so less leaves the process than is freed.
        EXPECT_LT(base::resident_bytes() + freed / 8, resident_before) << freed << " bytes were freed";
    });
}

TEST(order_entry_crowds, uses_the_buffers_of_a_session_that_has_left_for_the_next) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        for (int round = 0; round < 3; ++round) {
            client_pointer one = co_await v->log_on(logon(1));
            client_pointer other = co_await v->log_on(logon(2));
            CORRO_REQUIRE(one != nullptr && other != nullptr);
            EXPECT_EQ(v->gateway.spare_buffers_count(), 0U);
            CORRO_REQUIRE(
                co_await is_done(one.get(), order(side::buy, 90, 1, 100 + static_cast<std::uint64_t>(round))));
            one.reset();
            other.reset();
            CORRO_REQUIRE(co_await are_there(v, 0));
            EXPECT_EQ(v->gateway.spare_buffers_count(), 2U);
        }
    });
}

/// Says a client's first words of TLS and nothing more: it waits for an answer that it will not take.
io::task<void> begin_handshake(test_venue* v) {
    auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
    if (!stream) co_return;
    static_cast<void>(
        co_await io::tls_stream<io::tcp_stream>::connect(std::move(*stream), io::client_context(), "localhost"));
}

/// Begins handshakes while a session trades. Returns the number of their computed steps.
io::task<void> trade_beside_handshakes(test_venue* v, std::uint32_t count, std::uint64_t* steps) {
    const client_pointer trader = co_await v->log_on(logon(1));
    CORRO_REQUIRE(trader != nullptr);
    io::task_scope crowd(v->context);
    for (std::uint32_t i = 0; i < count; ++i) crowd.spawn(begin_handshake(v));
    CORRO_REQUIRE(co_await are_there(v, count + 1));
    for (std::uint64_t i = 1; i <= 50; ++i) {
        CORRO_REQUIRE(co_await is_done(trader.get(), order(side::buy, 90, 1, i)));
    }
    *steps = v->gateway.handshake_steps_count();
    crowd.request_stop();
    co_await crowd.join();
}

TEST_F(order_entry_crowds_tls, N5_handshakes_get_no_more_steps_in_a_window_however_many_begin) {
    for (const std::uint32_t count : {20U, 40U, 80U}) {
        gateway_options options = patient();
        options.handshakes.steps_max = 10;
        options.handshakes.window = 1h;
        test_venue venue(options);
        std::uint64_t steps = 0;
        venue.run([&](test_venue* v) { return trade_beside_handshakes(v, count, &steps); });
        EXPECT_LE(steps, 10U) << count << " handshakes begun";
        EXPECT_GE(steps, 2U) << "the trader's own";
    }
}

TEST_F(order_entry_crowds_tls, N6_no_more_handshakes_are_under_way_than_may_be_and_the_oldest_goes_first) {
    gateway_options options = patient();
    options.handshakes_max = options.handshakes_per_address_max = 5;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        std::vector<io::tcp_stream> silent;
        for (int i = 0; i < 20; ++i) {
            auto stream = co_await io::tcp_stream::connect(v->context, v->endpoint);
            CORRO_REQUIRE(stream);
            silent.push_back(std::move(*stream));
        }
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_accepted == 20; }));
        CORRO_REQUIRE(co_await are_there(v, 5));
        std::array<std::byte, 1> nothing;
        const io::io_result first = co_await silent.front().read_some(nothing);
        EXPECT_TRUE(first.error);
        const client_pointer newcomer = co_await v->log_on(logon(1));
        EXPECT_NE(newcomer, nullptr);
        silent.clear();
    });
}

}  // namespace
}  // namespace corro::gateway
