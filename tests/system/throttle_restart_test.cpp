// SPDX-License-Identifier: Apache-2.0
// The throttle's counts survive a restart, from a snapshot and from the journal alone. Clients learn the limit.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

/// One run of the venue: sends orders and counts those that the throttle refused.
io::task<void> send_orders(io::context* context, node::venue* exchange, std::uint64_t first, int count, int* refused) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, 1));
    CORRO_REQUIRE(session);
    for (int i = 0; i < count; ++i) {
        domain::command c;
        c.kind = domain::command_kind::enter_order;
        c.instrument = domain::instrument_id{1};
        c.client_order = domain::client_order_id{first + static_cast<std::uint64_t>(i)};
        c.enter_order().price = domain::price_ticks{100};
        c.enter_order().quantity = domain::quantity_lots{1};
        CORRO_REQUIRE((*session)->send(c) != 0);
        const auto answer = co_await (*session)->next();
        CORRO_REQUIRE(answer && !answer->reject);
        if (answer->event.reason == domain::reject_reason::throttled) ++*refused;
    }
    static_cast<void>(co_await (*session)->log_out());
    exchange->close();
    co_await serving.join();
}

class S5_throttle_counts : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(from, S5_throttle_counts, ::testing::Bool(),
                         [](const auto& m) { return m.param ? "a_snapshot" : "the_journal_alone"; });

TEST_P(S5_throttle_counts, go_on_after_a_restart) {
    const base::test_folder directory;
    node::configuration c = testing::small_venue();
    c.journal_directory = directory.path() + "/journal";
    c.requests_max = 10;
    c.requests_window = std::chrono::hours(1'000);  // it does not end during the test
    int refused = 0;
    {
        io::context context;
        node::testing::started_venue exchange(context, c);
        io::block_on(context, send_orders(&context, &exchange, 1, 7, &refused));
        EXPECT_EQ(refused, 0);
    }
    for (const auto& each : std::filesystem::directory_iterator(c.journal_directory)) {
        if (!GetParam() && each.path().extension() == ".snapshot") std::filesystem::remove(each.path());
    }
    io::context context;
    node::testing::started_venue exchange(context, c);
    EXPECT_EQ(exchange.journal()->snapshot_sequence() != 0, GetParam());
    io::block_on(context, send_orders(&context, &exchange, 101, 7, &refused));
    EXPECT_EQ(refused, 4) << "three of the ten were left";
}

/// The limits that a client learns at its logon.
struct limits_said {
    std::uint32_t requests_per_second_max = 77;
    std::uint32_t orders_max = 77;
};

io::task<void> read_the_limits(io::context* context, node::venue* exchange, limits_said* said) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    auto session = co_await client::order_session::log_on(exchange->order_entry_endpoint(), testing::who(1, 1));
    EXPECT_TRUE(session);
    if (session) {
        said->requests_per_second_max = (*session)->requests_per_second_max();
        said->orders_max = (*session)->orders_max();
        (*session)->abandon();
    }
    exchange->close();
    co_await serving.join();
}

limits_said limits_of(const node::configuration& c) {
    io::context context;
    node::testing::started_venue exchange(context, c);
    limits_said said;
    io::block_on(context, read_the_limits(&context, &exchange, &said));
    return said;
}

/// Returns the limit that clients learn, for a maximum number of requests in a window.
std::uint32_t limit_said(std::uint32_t requests_max, std::chrono::milliseconds window) {
    node::configuration c = testing::small_venue();
    c.requests_max = requests_max;
    c.requests_window = window;
    return limits_of(c).requests_per_second_max;
}

TEST(throttle, is_told_to_clients_as_requests_in_a_second) {
    EXPECT_EQ(limit_said(500, std::chrono::milliseconds(2'000)), 250U);
    EXPECT_EQ(limit_said(50, std::chrono::milliseconds(100)), 500U);
    EXPECT_EQ(limit_said(10, std::chrono::hours(1)), 1U) << "0 would mean that there is no limit";
    EXPECT_EQ(limit_said(0, std::chrono::milliseconds(1'000)), 0U) << "there is none";
}

TEST(limit_of_open_orders, is_told_to_clients) {
    node::configuration c = testing::small_venue();
    c.account_open_orders_max = 500;
    EXPECT_EQ(limits_of(c).orders_max, 500U);
    c.account_open_orders_max = 0;
    EXPECT_EQ(limits_of(c).orders_max, 0U) << "there is none";
}

}  // namespace
}  // namespace corro
