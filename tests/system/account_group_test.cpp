// SPDX-License-Identifier: Apache-2.0
// A drop copy of a named group of accounts: it gets the messages of the members only, and cannot trade.

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

constexpr std::uint32_t copying_account = 9;

std::string key_text(std::uint32_t account) {
    std::string text;
    for (int i = 0; i < 32; ++i) text += "0" + std::to_string(account);
    return text;
}

/// Accounts 1 to 3. Account 9 copies the group of accounts 1 and 3.
node::configuration venue_with_a_group() {
    std::string text = R"([order_entry]
listen = "127.0.0.1:0"
[market_data]
feed_listen = "127.0.0.1:0"
snapshot_listen = "127.0.0.1:0"
feed_log_bytes = 1048576
[[instrument]]
id = 1
symbol = "ONE"
tick_size = "1"
[[account_group]]
name = "desk"
members = [1, 3]
)";
    for (const std::uint32_t id : {1U, 2U, 3U, copying_account}) {
        text += "[[account]]\nid = " + std::to_string(id) + "\nkey = \"" + key_text(id) + "\"\n";
        if (id == copying_account) text += "copies_of = \"desk\"\n";
    }
    return node::parse_configuration(text, "test.toml");
}

client::credentials who(std::uint32_t account) {
    client::credentials c;
    c.account = domain::account_id{account};
    c.key.fill(static_cast<std::byte>(account));
    c.heartbeat = std::chrono::milliseconds(30'000);
    return c;
}

domain::command order(std::uint64_t number) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{1};
    c.client_order = domain::client_order_id{number};
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{5};
    return c;
}

io::task<void> trade_beside_a_copy(io::context* context, node::venue* exchange) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    const io::endpoint venue = exchange->order_entry_endpoint();
    auto copy = co_await client::order_session::log_on(venue, who(copying_account));
    CORRO_REQUIRE(copy);
    for (const std::uint32_t account : {1U, 2U, 3U}) {
        auto trader = co_await client::order_session::log_on(venue, who(account));
        CORRO_REQUIRE(trader);
        CORRO_REQUIRE((*trader)->send(order(account)) != 0);
        const auto answer = co_await (*trader)->next();
        CORRO_REQUIRE(answer && !answer->reject);
        static_cast<void>(co_await (*trader)->log_out());
        if (account == 2) continue;
        const auto copied = co_await (*copy)->next();
        CORRO_REQUIRE(copied && !copied->reject);
        EXPECT_EQ(copied->event.order.account.value, account) << "nothing of account 2 comes between";
        EXPECT_EQ(copied->event.order.client_order.value, account);
    }
    CORRO_REQUIRE((*copy)->send(order(77)) != 0);
    while (true) {
        const auto refused = co_await (*copy)->next();
        CORRO_REQUIRE(refused);
        if (!refused->reject) {
            EXPECT_NE(refused->event.order.account.value, 2U);
            continue;
        }
        EXPECT_EQ(refused->reject->session_reject_reason, wire::session_reject_reason::unexpected_message);
        break;
    }
    (*copy)->abandon();
    exchange->close();
    co_await serving.join();
}

TEST(S8_account_group, is_heard_by_its_drop_copy_and_nobody_else_is) {
    io::context context;
    node::testing::started_venue exchange(context, venue_with_a_group());
    io::block_on(context, trade_beside_a_copy(&context, &exchange));
}

}  // namespace
}  // namespace corro
