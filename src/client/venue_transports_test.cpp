// SPDX-License-Identifier: Apache-2.0
// Sessions of a client over every transport, against a gateway with a facility: what works over TCP works over each.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "client/venue_endpoint.hpp"
#include "domain/private_event.hpp"
#include "gateway/transports_fixture.hpp"
#include "gateway/venue_fixture.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/net/transport_stream.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"
#include "io/testing/tested_platform.hpp"
#include "io/testing/tls_fixture.hpp"
#include "io/tls/tls_errors.hpp"

namespace corro::client {
namespace {

using namespace std::chrono_literals;
using gateway::testing::order;
using gateway::testing::test_transport;
using gateway::testing::test_venue;
using session_pointer = std::unique_ptr<order_session>;
using logged_on = std::expected<session_pointer, std::error_code>;

/// A suite whose tests run over every transport, with streams that are connected already for those in memory.
class client_session : public gateway::testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, client_session, ::testing::ValuesIn(gateway::testing::all_transports),
                         gateway::testing::transport_name);

/// @pre Not for connections in memory.
venue_endpoint endpoint_of(const test_venue& venue) {
    switch (gateway::testing::transport_under_test) {
        case test_transport::unix_socket: return venue.unix_address();
        case test_transport::shared_memory: return venue_endpoint::shared_memory(venue.unix_address());
        case test_transport::tls: return venue_endpoint::tls(venue.endpoint, io::client_context(), "localhost");
        case test_transport::websocket: return venue_endpoint::websocket(venue.endpoint);
        case test_transport::secure_websocket:
            return venue_endpoint::secure_websocket(venue.endpoint, io::client_context(), "localhost");
        default: return venue.endpoint;
    }
}

credentials who(std::uint32_t account, std::uint32_t session_number = 1) {
    credentials c;
    c.account = domain::account_id{account};
    c.session_number = session_number;
    c.key = gateway::testing::key_of(account);
    c.heartbeat = 60s;
    c.cancel_on_disconnect = false;
    return c;
}

io::task<io::transport_stream> connected_stream(test_venue* venue) {
    const auto raw = co_await venue->connect();
    if (raw == nullptr) co_return io::transport_stream(io::any_stream());
    co_return io::transport_stream(std::move(raw->stream));
}

io::task<logged_on> log_on(test_venue* venue, credentials as) {
    if (gateway::testing::transport_under_test != test_transport::memory) {
        co_return co_await order_session::log_on(endpoint_of(*venue), as);
    }
    io::transport_stream stream = co_await connected_stream(venue);
    co_return co_await order_session::log_on(std::move(stream), as);
}

io::task<std::error_code> reconnect_once(test_venue* venue, order_session* session) {
    if (gateway::testing::transport_under_test != test_transport::memory) {
        co_return co_await session->reconnect(endpoint_of(*venue));
    }
    io::transport_stream stream = co_await connected_stream(venue);
    co_return co_await session->reconnect(std::move(stream));
}

/// Reconnects as soon as the venue has noticed the end of the old connection.
io::task<std::error_code> reconnect(test_venue* venue, order_session* session) {
    while (true) {
        const std::error_code error = co_await reconnect_once(venue, session);
        if (error != logged_out(wire::logout_reason::already_logged_on)) co_return error;
        const std::error_code stopped = co_await io::sleep_for(1ms);
        if (stopped) co_return stopped;
    }
}

/// Takes the messages that have arrived. False if one is not allowed.
bool take_answers(order_session* session, trader* own) {
    while (true) {
        const auto answer = session->poll();
        if (!answer || (*answer && ((*answer)->reject || (*answer)->gap))) return false;
        if (!*answer) return true;
        static_cast<void>(own->on_event((*answer)->event));
    }
}

io::task<bool> finish(order_session* session, trader* own) {
    while (own->outstanding_count() != 0) {
        const std::error_code written = co_await session->flush();
        if (written) co_return false;
        const std::error_code read = co_await session->fill();
        if (read || !take_answers(session, own)) co_return false;
    }
    co_return true;
}

trader trader_of(const order_session& session, std::uint64_t seed) {
    std::vector<domain::instrument> instruments;
    session.instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    return trader(trader_options(), instruments, {domain::price_ticks{5'000}, domain::price_ticks{5'000}}, 1, seed);
}

/// Sends one order and waits for the end of its answer.
io::task<std::vector<domain::event>> ask(order_session* session, domain::command request) {
    std::vector<domain::event> events;
    const std::uint32_t number = session->send(request);
    if (number == 0) co_return events;
    while (events.empty() || !domain::completes_request(events.back())) {
        const auto next = co_await session->next();
        if (!next || next->reject) co_return std::vector<domain::event>();
        events.push_back(next->event);
    }
    co_return events;
}

TEST_P(client_session, trades_and_logs_out) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const logged_on maker = co_await log_on(v, who(1));
        const logged_on taker = co_await log_on(v, who(2));
        CORRO_REQUIRE(maker && taker);
        EXPECT_EQ((*maker)->instruments().count(), 2U);
        const auto entered = co_await ask(maker->get(), order(domain::side::buy, 100, 3, 1));
        CORRO_REQUIRE(entered.size() == 1);
        EXPECT_EQ(entered[0].kind, domain::event_kind::order_entered);
        const auto sold = co_await ask(taker->get(), order(domain::side::sell, 100, 3, 1));
        CORRO_REQUIRE(!sold.empty());
        const auto filled = co_await (*maker)->next();
        CORRO_REQUIRE(filled);
        EXPECT_EQ(filled->event.kind, domain::event_kind::order_executed);
        EXPECT_FALSE(co_await (*maker)->log_out());
        EXPECT_FALSE(co_await (*taker)->log_out());
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
    });
}

