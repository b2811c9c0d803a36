// SPDX-License-Identifier: Apache-2.0
// N6: no account exceeds the limit of open orders, in every composition of the venue.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>

#include "client/order_session.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/links/gateway_role.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

using domain::reject_reason;

node::configuration limited_venue() {
    node::configuration c = testing::small_venue();
    c.account_open_orders_max = 2;
    return c;
}

/// Enters three orders. Returns the reject reason of the third.
io::task<reject_reason> refusal_of_the_third(io::endpoint where) {
    auto session = co_await client::order_session::log_on(where, testing::who(1, 1));
    EXPECT_TRUE(session);
    reject_reason reason = reject_reason::none;
    for (std::uint64_t name = 1; session && name <= 3; ++name) {
        EXPECT_EQ(reason, reject_reason::none) << "order " << name - 1;
        domain::command c;
        c.kind = domain::command_kind::enter_order;
        c.instrument = domain::instrument_id{1};
        c.client_order = domain::client_order_id{name};
        c.enter_order().price = domain::price_ticks{100};
        c.enter_order().quantity = domain::quantity_lots{1};
        EXPECT_NE((*session)->send(c), 0U);
        const auto answer = co_await (*session)->next();
        EXPECT_TRUE(answer && !answer->reject);
        if (!answer || answer->reject) break;
        reason = answer->event.reason;
    }
    if (session) static_cast<void>(co_await (*session)->log_out());
    co_return reason;
}

template <class Exchange>
io::task<void> enter_beyond(io::context* context, Exchange* exchange) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    const reject_reason reason = co_await refusal_of_the_third(exchange->order_entry_endpoint());
    EXPECT_EQ(reason, reject_reason::open_orders_limit);
    exchange->close();
    co_await serving.join();
}

TEST(open_orders, N6_are_limited_in_an_exchange) {
    io::context context;
    node::testing::started_venue exchange(context, limited_venue());
    io::block_on(context, enter_beyond(&context, &exchange));
}

TEST(open_orders, N6_are_limited_in_every_partition) {
    node::configuration c = limited_venue();
    for (const domain::instrument& i : c.instruments) {
        node::partition_configuration s;
        s.name = std::string(i.name.view());
        s.instruments = {i.id};
        s.orders_max = c.orders_max;
        s.feed_listen = s.snapshot_listen = "127.0.0.1:0";
        c.partitions.push_back(s);
    }
    io::context context;
    node::testing::started_venue exchange(context, c);
    io::block_on(context, enter_beyond(&context, &exchange));
}

io::task<void> enter_beyond_at_a_gateway(io::context* context, node::venue* facility, const node::configuration* c) {
    io::endpoint where;
    io::manual_event is_open;
    node::gateway_role gateway(*context, *c, [&where, &is_open](io::endpoint opened) {
        where = opened;
        is_open.set();
    });
    io::task_scope serving(*context);
    serving.spawn(facility->run());
    serving.spawn(gateway.run());
    CORRO_REQUIRE(!co_await is_open.wait());
    const reject_reason reason = co_await refusal_of_the_third(where);
    EXPECT_EQ(reason, reject_reason::open_orders_limit);
    gateway.close();
    facility->close();
    co_await serving.join();
}

TEST(open_orders, N6_are_limited_by_a_facility_for_its_gateways) {
    node::configuration c = limited_venue();
    c.link_secret.fill(std::byte{0x5c});
    c.link_listen = c.link_connect = "@corro-open-orders-" + std::to_string(std::random_device{}());
    io::context context;
    node::testing::started_facility facility(context, c);
    io::block_on(context, enter_beyond_at_a_gateway(&context, &facility, &c));
}

}  // namespace
}  // namespace corro
