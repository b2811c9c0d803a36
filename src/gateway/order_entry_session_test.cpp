// SPDX-License-Identifier: Apache-2.0
// An open session: heartbeats, sequence numbers, leaving, and what a broken connection does to its orders.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::event_kind;
using domain::side;
using testing::cancel;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

class order_entry_session : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, order_entry_session, ::testing::ValuesIn(testing::all_transports),
                         testing::transport_name);

/// Enters a passive order and waits for its answer.
io::task<bool> enter(raw_client* c, std::uint64_t client_order) {
    c->queue_request(order(side::buy, 100, 1, client_order));
    const bool flushed = co_await c->flush();
    if (!flushed) co_return false;
    const std::vector<domain::event> events = co_await c->answer();
    co_return events.size() == 1 && events[0].kind == event_kind::order_entered;
}

io::task<bool> have_left(test_venue* v, std::uint32_t sessions_left) {
    co_return co_await v->until([=](const test_venue& t) { return t.statistics().sessions_now == sessions_left; });
}

io::task<bool> commands_have_come_to(test_venue* v, std::uint64_t count) {
    co_return co_await v->until([=](const test_venue& t) { return t.commands_count() == count; });
}

// --- Heartbeats ------------------------------------------------------------------------------------------------------

TEST_P(order_entry_session, echoes_the_id_of_a_test) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        for (const std::uint64_t id : {std::uint64_t{1}, std::uint64_t{0xfedc'ba98'7654'3210}}) {
            wire::heartbeat test;
            test.test_id = id;
            c->queue(test);
            CORRO_REQUIRE(co_await c->flush());
            const auto echo = co_await c->expect<wire::heartbeat>();
            CORRO_REQUIRE(echo);
            EXPECT_EQ(echo->echo_id, id);
            EXPECT_EQ(echo->test_id, 0U);
        }
    });
}

// The times of heartbeats are tested in order_entry_heartbeat_test.cpp, where time is virtual.
TEST(order_entry_session_on_the_kernel, beats_and_is_ended_when_its_client_is_silent) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.heartbeat_ms = 100;
        const client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await c->expect<wire::heartbeat>());
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::idle_timeout));
        EXPECT_EQ(v->statistics().idle_cut, 1U);
    });
}

// --- Sequence numbers ------------------------------------------------------------------------------------------------

TEST_P(order_entry_session, refuses_a_repeated_request_without_a_second_effect) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        c->queue_request(order(side::buy, 100, 1, 1));
        const std::vector<std::byte> first = c->queued();
        c->queue_request(order(side::buy, 100, 1, 2));
        const std::vector<std::byte> both = c->queued();
        c->queue_bytes(both);
        c->queue_bytes(first);
        CORRO_REQUIRE(co_await c->flush());
        for (const std::uint64_t refused : {1U, 2U, 1U}) {
            const auto reject = co_await c->expect<wire::reject>();
            CORRO_REQUIRE(reject);
            EXPECT_EQ(reject->session_reject_reason, wire::session_reject_reason::sequence_repeated);
            EXPECT_EQ(reject->refused_sequence.value, refused);
            EXPECT_EQ(reject->refused_template, static_cast<std::uint16_t>(wire::template_id::enter_order));
        }
        EXPECT_EQ((co_await c->answer()).size(), 1U);
        EXPECT_EQ((co_await c->answer()).size(), 1U);
        CORRO_REQUIRE(co_await enter(c.get(), 3));
        EXPECT_EQ(v->commands_count(), 3U);
        EXPECT_EQ(v->open_orders_count(), 3U);
    });
}