TEST_P(client_session, continues_over_new_connections_however_often_they_break) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        base::prng random(base::test_seed());
        const logged_on opened = co_await log_on(v, who(1));
        CORRO_REQUIRE(opened);
        order_session* const session = opened->get();
        trader own = trader_of(*session, base::test_seed());
        for (int round = 0; round < 12; ++round) {
            // Some requests are sent and some stay in the client's buffer; some answers are read and some are not.
            for (std::uint64_t i = random.below(30); i > 0; --i) {
                CORRO_REQUIRE(session->send(own.next_request()) != 0);
                if (random.below(8) == 0) {
                    CORRO_REQUIRE(!co_await session->flush());
                }
            }
            if (random.below(3) == 0) {
                CORRO_REQUIRE(co_await finish(session, &own));
            }
            // What has arrived and is not polled yet is lost with the connection, and comes again.
            if (own.outstanding_count() != 0 && random.below(2) == 0) {
                CORRO_REQUIRE(!co_await session->flush());
                CORRO_REQUIRE(!co_await session->fill());
            }
            session->abandon();
            CORRO_REQUIRE(!co_await reconnect(v, session));
            CORRO_REQUIRE(session->resend_not_accepted());
        }
        CORRO_REQUIRE(co_await finish(session, &own));
        EXPECT_EQ(session->next_request() - 1, own.statistics().requests);
        EXPECT_EQ(own.statistics().answered, own.statistics().requests);
        EXPECT_EQ(v->statistics().requests, own.statistics().requests) << "none had a second effect";
        EXPECT_EQ(v->statistics().session_rejects, 0U);
        EXPECT_FALSE(co_await session->log_out());
    });
}

