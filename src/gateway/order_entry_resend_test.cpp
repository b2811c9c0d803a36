// SPDX-License-Identifier: Apache-2.0
// What it costs the others when sessions ask for their past, again and again.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "gateway/answers_fixture.hpp"
#include "gateway/venue_fixture.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;
using domain::side;
using testing::logon;
using testing::order;
using testing::raw_client;
using testing::test_venue;
using client_pointer = std::unique_ptr<raw_client>;

/// Answers to a session, as if it had been told them.
void tell(test_venue* v, std::uint32_t session, std::uint64_t count) {
    domain::event said;
    said.kind = domain::event_kind::order_entered;
    said.instrument = domain::instrument_id{1};
    said.order.session = domain::session_id{session};
    for (std::uint64_t i = 0; i < count; ++i) v->answers.append(said);
}

/// Reads a number of answers.
io::task<void> read_past(raw_client* c, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) CORRO_REQUIRE(co_await c->event());
}

/// The most answers that were sent again in a turn of the loop: between two in which it looks for events.
io::task<void> watch(test_venue* v, std::uint64_t* most_in_a_turn) {
    std::uint64_t before = v->statistics().answers_resent;
    while (!co_await io::sleep_for(1ns)) {
        const std::uint64_t now = v->statistics().answers_resent;
        *most_in_a_turn = std::max(*most_in_a_turn, now - before);
        before = now;
    }
}

/// Six sessions that ask for all of `count` answers each, at once.
io::task<> ask_for_everything(test_venue* v, std::uint64_t count, std::uint64_t* walked, std::uint64_t* in_a_turn) {
    for (std::uint32_t session = 1; session <= 6; ++session) tell(v, session, count);
    const std::uint64_t walked_before = v->answers.blocks_walked_count();
    io::task_scope watching(v->context);
    watching.spawn(watch(v, in_a_turn));
    io::task_scope reading(v->context);
    std::vector<client_pointer> clients;
    for (std::uint32_t account = 1; account <= 2; ++account) {
        for (std::uint32_t session = 1; session <= 3; ++session) {
            logon who(account, session);
            who.next_sequence = 1;
            client_pointer c = co_await v->log_on(who);
            CORRO_REQUIRE(c != nullptr);
            reading.spawn(read_past(c.get(), count));
            clients.push_back(std::move(c));
        }
    }
    co_await reading.join();
    watching.request_stop();
    co_await watching.join();
    EXPECT_EQ(v->statistics().answers_resent, 6 * count);
    *walked = v->answers.blocks_walked_count() - walked_before;
}

TEST(order_entry_past, N6_being_told_n_answers_costs_steps_in_proportion_and_one_batch_a_turn) {
    for (const std::uint64_t count : {1'024U, 2'048U, 4'096U}) {
        SCOPED_TRACE(::testing::Message() << count << " answers");
        gateway_options options;
        options.answers_per_turn_max = 50;
        answer_log_options kept;
        kept.session_answers_max = 8 * 1024;
        kept.answers_max = 64 * 1024;
        test_venue venue(options, 1024, kept);
        std::uint64_t walked = 0;
        std::uint64_t in_a_turn = 0;
        venue.run([&](test_venue* v) { return ask_for_everything(v, count, &walked, &in_a_turn); });
        EXPECT_LE(walked, 6 * count / answer_log::answers_per_block);
        EXPECT_GT(in_a_turn, 0U);
        EXPECT_LE(in_a_turn, 50U) << "of all sessions together";
    }
}

TEST(order_entry_past, N6_a_session_that_logs_on_too_often_is_refused_until_the_window_has_passed) {
    gateway_options options;
    options.logons_max = 3;
    options.logons_window = 1h;
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        for (int i = 0; i < 3; ++i) {
            client_pointer c = co_await v->log_on(logon(1));
            CORRO_REQUIRE(c != nullptr);
            c.reset();
            CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; }));
        }
        client_pointer c = co_await v->connect();
        CORRO_REQUIRE(c != nullptr);
        CORRO_REQUIRE(co_await c->send_hello(logon(1)));
        EXPECT_TRUE(co_await c->is_logged_out(wire::logout_reason::throttled));
        EXPECT_EQ(v->statistics().logons_throttled, 1U);
        c = co_await v->log_on(logon(1, 2));
        EXPECT_NE(c, nullptr) << "another session of the account has a count of its own";
    });
}

TEST(order_entry_past, a_session_may_log_on_as_often_again_in_the_next_window) {
    gateway_options options;
    options.logons_max = 1;
    options.logons_window = 0ms;  // each logon begins one
    test_venue venue(options);
    venue.run([](test_venue* v) -> io::task<> {
        for (int i = 0; i < 5; ++i) {
            client_pointer c = co_await v->log_on(logon(1));
            CORRO_REQUIRE(c != nullptr);
            c.reset();
            CORRO_REQUIRE(co_await v->until([](const test_venue& t) { return t.statistics().sessions_now == 0; }));
        }
    });
}

}  // namespace
}  // namespace corro::gateway
