// SPDX-License-Identifier: Apache-2.0
// What an operator asks about the venue itself: who may, what the desk is told, and for whom its answers are.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using testing::drop_copy_account;
using testing::logon;
using testing::operator_account;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

/// Notes what is asked and leaves the answers to the test.
struct silent_desk final : admin_service {
    request_refusal ask(const admin_request& question) override {
        if (refusal == request_refusal::none) asked.push_back(question);
        return refusal;
    }
    std::vector<admin_request> asked;
    request_refusal refusal = request_refusal::none;
};

struct venue_with_desk {
    venue_with_desk() : venue(options_for(desk)) {}
    static gateway_options options_for(silent_desk& desk) {
        gateway_options options;
        options.desk = &desk;
        return options;
    }
    silent_desk desk;
    test_venue venue;
};
venue_with_desk* under_test = nullptr;  // a coroutine lambda may not capture it

class order_entry_desk : public ::testing::Test {
 protected:
    order_entry_desk() { under_test = &all_; }
    ~order_entry_desk() override { under_test = nullptr; }
    venue_with_desk all_;
};

constexpr std::array<std::uint32_t, 3> others{1, 2, drop_copy_account};  ///< who are no operators

template <class Request>
io::task<bool> asks(raw_client* c, Request request) {
    c->queue(request);
    co_return co_await c->flush();
}

wire::status_request status_request(std::uint64_t question) {
    wire::status_request request;
    request.question = question;
    request.instrument = domain::instrument_id{2};
    return request;
}

wire::snapshot_request snapshot_request(std::uint64_t question) {
    wire::snapshot_request request;
    request.question = question;
    return request;
}

template <class Request>
io::task<wire::session_reject_reason> refusal_of(raw_client* c, Request request) {
    const bool sent = co_await asks(c, request);
    if (!sent) co_return wire::session_reject_reason::none;
    const auto refused = co_await c->expect<wire::reject>();
    if (!refused) co_return wire::session_reject_reason::none;
    EXPECT_EQ(refused->refused_template, static_cast<std::uint16_t>(Request::message_id));
    co_return refused->session_reject_reason;
}

/// Waits until the desk has this number of requests.
io::task<bool> is_asked(std::size_t count) {
    co_return co_await under_test->venue.until(
        [count](const test_venue&) { return under_test->desk.asked.size() >= count; });
}

TEST_F(order_entry_desk, tells_an_operator_how_every_partition_is) {
    all_.venue.run([](test_venue* v) -> io::task<> {
        client_pointer trader = co_await v->log_on(logon(1));
        client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && control != nullptr);
        CORRO_REQUIRE(co_await asks(control.get(), status_request(9)));
        CORRO_REQUIRE(co_await is_asked(1));
        admin_reply answer;
        answer.to = under_test->desk.asked.front();
        EXPECT_EQ(answer.to.wish, admin_request_kind::status);
        EXPECT_EQ(answer.to.instrument.value, 2U);
        answer.venue.last_command = 44;
        answer.venue.durable_command = 43;
        answer.venue.snapshot_command = 40;
        answer.venue.feed_sequence = 45;
        answer.venue.journal = journal_state::takes_cancels;
        answer.venue.instrument = answer.to.instrument;
        answer.venue.phase = domain::trading_phase::halted;
        answer.venue.partitions_count = 2;
        v->gateway.deliver_admin_reply(answer);
        const auto first = co_await control->expect<wire::venue_status>();
        CORRO_REQUIRE(first.has_value());
        EXPECT_EQ(first->question, 9U);
        EXPECT_GT(first->time.value, 0);
        EXPECT_EQ(first->last_command.value, 44U);
        EXPECT_EQ(first->durable_command.value, 43U);
        EXPECT_EQ(first->snapshot_command.value, 40U);
        EXPECT_EQ(first->feed_sequence.value, 45U);
        EXPECT_EQ(first->commands_waiting, 0U);
        EXPECT_EQ(first->sessions_count, 2U);
        EXPECT_EQ(first->sessions_max, 12U);
        EXPECT_EQ(first->journal_state, wire::journal_state::takes_cancels);
        EXPECT_EQ(first->trading_phase, domain::trading_phase::halted);
        EXPECT_EQ(first->instrument.value, 2U);
        EXPECT_EQ(first->segment, 0U);
        EXPECT_EQ(first->segments_count, 2U);
        answer.venue.partition = 1;
        v->gateway.deliver_admin_reply(answer);
        const auto second = co_await control->expect<wire::venue_status>();
        CORRO_REQUIRE(second.has_value());
        EXPECT_EQ(second->segment, 1U);
    });
}

