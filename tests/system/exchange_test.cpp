// SPDX-License-Identifier: Apache-2.0
// The whole exchange in one process: the view of traders and subscribers, and the end of the exchange.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "client/session_errors.hpp"
#include "client/trader.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

std::uint64_t seed() {
    const char* given = std::getenv("CORRO_SEED");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 7;
}

/// A trader's results, to compare two runs.
struct outcome {
    client::trader_statistics statistics;
    std::uint64_t state_hash = 0;
    std::uint64_t commands_count = 0;
    bool complete = false;
    bool books_equal = false;
};

io::task<void> trade_and_compare(io::context* context, node::venue* exchange, std::uint64_t with_seed, outcome* into) {
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, 1));
    if (!session) co_return;
    client::trader trader(client::trader_options(), testing::instruments_of(**session),
                          {domain::price_ticks{9'000}, domain::price_ticks{200}}, 1, with_seed);
    std::unique_ptr<client::feed_session> feed;
    for (int i = 0; i < 4'000; ++i) {
        if (i == 1'000) {  // join in the middle
            auto joined = co_await client::feed_session::join(exchange->feed_endpoint(), exchange->snapshot_endpoint());
            if (!joined) co_return;
            feed = std::move(*joined);
        }
        if ((*session)->send(trader.next_request()) == 0) co_return;
        bool answered = false;
        while (!answered) {
            const auto answer = co_await (*session)->next();
            if (!answer || answer->reject) co_return;
            answered = trader.on_event(answer->event);
        }
    }
    into->statistics = trader.statistics();
    // Everything that was answered is published. The subscriber reads up to the venue's last message.
    const std::uint64_t published = exchange->feed_statistics().messages;
    while (feed->next_sequence() <= published) {
        const auto event = feed->poll();
        if (!event) co_return;
        if (*event) continue;
        const std::error_code error = co_await feed->fill();
        if (error) co_return;
    }
    bool equal = true;
    for (const domain::instrument& i : testing::instruments_of(**session)) {
        const auto* ours = feed->book(i.id);
        const auto* venues = exchange->book(i.id);
        equal = equal && ours->digest() == venues->digest() && ours->orders_count() == venues->orders_count() &&
                ours->volumes().volume == venues->volumes().volume && ours->top().bid_price == venues->top().bid_price;
        for (const auto side : {domain::side::buy, domain::side::sell}) {
            for (const auto& level : venues->levels(side)) {
                const auto a = ours->orders_at(side, level.price);
                const auto b = venues->orders_at(side, level.price);
                equal = equal && a.size() == b.size();
                for (std::size_t k = 0; equal && k < a.size(); ++k) equal = a[k].order == b[k].order;
            }
        }
    }
    into->books_equal = equal;
    into->state_hash = exchange->state_hash();
    into->commands_count = exchange->commands_count();
    into->complete = true;
    static_cast<void>(co_await (*session)->log_out());
    feed->abandon();
    static_cast<void>(context);
}

io::task<void> run_with(io::context* context, node::venue* exchange, std::uint64_t with_seed, outcome* into) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    co_await trade_and_compare(context, exchange, with_seed, into);
    exchange->close();
    co_await serving.join();
}

outcome run_once(node::threading_mode threading, std::uint64_t with_seed) {
    io::context context;
    node::testing::started_venue exchange(context, testing::small_venue(threading));
    outcome result;
    io::block_on(context, run_with(&context, &exchange, with_seed, &result));
    return result;
}

/// The same behaviour is expected of an exchange on one thread and on two.
class exchange : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, exchange,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST_P(exchange, a_late_subscriber_ends_with_the_venues_books_in_priority_order) {
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed());
    const outcome o = run_once(GetParam(), seed());
    EXPECT_TRUE(o.complete);
    EXPECT_TRUE(o.books_equal);
    EXPECT_GT(o.statistics.fills, 100U);
    EXPECT_EQ(o.statistics.answered, o.statistics.requests);
}

TEST_P(exchange, the_same_requests_lead_to_the_same_state) {
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed());
    const outcome one = run_once(GetParam(), seed() + 1);
    const outcome two = run_once(GetParam(), seed() + 1);
    const outcome other = run_once(GetParam(), seed() + 2);
    ASSERT_TRUE(one.complete && two.complete && other.complete);
    EXPECT_EQ(one.state_hash, two.state_hash);
    EXPECT_EQ(one.commands_count, two.commands_count);
    EXPECT_NE(one.state_hash, other.state_hash) << "another seed, another market";
}

io::task<void> crowd(io::context* context, node::venue* exchange, bool* said_goodbye) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    auto polite = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, 1));
    auto deaf = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(2, 1));
    auto unauthenticated_connection = co_await io::tcp_stream::connect(*context, exchange->order_entry_endpoint());
    auto feed = co_await client::feed_session::join(exchange->feed_endpoint(), exchange->snapshot_endpoint());
    const bool all_there = polite && deaf && unauthenticated_connection && feed;
    exchange->close();
    if (all_there) {
        // The polite client reads until the venue's logout, past the cancels on disconnect. The deaf client and the
        // unauthenticated connection never read.
        auto last = co_await (*polite)->next();
        while (last) last = co_await (*polite)->next();
        *said_goodbye = last.error() == client::logged_out(wire::logout_reason::shutting_down);
        EXPECT_TRUE(*said_goodbye) << last.error().message();
    }
    co_await serving.join();
}

TEST(exchange_threading, does_not_change_the_state_that_the_same_requests_lead_to) {
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed());
    const outcome one = run_once(node::threading_mode::inline_, seed() + 3);
    const outcome two = run_once(node::threading_mode::split, seed() + 3);
    ASSERT_TRUE(one.complete && two.complete);
    EXPECT_EQ(one.state_hash, two.state_hash);
    EXPECT_EQ(one.commands_count, two.commands_count);
}

TEST_P(exchange, closes_with_open_sessions_silent_strangers_and_subscribers) {
    io::context context;
    node::testing::started_venue venue(context, testing::small_venue(GetParam()));
    bool said_goodbye = false;
    io::block_on(context, crowd(&context, &venue, &said_goodbye));
    EXPECT_TRUE(said_goodbye);
    EXPECT_EQ(venue.gateway_statistics().sessions_now, 0U);
    EXPECT_EQ(venue.gateway_statistics().connections_now, 0U);
    EXPECT_EQ(venue.feed_statistics().subscribers_now, 0U);
}

TEST_P(exchange, says_which_port_it_cannot_have) {
    io::context context;
    node::testing::started_venue first(context, testing::small_venue(GetParam()));
    node::configuration second = testing::small_venue(GetParam());
    second.feed_listen = first.feed_endpoint().to_string();
    try {
        node::testing::started_venue refused(context, second);
        FAIL() << "two exchanges on one port";
    } catch (const std::system_error& e) {
        EXPECT_NE(std::string(e.what()).find("market_data.feed_listen"), std::string::npos) << e.what();
    }
    second.feed_listen = "nowhere";
    EXPECT_THROW(node::testing::started_venue(context, second), node::configuration_error);
}

}  // namespace
}  // namespace corro
