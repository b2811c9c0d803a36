// SPDX-License-Identifier: Apache-2.0
// client::order_entry against a running venue: orders in words, their answers, positions with a sign.

#include "client/order_entry.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "client/order_session.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

using client::limit_order;
using client::market_order;
using client::order_update;
using client::side;
using domain::reject_reason;
using kind = client::order_update::kind;

struct trader {
    std::unique_ptr<client::order_session> session;
    std::unique_ptr<client::order_entry> orders;
};

io::task<trader> log_on(io::endpoint where, std::uint32_t account) {
    auto session = co_await client::order_session::log_on(where, testing::who(account, 1));
    EXPECT_TRUE(session);
    trader t;
    t.session = std::move(*session);
    t.orders = std::make_unique<client::order_entry>(*t.session);
    co_return t;
}

// The next update about an order of this trader.
io::task<order_update> next(trader* of) {
    while (true) {
        static_cast<void>(co_await of->session->flush());
        const auto answer = co_await of->session->next();
        EXPECT_TRUE(answer);
        if (!answer) co_return order_update();
        const order_update update = of->orders->read(*answer);
        if (update.what != kind::other) co_return update;
    }
}

void expect(const order_update& is, kind what, std::uint64_t number, std::uint64_t units, std::uint64_t open,
            double price) {
    EXPECT_EQ(is.what, what);
    EXPECT_EQ(is.number, number);
    EXPECT_EQ(is.units, units);
    EXPECT_EQ(is.open, open);
    EXPECT_EQ(is.price, price);
    EXPECT_EQ(is.symbol, "ONE");
}

io::task<void> trade(io::endpoint where) {
    trader alice = co_await log_on(where, 1);
    trader bob = co_await log_on(where, 2);
    const auto bought = alice.orders->enter(limit_order{side::buy, "ONE", 10, 100.25});
    EXPECT_TRUE(bought);
    const order_update accepted = co_await next(&alice);
    expect(accepted, kind::accepted, *bought, 10, 10, 100.25);
    EXPECT_EQ(alice.orders->open_orders(), std::vector<client::order_number>{*bought});

    const auto sold = bob.orders->enter(market_order{side::sell, "ONE", 4});
    const order_update sale = co_await next(&bob);
    expect(sale, kind::filled, *sold, 4, 0, 100.25);
    EXPECT_EQ(bob.orders->position("ONE"), -4);
    EXPECT_TRUE(bob.orders->open_orders().empty());
    const order_update fill = co_await next(&alice);
    expect(fill, kind::filled, *bought, 4, 6, 100.25);
    EXPECT_EQ(fill.side, side::buy);
    EXPECT_EQ(alice.orders->position("ONE"), 4);
    EXPECT_EQ(alice.orders->position("TWO"), 0);

    EXPECT_EQ(alice.orders->amend(*bought, 8, 100.5), reject_reason::none);
    const order_update amended = co_await next(&alice);
    expect(amended, kind::amended, *bought, 4, 4, 100.5);
    EXPECT_EQ(alice.orders->cancel(*bought), reject_reason::none);
    const order_update cancelled = co_await next(&alice);
    expect(cancelled, kind::cancelled, *bought, 4, 0, 100.5);
    EXPECT_EQ(alice.orders->cancel(*bought), reject_reason::unknown_order);
    EXPECT_EQ(alice.orders->amend(*bought, 1, 100), reject_reason::unknown_order);

    // The band of the instrument ends at 5000; the venue refuses what is beyond it.
    const auto far = alice.orders->enter(limit_order{side::sell, "ONE", 1, 6000});
    EXPECT_TRUE(far);
    const order_update refused = co_await next(&alice);
    EXPECT_EQ(refused.what, kind::refused);
    EXPECT_EQ(refused.number, *far);
    EXPECT_EQ(refused.reason, reject_reason::price_outside_band);
    EXPECT_TRUE(alice.orders->open_orders().empty());

    // A refused change leaves its order open.
    const auto stays = alice.orders->enter(limit_order{side::buy, "ONE", 1, 100});
    static_cast<void>(co_await next(&alice));
    EXPECT_EQ(alice.orders->amend(*stays, 1, 6000), reject_reason::none);
    const order_update kept = co_await next(&alice);
    EXPECT_EQ(kept.what, kind::refused);
    EXPECT_EQ(alice.orders->open_orders(), std::vector<client::order_number>{*stays});
    static_cast<void>(co_await alice.session->log_out());
    static_cast<void>(co_await bob.session->log_out());
}

io::task<void> refuse_before_sending(io::endpoint where) {
    trader alice = co_await log_on(where, 1);
    const auto reason = [&alice](const limit_order& order) {
        const auto entered = alice.orders->enter(order);
        return entered ? reject_reason::none : entered.error();
    };
    EXPECT_EQ(reason({side::buy, "THREE", 1, 100}), reject_reason::unknown_instrument);
    EXPECT_EQ(reason({side::buy, "ONE", 0, 100}), reject_reason::invalid_quantity);
    EXPECT_EQ(reason({side::buy, "ONE", ~std::uint64_t{0}, 100}), reject_reason::invalid_quantity);
    EXPECT_EQ(reason({side::buy, "ONE", 1, 100.1}), reject_reason::price_off_tick);
    EXPECT_EQ(reason({side::buy, "ONE", 1, 1e300}), reject_reason::invalid_price);
    EXPECT_EQ(reason({side::buy, "ONE", 1, std::numeric_limits<double>::quiet_NaN()}), reject_reason::invalid_price);
    EXPECT_TRUE(alice.orders->open_orders().empty());
    EXPECT_FALSE(alice.session->has_output());
    static_cast<void>(co_await alice.session->log_out());
}

template <class Work>
io::task<void> at_a_venue(io::context* context, node::testing::started_venue* exchange, Work work) {
    io::task_scope serving(*context);
    serving.spawn(exchange->run());
    co_await work(exchange->order_entry_endpoint());
    exchange->close();
    co_await serving.join();
}

TEST(order_entry, trades_in_words_and_knows_its_orders_and_positions) {
    io::context context;
    node::testing::started_venue exchange(context, testing::small_venue());
    io::block_on(context, at_a_venue(&context, &exchange, trade));
}

TEST(order_entry, refuses_what_cannot_be_an_order_before_it_is_sent) {
    io::context context;
    node::testing::started_venue exchange(context, testing::small_venue());
    io::block_on(context, at_a_venue(&context, &exchange, refuse_before_sending));
}

}  // namespace
}  // namespace corro
