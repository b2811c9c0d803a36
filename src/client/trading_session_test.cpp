// SPDX-License-Identifier: Apache-2.0
#include "client/trading_session.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

#include "client/session_errors.hpp"
#include "gateway/venue_fixture.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/test_require.hpp"

namespace corro::client {
namespace {

using namespace std::chrono_literals;
using gateway::testing::test_venue;
using kind = order_update::kind;

credentials trader_number(std::uint32_t account) {
    credentials c;
    c.account = domain::account_id{account};
    c.key = gateway::testing::key_of(account);
    c.heartbeat = 60s;
    return c;
}

TEST(trading_session, orders_are_answered_one_update_after_the_other) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        auto maker = co_await trading_session::log_on(v->endpoint, trader_number(1));
        auto taker = co_await trading_session::log_on(v->endpoint, trader_number(2));
        CORRO_REQUIRE(maker && taker);
        const auto offer = maker->enter(limit_order{side::sell, "TEST1", 30, 25});
        CORRO_REQUIRE(offer);
        auto update = co_await maker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->what, kind::accepted);
        EXPECT_EQ(update->number, *offer);
        EXPECT_EQ(update->open, 30U);
        EXPECT_EQ(maker->amend(*offer, 20, 25.25), domain::reject_reason::none);
        update = co_await maker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->what, kind::amended);
        EXPECT_EQ(update->price, 25.25);

        const auto bid = taker->enter(limit_order{side::buy, "TEST1", 10, 30});
        CORRO_REQUIRE(bid);
        for (update = co_await taker->next(); update && update->what != kind::filled;) update = co_await taker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->units, 10U);
        EXPECT_EQ(update->price, 25.25);
        EXPECT_EQ(taker->position("TEST1"), 10);
        update = co_await maker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->what, kind::filled);
        EXPECT_EQ(maker->position("TEST1"), -10);
        EXPECT_EQ(maker->cancel(*offer), domain::reject_reason::none);
        update = co_await maker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->what, kind::cancelled);

        const auto quoted = maker->enter(quote{"TEST2", 10, 20, 20, 21});
        CORRO_REQUIRE(quoted);
        update = co_await maker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->what, kind::quoted);
        EXPECT_EQ(update->number, *quoted);
        EXPECT_EQ(update->open, 10U);
        EXPECT_EQ(update->ask_open, 20U);
        CORRO_REQUIRE(taker->enter(market_order{side::buy, "TEST2", 20}));
        CORRO_REQUIRE(co_await taker->next());
        update = co_await maker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->what, kind::filled);
        EXPECT_EQ(update->number, *quoted);
        EXPECT_EQ(maker->position("TEST2"), -20);

        const auto unknown = maker->enter(limit_order{side::sell, "NONE", 10, 25});
        CORRO_REQUIRE(!unknown);
        EXPECT_EQ(unknown.error(), domain::reject_reason::unknown_instrument);
        const auto refused = maker->enter(limit_order{side::sell, "TEST1", 10, 2'000'000});
        CORRO_REQUIRE(refused);
        update = co_await maker->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->what, kind::refused);
        EXPECT_FALSE(co_await maker->log_out());
        EXPECT_FALSE(co_await taker->log_out());
    });
}

TEST(trading_session, a_logon_that_is_refused_has_the_reason) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        credentials wrong = trader_number(1);
        wrong.key.fill(std::byte{0});
        const auto refused = co_await trading_session::log_on(v->endpoint, wrong);
        CORRO_REQUIRE(!refused);
        EXPECT_EQ(refused.error().category(), session_category());
        EXPECT_FALSE(may_come_back(refused.error()));
    });
}

// The venue ends a session from which it hears nothing for longer than its interval.
TEST(trading_session, heartbeats_leave_while_it_waits_and_a_time_limit_loses_nothing) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        credentials as = trader_number(1);
        as.heartbeat = 100ms;
        auto session = co_await trading_session::log_on(v->endpoint, as);
        CORRO_REQUIRE(session);
        const auto silent = co_await io::with_timeout(600ms, session->next());
        CORRO_REQUIRE(!silent);
        EXPECT_EQ(silent.error(), io::condition::timed_out);
        EXPECT_EQ(v->statistics().idle_cut, 0U);
        const auto number = session->enter(limit_order{side::buy, "TEST1", 10, 25});
        CORRO_REQUIRE(number);
        const auto update = co_await session->next();
        CORRO_REQUIRE(update);
        EXPECT_EQ(update->number, *number);
        // Without a wait in `next` the session sends no heartbeat.
        static_cast<void>(co_await io::sleep_for(600ms));
        EXPECT_EQ(v->statistics().idle_cut, 1U);
        auto ended = co_await session->next();
        CORRO_REQUIRE(ended);
        EXPECT_EQ(ended->what, kind::cancelled) << "with the connection";
        ended = co_await session->next();
        CORRO_REQUIRE(!ended);
        EXPECT_EQ(ended.error(), logged_out(wire::logout_reason::idle_timeout));
    });
}

io::task<> take_fills(trading_session* session, int* count) {
    for (;;) {
        const auto update = co_await session->next();
        if (!update) co_return;
        *count += update->what == kind::filled ? 1 : 0;
    }
}

// It sends nothing by itself, and its waits are all shorter than the interval.
TEST(trading_session, a_session_whose_orders_are_filled_all_the_time_stays_on) {
    test_venue venue;
    venue.run([](test_venue* v) -> io::task<> {
        credentials as = trader_number(1);
        as.heartbeat = 100ms;
        auto maker = co_await trading_session::log_on(v->endpoint, as);
        auto taker = co_await trading_session::log_on(v->endpoint, trader_number(2));
        CORRO_REQUIRE(maker && taker);
        CORRO_REQUIRE(maker->enter(limit_order{side::buy, "TEST1", 10'000, 25}));
        CORRO_REQUIRE(co_await maker->next());
        int count = 0;
        io::task_scope beside(v->context);
        beside.spawn(take_fills(&*maker, &count));
        for (int i = 0; i < 60; ++i) {
            CORRO_REQUIRE(taker->enter(market_order{side::sell, "TEST1", 10}));
            CORRO_REQUIRE(co_await taker->next());
            static_cast<void>(co_await io::sleep_for(10ms));
        }
        EXPECT_EQ(v->statistics().idle_cut, 0U);
        EXPECT_EQ(count, 60);
        EXPECT_EQ(maker->position("TEST1"), 600);
        beside.request_stop();
        co_await beside.join();
        EXPECT_FALSE(co_await maker->log_out());
        EXPECT_FALSE(co_await taker->log_out());
    });
}

}  // namespace
}  // namespace corro::client
