// SPDX-License-Identifier: Apache-2.0
// Connections break at any point and sessions survive. Every request has one effect and one answer, whatever was in
// flight when the connection ended.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using client::order_session;
using client::trader;

/// Reconnects as soon as the venue has noticed the end of the old connection.
io::task<std::error_code> come_back(order_session* session, io::endpoint venue) {
    for (int attempt = 0; attempt < 2'000; ++attempt) {
        const std::error_code error = co_await session->reconnect(venue);
        if (error != client::logged_out(wire::logout_reason::already_logged_on)) co_return error;
        const std::error_code stopped = co_await io::sleep_for(1ms);
        if (stopped) co_return stopped;
    }
    co_return std::make_error_code(std::errc::timed_out);
}

/// Takes the messages that have arrived. False if one is not allowed.
bool take_answers(order_session* session, trader* who) {
    while (true) {
        const auto answer = session->poll();
        if (!answer || (*answer && ((*answer)->reject || (*answer)->gap))) return false;
        if (!*answer) return true;
        static_cast<void>(who->on_event((*answer)->event));
    }
}

io::task<bool> finish(order_session* session, trader* who) {
    while (who->outstanding_count() != 0) {
        const std::error_code written = co_await session->flush();
        if (written) co_return false;
        const std::error_code read = co_await session->fill();
        if (read || !take_answers(session, who)) co_return false;
    }
    co_return true;
}

io::task<void> trade_and_break(node::venue* exchange, std::uint64_t seed, bool cancel_on_disconnect) {
    base::prng random(seed);
    auto who = testing::who(1, 1);
    who.cancel_on_disconnect = cancel_on_disconnect;
    auto logged_on = co_await order_session::log_on(exchange->order_entry_endpoint(), who);
    CORRO_REQUIRE(logged_on);
    order_session* const session = logged_on->get();
    std::vector<domain::instrument> instruments;
    session->instruments().for_each([&](const domain::instrument& i) { instruments.push_back(i); });
    trader own(client::trader_options(), instruments, {domain::price_ticks{9'000}, domain::price_ticks{9'000}}, 1,
               seed);
    for (int round = 0; round < 60; ++round) {
        // Some requests are sent and some stay in the client's buffer; some answers are read and some are not.
        const std::uint64_t requests = random.below(30);
        for (std::uint64_t i = 0; i < requests; ++i) {
            CORRO_REQUIRE(session->send(own.next_request()) != 0);
            if (random.below(8) == 0) {
                CORRO_REQUIRE(!co_await session->flush());
            }
            if (random.below(20) == 0 && own.outstanding_count() != 0) {
                CORRO_REQUIRE(!co_await session->flush());
                CORRO_REQUIRE(!co_await session->fill());
                CORRO_REQUIRE(take_answers(session, &own));
            }
        }
        if (random.below(4) == 0) {
            CORRO_REQUIRE(co_await finish(session, &own));
        }
        CORRO_REQUIRE(!co_await come_back(session, exchange->order_entry_endpoint()));
        CORRO_REQUIRE(session->resend_not_accepted());
        EXPECT_EQ(session->not_accepted_count(), 0U);
    }
    CORRO_REQUIRE(co_await finish(session, &own));
    EXPECT_EQ(session->next_request() - 1, own.statistics().requests);
    EXPECT_EQ(own.statistics().answered, own.statistics().requests);
    EXPECT_EQ(exchange->gateway_statistics().requests, own.statistics().requests) << "none had a second effect";
    EXPECT_EQ(exchange->gateway_statistics().session_rejects, 0U);
    EXPECT_FALSE(co_await session->log_out());
}

io::task<void> run_all(io::context* context, node::venue* exchange, std::uint64_t seed, bool cancel_on_disconnect) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    co_await trade_and_break(exchange, seed, cancel_on_disconnect);
    exchange->close();
    co_await serving.join();
}

TEST(session_resume, every_request_counts_once_and_is_answered_once_however_often_the_connection_breaks) {
    const std::uint64_t first_seed = base::test_seed();
    for (const auto threading : {node::threading_mode::inline_, node::threading_mode::split})
        for (const bool cancel_on_disconnect : {false, true}) {
            for (std::uint64_t seed = first_seed; seed < first_seed + 4; ++seed) {
                SCOPED_TRACE(::testing::Message() << "seed " << seed << (cancel_on_disconnect ? ", cancelled" : ""));
                io::context context;
                node::configuration venue = testing::small_venue(threading);
                venue.logons_max = 1'000;  // it reconnects more often than a normal client
                node::testing::started_venue exchange(context, venue);
                io::block_on(context, run_all(&context, &exchange, seed, cancel_on_disconnect));
                // With two threads the answers may come so late that the new connection gets all of them as new ones.
                if (threading == node::threading_mode::inline_) {
                    EXPECT_GT(exchange.gateway_statistics().answers_resent, 0U);
                }
            }
        }
}

}  // namespace
}  // namespace corro