TEST_P(order_entry_session, ends_at_a_gap_in_the_requests) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await enter(c.get(), 1));
        ++c->next_request;
        c->queue_request(order(side::buy, 100, 1, 2));
        c->queue_request(order(side::buy, 100, 1, 3));
        CORRO_REQUIRE(co_await c->flush());
        const auto reject = co_await c->expect<wire::reject>();
        CORRO_REQUIRE(reject);
        EXPECT_EQ(reject->session_reject_reason, wire::session_reject_reason::sequence_gap);
        EXPECT_EQ(reject->refused_sequence.value, 3U);
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::sequence_gap));
        CORRO_REQUIRE(co_await have_left(v, 0));
        EXPECT_EQ(v->commands_count(), 1U) << "neither had an effect";
        const client_pointer again = co_await v->log_on(logon(1));
        CORRO_REQUIRE(again != nullptr);
        EXPECT_EQ(again->welcome.next_request.value, 2U) << "the one that was lost is still awaited";
    });
}

TEST_P(order_entry_session, numbers_go_on_after_a_reconnect_in_both_directions) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        for (std::uint64_t connection = 0; connection < 3; ++connection) {
            const client_pointer c = co_await v->log_on(logon(1));
            CORRO_REQUIRE(c != nullptr);
            EXPECT_EQ(c->welcome.next_request.value, 1 + 2 * connection);
            EXPECT_EQ(c->welcome.next_sequence.value, 1 + 2 * connection);
            CORRO_REQUIRE(co_await enter(c.get(), 10 * connection + 1));
            CORRO_REQUIRE(co_await enter(c.get(), 10 * connection + 2));
            c->stream.close();
            CORRO_REQUIRE(co_await have_left(v, 0));
        }
        // Answers that nobody was there to read count as well: a gap tells that there were some.
        const client_pointer maker = co_await v->log_on(logon(1));
        CORRO_REQUIRE(maker != nullptr);
        maker->stream.close();
        CORRO_REQUIRE(co_await have_left(v, 0));
        const client_pointer taker = co_await v->log_on(logon(2));
        CORRO_REQUIRE(taker != nullptr);
        taker->queue_request(order(side::sell, 100, 1, 1));
        CORRO_REQUIRE(co_await taker->flush());
        CORRO_REQUIRE(!(co_await taker->answer()).empty());
        const client_pointer again = co_await v->log_on(logon(1));
        CORRO_REQUIRE(again != nullptr);
        EXPECT_EQ(again->welcome.next_sequence.value, 9U) << "the fill and its record went past";
        EXPECT_EQ(v->statistics().answers_undelivered, 2U);
    });
}

TEST_P(order_entry_session, counts_what_it_refuses_as_dealt_with) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        // A message that exists, but not from a client: numbered, so it takes its number.
        c->queue(wire::challenge{}, c->next_request++);
        CORRO_REQUIRE(co_await c->flush());
        const auto reject = co_await c->expect<wire::reject>();
        CORRO_REQUIRE(reject);
        EXPECT_EQ(reject->session_reject_reason, wire::session_reject_reason::unexpected_message);
        EXPECT_EQ(reject->refused_sequence.value, 1U);
        CORRO_REQUIRE(co_await enter(c.get(), 1));
        // A request without a number is refused and has no effect.
        c->queue_request(order(side::buy, 100, 1, 2));
        --c->next_request;
        c->queued()[15] = std::byte{0};
        CORRO_REQUIRE(co_await c->flush());
        const auto unnumbered = co_await c->expect<wire::reject>();
        CORRO_REQUIRE(unnumbered);
        EXPECT_EQ(unnumbered->session_reject_reason, wire::session_reject_reason::unexpected_message);
        CORRO_REQUIRE(co_await enter(c.get(), 3));
        EXPECT_EQ(v->commands_count(), 2U);
    });
}

// --- Leaving ---------------------------------------------------------------------------------------------------------