// More than a WebSocket message may hold, and more than a TLS record.
TEST_P(client_session, sends_a_full_output_buffer) {
    test_venue venue(gateway::testing::any_number_of_logons(), 4096);
    venue.run([](test_venue* v) -> io::task<> {
        const logged_on opened = co_await log_on(v, who(1));
        CORRO_REQUIRE(opened);
        std::uint64_t sent = 0;
        while ((*opened)->send(order(domain::side::buy, 100, 1, sent + 1)) != 0) ++sent;
        EXPECT_GT(sent * 64, gateway::websocket_message_bytes_max);
        std::uint64_t answered = 0;
        while (answered < sent) {
            const auto next = co_await (*opened)->next();
            CORRO_REQUIRE(next && !next->reject);
            EXPECT_EQ(next->event.kind, domain::event_kind::order_entered);
            ++answered;
        }
        EXPECT_EQ(v->statistics().requests, sent);
        EXPECT_FALSE(co_await (*opened)->log_out());
    });
}

/// Over every transport where time is virtual, and over one where it passes.
std::vector<test_transport> transports_of_timed_tests() {
    if (!io::time_is_virtual()) return {test_transport::tcp};
    return {gateway::testing::all_transports.begin(), gateway::testing::all_transports.end()};
}

class client_session_heartbeats : public gateway::testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, client_session_heartbeats, ::testing::ValuesIn(transports_of_timed_tests()),
                         gateway::testing::transport_name);

TEST_P(client_session_heartbeats, keep_a_silent_session_on) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        credentials as = who(1);
        as.heartbeat = 100ms;
        const logged_on opened = co_await log_on(v, as);
        CORRO_REQUIRE(opened);
        order_session* const session = opened->get();
        {
            io::task_scope beside(v->context);
            beside.spawn(session->keep_alive());
            const auto silent = co_await io::with_timeout(600ms, session->next());
            EXPECT_FALSE(silent) << "only heartbeats came";
            beside.request_stop();
            co_await beside.join();
        }
        EXPECT_EQ(v->statistics().idle_cut, 0U);
        EXPECT_EQ((co_await ask(session, order(domain::side::buy, 100, 1, 1))).size(), 1U);
        // Without them it ends.
        const auto ended = co_await session->next();
        CORRO_REQUIRE(!ended);
        EXPECT_EQ(ended.error(), logged_out(wire::logout_reason::idle_timeout));
        EXPECT_EQ(v->statistics().idle_cut, 1U);
    });
}

/// Takes connections and never says a word, like a venue that hangs.
class silent_venue {
 public:
    explicit silent_venue(io::context& on)
        : acceptor_(*io::tcp_acceptor::open(on, io::endpoint::loopback(0))), endpoint(*acceptor_.local_endpoint()) {}

    io::task<bool> is_left() {
        auto stream = co_await acceptor_.accept();
        if (!stream) co_return false;
        std::array<std::byte, 64> bytes{};
        const io::io_result read = co_await stream->read_some(bytes);
        co_return read.error == io::condition::end_of_stream;
    }

 private:
    io::tcp_acceptor acceptor_;

 public:
    io::endpoint endpoint;
};

TEST(client_logon, ends_in_time_at_a_venue_that_hangs_and_leaves_the_connection) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        silent_venue silent(v->context);
        credentials as = who(1);
        EXPECT_EQ(as.logon_timeout, 15s) << "by default";
        if (!io::time_is_virtual()) as.logon_timeout = 50ms;
        const io::steady_time begin = v->context.now();
        const logged_on refused = co_await order_session::log_on(silent.endpoint, as);
        CORRO_REQUIRE(!refused);
        EXPECT_EQ(refused.error(), session_errc::logon_timed_out);
        EXPECT_TRUE(may_come_back(refused.error()));
        EXPECT_GE(v->context.now() - begin, as.logon_timeout);
        if (io::time_is_virtual()) {
            EXPECT_LT(v->context.now() - begin, as.logon_timeout + 100ms);
        }
        EXPECT_TRUE(co_await silent.is_left());
        // The same for a connection that was made already, and for one after another.
        as.logon_timeout = 50ms;
        auto stream = co_await io::tcp_stream::connect(v->context, silent.endpoint);
        CORRO_REQUIRE(stream);
        const logged_on over_stream = co_await order_session::log_on(io::transport_stream(std::move(*stream)), as);
        CORRO_REQUIRE(!over_stream);
        EXPECT_EQ(over_stream.error(), session_errc::logon_timed_out);
        EXPECT_TRUE(co_await silent.is_left());
        const logged_on opened = co_await order_session::log_on(v->endpoint, as);
        CORRO_REQUIRE(opened);
        const std::error_code late = co_await (*opened)->reconnect(silent.endpoint);
        EXPECT_EQ(late, session_errc::logon_timed_out);
        EXPECT_TRUE(co_await silent.is_left());
        // Then it comes back where it was.
        CORRO_REQUIRE(!co_await reconnect(v, opened->get()));
        EXPECT_EQ((co_await ask(opened->get(), order(domain::side::buy, 100, 1, 1))).size(), 1U);
        EXPECT_FALSE(co_await (*opened)->log_out());
    });
}