TEST_F(order_entry_desk, counts_requests_that_wait) {
    all_.venue.run([](test_venue* v) -> io::task<> {
        client_pointer trader = co_await v->log_on(logon(1));
        client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(trader != nullptr && control != nullptr);
        v->hold();
        trader->queue_request(testing::order(domain::side::buy, 100, 1, 1));
        trader->queue_request(testing::order(domain::side::buy, 100, 1, 2));
        CORRO_REQUIRE(co_await trader->flush());
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.commands.pushed_count() == 2; }));
        CORRO_REQUIRE(co_await asks(control.get(), status_request(1)));
        CORRO_REQUIRE(co_await is_asked(1));
        admin_reply answer;
        answer.to = under_test->desk.asked.front();
        v->gateway.deliver_admin_reply(answer);
        const auto status = co_await control->expect<wire::venue_status>();
        v->release();
        CORRO_REQUIRE(status.has_value());
        EXPECT_EQ(status->commands_waiting, 2U);
    });
}

TEST_F(order_entry_desk, says_what_came_of_the_wish_for_a_snapshot) {
    all_.venue.run([](test_venue* v) -> io::task<> {
        client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(control != nullptr);
        CORRO_REQUIRE(co_await asks(control.get(), snapshot_request(5)));
        CORRO_REQUIRE(co_await is_asked(1));
        admin_reply answer;
        answer.to = under_test->desk.asked.front();
        EXPECT_EQ(answer.to.wish, admin_request_kind::snapshot);
        answer.venue.durable_command = 17;
        answer.outcome = snapshot_reply::under_way;
        v->gateway.deliver_admin_reply(answer);
        const auto said = co_await control->expect<wire::snapshot_answer>();
        CORRO_REQUIRE(said.has_value());
        EXPECT_EQ(said->question, 5U);
        EXPECT_EQ(said->durable_command.value, 17U);
        EXPECT_EQ(said->snapshot_outcome, wire::snapshot_outcome::under_way);
    });
}

TEST_F(order_entry_desk, is_not_asked_by_anybody_else) {
    all_.venue.run([](test_venue* v) -> io::task<> {
        for (const std::uint32_t account : others) {
            client_pointer c = co_await v->log_on(logon(account));
            CORRO_REQUIRE(c != nullptr);
            const auto status = co_await refusal_of(c.get(), status_request(1));
            EXPECT_EQ(status, wire::session_reject_reason::not_an_operator);
            const auto snapshot = co_await refusal_of(c.get(), snapshot_request(1));
            EXPECT_EQ(snapshot, wire::session_reject_reason::not_an_operator);
            // The session goes on, and its numbers with it.
            if (account == drop_copy_account) continue;
            c->queue_request(testing::order(domain::side::buy, 100, 1, account));
            CORRO_REQUIRE(co_await c->flush());
            const auto answer = co_await c->answer();
            CORRO_REQUIRE(answer.size() == 1);
            EXPECT_EQ(answer[0].kind, domain::event_kind::order_entered);
        }
        EXPECT_TRUE(under_test->desk.asked.empty());
    });
}

TEST_F(order_entry_desk, refuses_with_a_reason_and_the_session_goes_on) {
    all_.venue.run([](test_venue* v) -> io::task<> {
        client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(control != nullptr);
        under_test->desk.refusal = request_refusal::overloaded;
        const auto status = co_await refusal_of(control.get(), status_request(1));
        EXPECT_EQ(status, wire::session_reject_reason::overloaded);
        const auto snapshot = co_await refusal_of(control.get(), snapshot_request(1));
        EXPECT_EQ(snapshot, wire::session_reject_reason::overloaded);
        under_test->desk.refusal = request_refusal::none;
        CORRO_REQUIRE(co_await asks(control.get(), status_request(2)));
        CORRO_REQUIRE(co_await is_asked(1));
    });
}

TEST_F(order_entry_desk, answers_nobody_who_logged_on_after_the_question) {
    all_.venue.run([](test_venue* v) -> io::task<> {
        client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(control != nullptr);
        CORRO_REQUIRE(co_await asks(control.get(), status_request(1)));
        CORRO_REQUIRE(co_await is_asked(1));
        control.reset();
        CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; }));
        admin_reply late;
        late.to = under_test->desk.asked[0];
        v->gateway.deliver_admin_reply(late);
        // Sessions are found again as soon as the old connection is gone.
        client_pointer again = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(again != nullptr);
        v->gateway.deliver_admin_reply(late);
        CORRO_REQUIRE(co_await asks(again.get(), snapshot_request(2)));
        CORRO_REQUIRE(co_await is_asked(2));
        admin_reply timely;
        timely.to = under_test->desk.asked[1];
        v->gateway.deliver_admin_reply(timely);
        const auto first = co_await again->expect<wire::snapshot_answer>();
        CORRO_REQUIRE(first.has_value());
        EXPECT_EQ(first->question, 2U);
    });
}

TEST(order_entry_without_desk, says_that_nothing_is_known_here) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        client_pointer control = co_await v->log_on(logon(operator_account));
        CORRO_REQUIRE(control != nullptr);
        const auto status = co_await refusal_of(control.get(), status_request(1));
        EXPECT_EQ(status, wire::session_reject_reason::not_known_here);
        const auto snapshot = co_await refusal_of(control.get(), snapshot_request(1));
        EXPECT_EQ(snapshot, wire::session_reject_reason::not_known_here);
    });
}

}  // namespace
}  // namespace corro::gateway