TEST_P(order_entry_session, acknowledges_a_logout_after_the_answers_to_everything_before_it) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        const client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        for (std::uint64_t i = 1; i <= 300; ++i) c->queue_request(order(side::buy, 100, 1, i));
        c->queue(wire::logout{});
        c->queue_request(order(side::buy, 100, 1, 301));  // too late: it is not read any more
        CORRO_REQUIRE(co_await c->flush());
        for (std::uint64_t i = 1; i <= 300; ++i) {
            const auto events = co_await c->answer();
            CORRO_REQUIRE(events.size() == 1);
            EXPECT_EQ(events[0].order.client_order.value, i);
        }
        CORRO_REQUIRE(co_await c->expect<wire::logout_ack>());
        EXPECT_TRUE(co_await c->is_closed());
        CORRO_REQUIRE(co_await have_left(v, 0));
        EXPECT_EQ(v->commands_count(), 300U);
        EXPECT_EQ(v->open_orders_count(), 300U) << "a session that logs out keeps its orders";
        EXPECT_EQ(v->statistics().cancels_on_disconnect, 0U);
        const client_pointer again = co_await v->log_on(logon(1));
        CORRO_REQUIRE(again != nullptr);
        EXPECT_EQ(again->welcome.next_request.value, 301U);
        EXPECT_EQ(again->welcome.next_sequence.value, 301U) << "no answer was lost";
    });
}

TEST_P(order_entry_session, says_goodbye_to_everybody_when_the_venue_closes) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer trader = co_await v->log_on(logon(1));
        const client_pointer unauthenticated_connection = co_await v->connect();
        CORRO_REQUIRE(trader != nullptr && unauthenticated_connection != nullptr);
        CORRO_REQUIRE(co_await unauthenticated_connection->expect<wire::challenge>());
        CORRO_REQUIRE(co_await enter(trader.get(), 1));
        v->gateway.close();
        EXPECT_TRUE(co_await trader->is_logged_out(wire::logout_reason::shutting_down));
        EXPECT_TRUE(co_await unauthenticated_connection->is_logged_out(wire::logout_reason::shutting_down));
        if (testing::transport_under_test == testing::test_transport::tcp) {
            const auto refused = co_await io::tcp_stream::connect(v->context, v->endpoint);
            EXPECT_FALSE(refused) << "nobody listens any more";
        }
    });
}

// --- Cancel on disconnect --------------------------------------------------------------------------------------------

TEST_P(order_entry_session, cancels_the_orders_of_a_broken_connection_once_and_only_those) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        const client_pointer c = co_await v->log_on(who);
        const client_pointer sister = co_await v->log_on(logon(1, 2));
        const client_pointer other = co_await v->log_on(logon(2));
        CORRO_REQUIRE(c != nullptr && sister != nullptr && other != nullptr);
        for (std::uint64_t i = 1; i <= 5; ++i) CORRO_REQUIRE(co_await enter(c.get(), i));
        CORRO_REQUIRE(co_await enter(sister.get(), 6));
        CORRO_REQUIRE(co_await enter(other.get(), 7));
        c->stream.close();
        CORRO_REQUIRE(co_await commands_have_come_to(v, 8));
        EXPECT_EQ(v->open_orders_count(), 2U) << "those of the account's other session and of the other account";
        EXPECT_EQ(v->statistics().cancels_on_disconnect, 1U);
        CORRO_REQUIRE(!co_await io::sleep_for(20ms));
        EXPECT_EQ(v->commands_count(), 8U) << "once";
        EXPECT_EQ(v->notes_count(), 2U) << "at the logon, and when it was done";
        sister->queue_request(cancel(6));
        CORRO_REQUIRE(co_await sister->flush());
        EXPECT_EQ((co_await sister->answer()).back().kind, event_kind::order_cancelled) << "it was there";
    });
}

TEST_P(order_entry_session, keeps_the_orders_of_a_broken_connection_when_it_was_not_asked_to_cancel_them) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await enter(c.get(), 1));
        c->stream.close();
        CORRO_REQUIRE(co_await have_left(v, 0));
        CORRO_REQUIRE(!co_await io::sleep_for(20ms));
        EXPECT_EQ(v->commands_count(), 1U);
        EXPECT_EQ(v->open_orders_count(), 1U);
        EXPECT_EQ(v->statistics().cancels_on_disconnect, 0U);
    });
}

