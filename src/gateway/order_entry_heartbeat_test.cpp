// SPDX-License-Identifier: Apache-2.0
// The times of an open session: heartbeats, and the end of a silent one.
//
// In a world in memory, where time is virtual: heartbeats are as long as those of a real client, and the bounds of the
// times are exact. order_entry_session_test.cpp has one test of heartbeats with the kernel's timers.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::event_kind;
using domain::side;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

class order_entry_session_heartbeats : public testing::over_every_transport {};
INSTANTIATE_TEST_SUITE_P(over, order_entry_session_heartbeats, ::testing::ValuesIn(testing::all_transports),
                         testing::transport_name);

constexpr std::chrono::milliseconds interval{3'000};
/// A session looks at its times four times an interval.
constexpr std::chrono::milliseconds look = interval / 4;

logon with_heartbeats() {
    logon who(1);
    who.heartbeat_ms = static_cast<std::uint32_t>(interval.count());
    return who;
}

TEST_P(order_entry_session_heartbeats, says_a_heartbeat_when_it_has_nothing_else_to_say) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(with_heartbeats());
        CORRO_REQUIRE(c != nullptr);
        for (int i = 0; i < 4; ++i) {
            const io::steady_time before = v->context.now();
            const auto beat = co_await c->expect<wire::heartbeat>();
            CORRO_REQUIRE(beat);
            EXPECT_EQ(beat->echo_id, 0U);
            EXPECT_GE(v->context.now() - before, interval - look) << "not more often than needed";
            EXPECT_LE(v->context.now() - before, interval) << "the client must not take it for dead";
            c->queue(wire::heartbeat{});
            CORRO_REQUIRE(co_await c->flush());
        }
        EXPECT_EQ(v->statistics().idle_cut, 0U);
    });
}

TEST_P(order_entry_session_heartbeats, ends_a_session_that_says_nothing_for_two_intervals_and_cancels_its_orders) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        // Half-open: TCP has not noticed that the peer is gone.
        logon who = with_heartbeats();
        who.cancel_on_disconnect = true;
        const client_pointer c = co_await v->log_on(who);
        CORRO_REQUIRE(c != nullptr);
        c->queue_request(order(side::buy, 100, 1, 1));
        CORRO_REQUIRE(co_await c->flush());
        const std::vector<domain::event> entered = co_await c->answer();
        CORRO_REQUIRE(entered.size() == 1 && entered[0].kind == event_kind::order_entered);
        EXPECT_EQ(v->open_orders_count(), 1U);
        const io::steady_time before = v->context.now();
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::idle_timeout));
        const auto silent = v->context.now() - before;
        EXPECT_GE(silent, 2 * interval) << "one lost heartbeat is forgiven";
        EXPECT_LE(silent, 2 * interval + 2 * look);
        EXPECT_EQ(v->statistics().idle_cut, 1U);
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands_count() == 2; }));
        EXPECT_EQ(v->open_orders_count(), 0U);
    });
}

// The venue sends a heartbeat of its own after each interval of silence on its side: these count the intervals.
TEST_P(order_entry_session_heartbeats, is_not_cut_before_two_whole_intervals_of_silence) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(with_heartbeats());
        CORRO_REQUIRE(c != nullptr);
        c->queue(wire::heartbeat{});
        CORRO_REQUIRE(co_await c->flush());
        int heartbeats = 0;
        while (true) {
            const std::optional<wire::frame> frame = co_await c->next();
            CORRO_REQUIRE(frame);
            if (frame->message == wire::template_id::logout) break;
            if (frame->message == wire::template_id::heartbeat) ++heartbeats;
        }
        EXPECT_GE(heartbeats, 2);
        EXPECT_EQ(v->statistics().idle_cut, 1U);
    });
}

TEST_P(order_entry_session_heartbeats, is_kept_alive_by_heartbeats_alone) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        const client_pointer c = co_await v->log_on(with_heartbeats());
        CORRO_REQUIRE(c != nullptr);
        // As late as possible: each silence is a look shorter than what the venue bears.
        for (int i = 0; i < 4; ++i) {
            CORRO_REQUIRE(!co_await io::sleep_for(2 * interval - look));
            c->queue(wire::heartbeat{});
            CORRO_REQUIRE(co_await c->flush());
        }
        EXPECT_EQ(v->statistics().sessions_now, 1U);
        EXPECT_EQ(v->statistics().idle_cut, 0U);
    });
}

}  // namespace
}  // namespace corro::gateway