TEST(client_logon, joins_no_feed_that_is_silent) {
    if (!io::time_is_virtual()) GTEST_SKIP() << "waits for 15 seconds; where time is virtual it is executed";
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        silent_venue silent(v->context);
        const io::steady_time begin = v->context.now();
        const auto joined = co_await feed_session::join(silent.endpoint, silent.endpoint);
        CORRO_REQUIRE(!joined);
        EXPECT_EQ(joined.error(), session_errc::logon_timed_out);
        EXPECT_GE(v->context.now() - begin, feed_session::silence_max);
        EXPECT_LT(v->context.now() - begin, feed_session::silence_max + 100ms);
    });
}

TEST(client_logon, without_a_limit_waits_until_it_is_stopped) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        silent_venue silent(v->context);
        credentials as = who(1);
        as.logon_timeout = 0ms;
        const auto patience = io::time_is_virtual() ? logon_timeout + 5s : 100ms;  // less than a test may take
        const auto stopped = co_await io::with_timeout(patience, order_session::log_on(silent.endpoint, as));
        CORRO_REQUIRE(!stopped);
        EXPECT_EQ(stopped.error(), io::condition::timed_out);
    });
}

TEST_P(client_session, is_told_why_it_is_refused) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        credentials stranger = who(1);
        stranger.key.front() ^= std::byte{1};
        const logged_on refused = co_await log_on(v, stranger);
        CORRO_REQUIRE(!refused);
        EXPECT_EQ(refused.error(), logged_out(wire::logout_reason::authentication_failed));
        EXPECT_FALSE(may_come_back(refused.error()));
    });
}

TEST_P(client_session, may_come_back_after_the_venue_closes_the_connection) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const logged_on opened = co_await log_on(v, who(1));
        CORRO_REQUIRE(opened);
        v->gateway.close();
        const auto ended = co_await (*opened)->next();
        CORRO_REQUIRE(!ended);
        EXPECT_EQ(ended.error(), logged_out(wire::logout_reason::shutting_down));
        const std::error_code behind = co_await (*opened)->fill();
        EXPECT_TRUE(may_come_back(behind)) << behind.message();
    });
}

// --- One session, several transports
// ------------------------------------------------------------------------------------

TEST(client_transports, a_session_moves_from_one_transport_to_another) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const logged_on opened = co_await log_on(v, who(1));
        CORRO_REQUIRE(opened);
        EXPECT_EQ((co_await ask(opened->get(), order(domain::side::buy, 100, 1, 1))).size(), 1U);
        (*opened)->abandon();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
        auto [near, far] = gateway::testing::memory_stream::pair();
        io::task_scope serving(v->context);
        serving.spawn(v->gateway.serve_stream(io::any_stream(std::move(far))));
        const std::error_code error =
            co_await (*opened)->reconnect(io::transport_stream(io::any_stream(std::move(near))));
        EXPECT_FALSE(error) << error.message();
        EXPECT_EQ((*opened)->next_request(), 2U);
        EXPECT_EQ((co_await ask(opened->get(), order(domain::side::buy, 100, 1, 2))).size(), 1U);
        EXPECT_FALSE(co_await (*opened)->log_out());
        co_await serving.join();
    });
}