TEST_P(order_entry_session, cancels_on_disconnect_whatever_way_the_connection_dies) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        enum class death { closed, reset, half_closed, in_the_middle_of_a_frame, garbage, gap, count_ };
        for (int way = 0; way < static_cast<int>(death::count_); ++way) {
            logon who(1);
            who.cancel_on_disconnect = true;
            const client_pointer c = co_await v->log_on(who);
            CORRO_REQUIRE(c != nullptr);
            CORRO_REQUIRE(co_await enter(c.get(), 1));
            switch (static_cast<death>(way)) {
                case death::closed: c->stream.close(); break;
                case death::reset:
                    if (auto* const tcp = c->stream.get_if<io::tcp_stream>(); tcp != nullptr) {
                        CORRO_REQUIRE(!tcp->set_option(io::linger_seconds(0)));
                    }
                    c->stream.close();
                    break;
                case death::half_closed: CORRO_REQUIRE(!co_await c->stream.shutdown()); break;
                case death::in_the_middle_of_a_frame:
                    c->queue_request(order(side::buy, 100, 1, 2));
                    c->queued().resize(c->queued().size() - 1);
                    CORRO_REQUIRE(co_await c->flush());
                    c->stream.close();
                    break;
                case death::garbage:
                    c->queue_bytes(std::vector<std::byte>(64, std::byte{0xee}));
                    CORRO_REQUIRE(co_await c->flush());
                    break;
                default:
                    ++c->next_request;
                    c->queue_request(order(side::buy, 100, 1, 2));
                    CORRO_REQUIRE(co_await c->flush());
            }
            CORRO_REQUIRE(co_await commands_have_come_to(v, 2 * static_cast<std::uint64_t>(way) + 2));
            EXPECT_EQ(v->open_orders_count(), 0U) << "way " << way;
            EXPECT_EQ(v->statistics().cancels_on_disconnect, static_cast<std::uint64_t>(way) + 1);
            CORRO_REQUIRE(co_await have_left(v, 0));
        }
    });
}

TEST_P(order_entry_session, cancels_before_the_next_connection_of_the_session_enters_anything) {
    test_venue venue(gateway_options(), 16);
    venue.run([](test_venue* v) -> io::task<> {
        logon who(1);
        who.cancel_on_disconnect = true;
        const client_pointer first = co_await v->log_on(who);
        const client_pointer crowd = co_await v->log_on(logon(2));
        CORRO_REQUIRE(first != nullptr && crowd != nullptr);
        CORRO_REQUIRE(co_await enter(first.get(), 1));
        // The queue is full and somebody waits for room, so the cancel has to wait too.
        v->hold();
        for (std::uint64_t i = 1; i <= 20; ++i) crowd->queue_request(order(side::buy, 100, 1, i));
        CORRO_REQUIRE(co_await crowd->flush());
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands.pushed_count() == 18; }));
        first->stream.close();
        CORRO_REQUIRE(co_await have_left(v, 1));
        const client_pointer early = co_await v->connect();
        CORRO_REQUIRE(early != nullptr);
        CORRO_REQUIRE(co_await early->send_hello(who));
        EXPECT_TRUE(co_await early->is_logged_out(wire::logout_reason::already_logged_on)) << "not before the cancel";
        v->release();
        CORRO_REQUIRE(co_await commands_have_come_to(v, 22));
        const client_pointer second = co_await v->log_on(who);
        CORRO_REQUIRE(second != nullptr);
        CORRO_REQUIRE(co_await enter(second.get(), 2));
        EXPECT_EQ(v->open_orders_count(), 21U) << "the new order stays";
    });
}

}  // namespace
}  // namespace corro::gateway
