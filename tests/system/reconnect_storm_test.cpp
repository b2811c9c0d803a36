// SPDX-License-Identifier: Apache-2.0
// A thousand sessions lose their connections at the same moment and reconnect at once, while others trade.
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <vector>

#include "client/order_session.hpp"
#include "client/session_errors.hpp"
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

constexpr std::uint32_t sessions_count = 1'000;

struct storm {
    node::venue* exchange = nullptr;
    std::vector<std::unique_ptr<order_session>> sessions = std::vector<std::unique_ptr<order_session>>(sessions_count);
    std::uint32_t failed = 0;
    std::uint32_t answered = 0;
    bool over = false;
    std::uint32_t bystander_answers = 0;
};

domain::command passive_order(std::uint64_t client_order) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{1};
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{1};
    c.client_order = domain::client_order_id{client_order};
    return c;
}

io::task<void> log_on(storm* s, std::uint32_t index) {
    auto who = testing::who(1, index + 1);
    who.cancel_on_disconnect = false;
    auto session = co_await order_session::log_on(s->exchange->order_entry_endpoint(), who);
    if (session) {
        s->sessions[index] = std::move(*session);
    } else {
        ++s->failed;
    }
}

// Sends an order, loses the connection before it reads the answer, reconnects and gets the answer.
io::task<void> come_back(storm* s, std::uint32_t index) {
    order_session* const session = s->sessions[index].get();
    std::error_code error = make_error_code(client::session_errc::unexpected_message);
    for (int attempt = 0; attempt < 1'000 && error; ++attempt) {
        error = co_await session->reconnect(s->exchange->order_entry_endpoint());
        if (error) {
            const std::error_code stopped = co_await io::sleep_for(5ms);
            if (stopped) co_return;
        }
    }
    if (error || !session->resend_not_accepted()) {
        ++s->failed;
        co_return;
    }
    const auto answer = co_await session->next();
    if (answer && !answer->reject && answer->event.order.client_order.value == index + 1) ++s->answered;
}

io::task<void> trade_meanwhile(storm* s) {
    auto session = co_await order_session::log_on(s->exchange->order_entry_endpoint(), testing::who(2, 1));
    CORRO_REQUIRE(session);
    for (std::uint64_t i = 1; !s->over; ++i) {
        CORRO_REQUIRE((*session)->send(passive_order(i)) != 0);
        const auto answer = co_await (*session)->next();
        CORRO_REQUIRE(answer);
        ++s->bystander_answers;
        const std::error_code stopped = co_await io::sleep_for(1ms);
        if (stopped) break;
    }
    static_cast<void>(co_await (*session)->log_out());
}

io::task<void> run_storm(io::context* context, storm* s) {
    io::task_scope serving(*context);
    serving.spawn(s->exchange->run());
    io::task_scope arriving(*context);
    for (std::uint32_t i = 0; i < sessions_count; ++i) arriving.spawn(log_on(s, i));
    co_await arriving.join();
    EXPECT_EQ(s->failed, 0U);
    io::task_scope trading(*context);
    trading.spawn(trade_meanwhile(s));
    while (s->bystander_answers == 0) {
        const std::error_code stopped = co_await io::sleep_for(1ms);
        if (stopped) break;
    }
    for (std::uint32_t i = 0; s->failed == 0 && i < sessions_count; ++i) {
        EXPECT_NE(s->sessions[i]->send(passive_order(i + 1)), 0U);
        EXPECT_FALSE(co_await s->sessions[i]->flush());
    }
    for (std::uint32_t i = 0; s->failed == 0 && i < sessions_count; ++i) s->sessions[i]->abandon();
    const std::uint32_t before = s->bystander_answers;
    io::task_scope returning(*context);
    for (std::uint32_t i = 0; s->failed == 0 && i < sessions_count; ++i) returning.spawn(come_back(s, i));
    co_await returning.join();
    EXPECT_GT(s->bystander_answers, before) << "who trades goes on trading";
    s->over = true;
    co_await trading.join();
    for (auto& session : s->sessions) {
        if (session != nullptr) session->abandon();
    }
    s->exchange->close();
    co_await serving.join();
}

TEST(reconnect_storm, a_thousand_sessions_come_back_at_once_and_miss_nothing) {
    io::context context;
    node::configuration c = testing::small_venue();
    c.accounts[0].sessions_count = sessions_count;
    node::testing::started_venue exchange(context, c);
    storm s;
    s.exchange = &exchange;
    io::block_on(context, run_storm(&context, &s));
    EXPECT_EQ(s.failed, 0U);
    EXPECT_EQ(s.answered, sessions_count);
    EXPECT_EQ(exchange.gateway_statistics().requests, sessions_count + s.bystander_answers);
    EXPECT_EQ(exchange.gateway_statistics().session_rejects, 0U);
}

}  // namespace
}  // namespace corro
