// SPDX-License-Identifier: Apache-2.0
// A divided venue in processes of its own: facility, gateway and distributor, of which facility and gateway are killed
// repeatedly under load (D1, S2). Nothing acknowledged is lost, nothing happens twice, no request stays in doubt, and
// every session keeps its one sequence of answers.
//
// CORRO_SEED sets the seed.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/feed_session.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "roles_venue_fixture.hpp"
#include "survivors_fixture.hpp"

namespace corro {
namespace {

using testing::market;
using testing::survivor;
using venue = testing::roles_venue;

/// Reconnects after every lost connection while the market is open.
io::task<void> keep_trading(market* m, std::uint32_t index, const venue* v, const bool* over) {
    while (!*over && m->failure.empty()) {
        co_await testing::trade(m, index, v->order_entry(index));
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    }
}

std::uint64_t answered(const market& m) {
    std::uint64_t count = 0;
    for (const survivor& s : m.traders) {
        if (s.trader != nullptr) count += s.trader->statistics().requests - s.outstanding.size();
    }
    return count;
}

io::task<void> wait_for_progress(market* m) {
    const std::uint64_t before = answered(*m);
    for (int i = 0; i < 30'000 && answered(*m) < before + 200 && m->failure.empty(); ++i) {
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    }
    if (answered(*m) < before + 200) m->fail("trading does not go on");
    static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(m->random.below(20'000))));
}

io::task<void> kill_under_load(market* m, venue* v, int rounds) {
    bool over = false;
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(keep_trading(m, i, v, &over));
    for (int i = 0; i < rounds && m->failure.empty(); ++i) {
        co_await wait_for_progress(m);
        if (m->random.below(2) == 0) {
            v->facility->kill();
            if (v->start_facility().state_hash == 0) m->fail("the facility does not start");
        } else {
            const std::uint64_t which = m->random.below(v->gateways.size());
            v->gateways[which]->kill();
            v->start_gateway(which);
        }
    }
    co_await wait_for_progress(m);
    over = true;
    m->stopping = true;
    co_await clients.join();
}

class roles_of_partitions : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, roles_of_partitions,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST_P(roles_of_partitions, may_be_killed_under_load_and_nothing_is_lost_or_done_twice) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder directory;
    venue v(directory.path(), testing::link_name(), {""}, GetParam());
    v.divide();
    v.start();
    market m(seed);
    m.may_lose_requests = true;
    io::block_on(m.context, kill_under_load(&m, &v, 10));
    ASSERT_EQ(m.failure, "");
    std::vector<io::endpoint> snapshots;
    for (const auto& p : v.at_facility.partitions) snapshots.push_back(*io::endpoint::parse(p.snapshot_listen));
    io::block_on(m.context, testing::settle_partitions(&m, &v, snapshots));
    ASSERT_EQ(m.failure, "");
    std::uint64_t requests_count = 0;
    for (survivor& s : m.traders) {
        EXPECT_TRUE(s.outstanding.empty()) << "a request is in doubt";
        requests_count += s.trader->statistics().requests;
        s.session->abandon();
    }
    v.gateways[0]->kill();
    const testing::report last = v.facility->close();
    EXPECT_EQ(last.commands_count, requests_count)
        << "every request, or the reject of a lost one, is in one journal once";
    const testing::report again = v.start_facility();
    EXPECT_EQ(again.commands_count, last.commands_count);
    EXPECT_EQ(again.state_hash, last.state_hash);
}

/// Logs on and enters an order that rests.
io::task<void> rest_an_order(const venue* v, std::uint32_t account, std::uint32_t instrument, bool cancels,
                             std::unique_ptr<client::order_session>* into) {
    client::credentials who = testing::who(account, 1);
    who.cancel_on_disconnect = cancels;
    auto session = co_await client::order_session::log_on(v->order_entry(account - 1), who);
    CORRO_REQUIRE(session);
    *into = std::move(*session);
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.instrument = domain::instrument_id{instrument};
    order.order_terms().time_in_force = domain::time_in_force::gtc;
    order.client_order = domain::client_order_id{instrument};
    order.enter_order().price = domain::price_ticks{9'000};
    order.enter_order().quantity = domain::quantity_lots{5};
    CORRO_REQUIRE((*into)->send(order) != 0);
    const auto answer = co_await (*into)->next();
    CORRO_REQUIRE(answer);
    EXPECT_EQ(answer->event.kind, domain::event_kind::order_entered);
}

io::task<std::size_t> open_orders(const venue* v, std::uint32_t instrument) {
    const io::endpoint where = *io::endpoint::parse(v->at_facility.partitions[instrument - 1].snapshot_listen);
    const auto truth = co_await client::feed_session::fetch_snapshot(where);
    co_return truth ? truth->book(domain::instrument_id{instrument})->orders_count() : 99;
}

TEST_P(roles_of_partitions, S2_cancel_in_every_partition_when_a_gateway_dies_and_only_for_its_sessions) {
    const base::test_folder directory;
    venue v(directory.path(), testing::link_name(), {"north", "south"}, GetParam());
    v.divide();
    v.start();
    io::context context;
    std::unique_ptr<client::order_session> leaver;
    std::unique_ptr<client::order_session> stayer;
    io::block_on(context, rest_an_order(&v, 1, 2, true, &leaver));
    io::block_on(context, rest_an_order(&v, 2, 2, true, &stayer));
    EXPECT_EQ(io::block_on(context, open_orders(&v, 2)), 2U);
    v.gateways[0]->kill();
    v.start_gateway(0);  // served only after the cancels
    EXPECT_EQ(io::block_on(context, open_orders(&v, 2)), 1U) << "the session of the other gateway goes on";
    for (const auto& gateway : v.gateways) gateway->kill();
    EXPECT_EQ(v.facility->close().cancels_executed, 2U) << "one for each session";
    leaver->abandon();
    stayer->abandon();
}

}  // namespace
}  // namespace corro