// --- TLS
// ----------------------------------------------------------------------------------------------------------------

class over_tls : public ::testing::TestWithParam<test_transport> {
 protected:
    void SetUp() override { gateway::testing::transport_under_test = GetParam(); }
    void TearDown() override { gateway::testing::transport_under_test = test_transport::tcp; }

    static venue_endpoint endpoint_with(const test_venue& venue, io::tls_context settings, std::string name) {
        if (GetParam() == test_transport::tls) {
            return venue_endpoint::tls(venue.endpoint, std::move(settings), std::move(name));
        }
        return venue_endpoint::secure_websocket(venue.endpoint, std::move(settings), std::move(name));
    }

    static std::error_code refusal(io::tls_context settings, std::string name) {
        std::error_code error;
        test_venue venue;
        venue.run([&](test_venue* v) { return try_to_log_on(v, endpoint_with(*v, settings, name), &error); });
        EXPECT_EQ(venue.statistics().sessions_now, 0U);
        return error;
    }

 private:
    static io::task<> try_to_log_on(test_venue*, venue_endpoint at, std::error_code* error) {
        const logged_on refused = co_await order_session::log_on(at, who(1));
        if (!refused) *error = refused.error();
    }
};
INSTANTIATE_TEST_SUITE_P(over, over_tls, ::testing::Values(test_transport::tls, test_transport::secure_websocket),
                         gateway::testing::transport_name);

TEST_P(over_tls, a_venue_with_a_wrong_name_is_refused) {
    EXPECT_EQ(refusal(io::client_context(), "venue.example.com"), io::tls_errc::host_name_mismatch);
}

TEST_P(over_tls, a_venue_whose_issuer_is_not_trusted_is_refused) {
    io::tls_client_options nobody;
    nobody.system_trust = false;
    const std::error_code error = refusal(io::client_context(nobody), "localhost");
    EXPECT_TRUE(error == io::tls_errc::certificate_untrusted || error == io::tls_errc::certificate_self_signed)
        << error.message();
    EXPECT_FALSE(may_come_back(error));
}

TEST_P(over_tls, the_numeric_address_is_a_name_too) {
    EXPECT_FALSE(refusal(io::client_context(), "127.0.0.1"));
}

TEST(venue_endpoint, is_written_as_people_write_it) {
    const io::endpoint at = io::endpoint::loopback(7001);
    const io::tls_context settings = io::client_context();
    EXPECT_EQ(venue_endpoint(at).to_string(), "127.0.0.1:7001");
    EXPECT_EQ(venue_endpoint(*io::unix_endpoint::parse("/run/corro")).to_string(), "unix:/run/corro");
    for (const char* text :
         {"127.0.0.1:7001", "[::1]:7001", "unix:/run/corro", "unix:@corro", "shm:/run/corro", "shm:@corro"}) {
        const auto read = venue_endpoint::parse(text);
        ASSERT_TRUE(read) << text;
        EXPECT_EQ(read->to_string(), text);
    }
    for (const char* text : {"", "shm:", "unix:", "shm", "localhost:7001", "tcp:127.0.0.1:7001"}) {
        EXPECT_FALSE(venue_endpoint::parse(text)) << text;
    }
    EXPECT_EQ(venue_endpoint::tls(at, settings, "venue").to_string(), "tls://127.0.0.1:7001");
    EXPECT_EQ(venue_endpoint::websocket(at).to_string(), "ws://127.0.0.1:7001/");
    EXPECT_EQ(venue_endpoint::secure_websocket(at, settings, "venue", "/orders").to_string(),
              "wss://127.0.0.1:7001/orders");
}

}  // namespace
}  // namespace corro::client
