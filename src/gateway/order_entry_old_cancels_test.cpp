// SPDX-License-Identifier: Apache-2.0
// Sessions whose orders were to be cancelled when the venue died, after its next start.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "domain/command.hpp"
#include "gateway/answers_fixture.hpp"
#include "gateway/session/disconnect_cancel.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::side;
using testing::is_done;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

constexpr std::size_t queue_capacity = 8;

/// A venue that begins with the first session of account 1 on its list, without a grace period.
class order_entry_old_cancels : public ::testing::Test {
 protected:
    order_entry_old_cancels() {
        const std::vector<domain::account_id> wanted{domain::account_id{0}, domain::account_id{1}};
        venue.gateway.set_absent_sessions(wanted, 0ms);
    }

    test_venue venue{gateway_options(), queue_capacity};
};

TEST_F(order_entry_old_cancels, are_executed_for_a_session_that_does_not_come_back) {
    venue.run([](test_venue* v) -> io::task<> {
        const bool noted = co_await v->until([](const test_venue& t) { return t.notes_count() == 1; });
        CORRO_REQUIRE(noted);
        EXPECT_EQ(v->statistics().cancels_after_start, 1U);
        EXPECT_EQ(v->commands_count(), 1U);
    });
}

/// Takes what stands in the queue, as a facility on another thread: the gateways are not told yet that there is room.
std::size_t take_all(command_queue& commands) {
    std::size_t count = 0;
    for (domain::command c; commands.try_pop(c);) ++count;
    return count;
}

/// The session logs on and enters an order while the cancel waits for room.
io::task<void> come_back_meanwhile(test_venue* v) {
    const client_pointer c = co_await v->connect();
    CORRO_REQUIRE(c != nullptr);
    CORRO_REQUIRE(!co_await io::sleep_for(1ms));
    EXPECT_EQ(take_all(v->commands), queue_capacity) << "the cancel has found no room";
    CORRO_REQUIRE(co_await c->log_on(logon(1)));
    c->queue_request(order(side::buy, 90, 1, 1));
    CORRO_REQUIRE(co_await c->flush());
    // The note that the session does not want the cancel any more, and the order.
    CORRO_REQUIRE(
        co_await v->until([](const test_venue& t) { return t.commands.pushed_count() == queue_capacity + 2; }));
    v->release();
    const std::vector<domain::event> entered = co_await c->answer();
    CORRO_REQUIRE(entered.size() == 1);
    CORRO_REQUIRE(co_await is_done(c.get(), order(side::buy, 90, 1, 2)));
    EXPECT_EQ(v->statistics().cancels_after_start, 0U);
    EXPECT_EQ(v->open_orders_count(), 2U);
    c->stream.close();
    CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().connections_now == 0; }));
}

TEST_F(order_entry_old_cancels, S2_do_not_reach_what_a_session_enters_that_comes_back_while_they_wait_for_room) {
    venue.hold();
    const domain::command other =
        cancel_on_disconnect_command(domain::session_id{2}, domain::account_id{1}, domain::switch_state::off);
    while (venue.commands.has_room()) ASSERT_TRUE(venue.commands.try_push(other));
    venue.run(&come_back_meanwhile);
}

}  // namespace
}  // namespace corro::gateway
