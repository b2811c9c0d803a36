// SPDX-License-Identifier: Apache-2.0
// A venue that executes a command on the stack of the session that sent it, and flushes later.
#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "gateway/command_queue.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;

/// Delivers one answer to each command before its push returns.
struct answering_consumer final : command_consumer {
    bool take(const domain::command& command) noexcept override {
        domain::event answer;
        answer.kind = domain::event_kind::order_entered;
        answer.instrument = command.instrument;
        answer.flags = domain::event_flag::last_of_request;
        answer.order.session = command.session;
        answer.order.account = command.account;
        answer.order.request = command.request();
        answer.order.client_order = command.client_order;
        venue->gateway.deliver(answer);
        venue->commands.set_answered(venue->commands.pushed_count());
        return true;
    }
    void expect(std::span<domain::prefetch_hint> /*coming*/) noexcept override {}

    test_venue* venue = nullptr;
};

answering_consumer consumer;  // a coroutine lambda may not capture it

TEST(order_entry_inline, messages_without_a_number_follow_the_answers_that_were_delivered_before_them) {
    test_venue venue;
    consumer.venue = &venue;
    venue.run([](test_venue* v) -> io::task<> {
        std::unique_ptr<raw_client> c = co_await v->log_on(logon(1));
        CORRO_REQUIRE(c != nullptr);
        v->hold();  // from here on nobody flushes
        v->commands.set_direct_consumer(&consumer);
        c->queue_request(order(domain::side::buy, 100, 1, 11));
        c->next_request = 1;  // refused: repeated
        c->queue_request(order(domain::side::buy, 100, 1, 12));
        c->queue_request(order(domain::side::buy, 100, 1, 13));
        wire::heartbeat test;
        test.test_id = 7;
        c->queue(test);
        CORRO_REQUIRE(co_await c->flush());
        const auto first = co_await c->event();
        CORRO_REQUIRE(first);
        EXPECT_EQ(first->order.client_order.value, 11U);
        const auto refused = co_await c->expect<wire::reject>();
        CORRO_REQUIRE(refused);
        EXPECT_EQ(refused->session_reject_reason, wire::session_reject_reason::sequence_repeated);
        const auto second = co_await c->event();
        CORRO_REQUIRE(second);
        EXPECT_EQ(second->order.client_order.value, 13U);
        const auto echo = co_await c->expect<wire::heartbeat>();
        CORRO_REQUIRE(echo);
        EXPECT_EQ(echo->echo_id, 7U);
        // Answers without a message behind them wait for the flush, and for a logout.
        c->queue_request(order(domain::side::buy, 100, 1, 14));
        c->queue(wire::logout{});
        CORRO_REQUIRE(co_await c->flush());
        const auto last = co_await c->event();
        CORRO_REQUIRE(last);
        EXPECT_EQ(last->order.client_order.value, 14U);
        CORRO_REQUIRE(co_await c->expect<wire::logout_ack>());
        v->commands.set_direct_consumer(nullptr);
    });
}

}  // namespace
}  // namespace corro::gateway
