// SPDX-License-Identifier: Apache-2.0
// Facility, gateway and distributor in separate processes, each killed repeatedly under load. Every request is answered
// once or was never accepted, sessions keep their numbers, and books agree (D1, S2).

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>

#include "base/test_seed.hpp"
#include "roles_venue_fixture.hpp"
#include "survivors_fixture.hpp"

namespace corro {
namespace {

using testing::market;
using testing::survivor;

using testing::link_name;
using testing::open_orders;
using testing::report;
using venue = testing::roles_venue;

/// Reconnects after every lost connection while the market is open.
io::task<void> keep_trading(market* m, std::uint32_t index, const venue* v, const bool* over) {
    while (!*over && m->failure.empty()) {
        co_await testing::trade(m, index, v->order_entry());
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    }
}

io::task<void> wait_for_progress(market* m) {
    const auto answered = [m] {
        std::uint64_t count = 0;
        for (const survivor& s : m->traders)
            count += s.trader == nullptr ? 0 : s.trader->statistics().requests - s.trader->outstanding_count();
        return count;
    };
    const std::uint64_t before = answered();
    for (int i = 0; i < 30'000 && answered() < before + 200 && m->failure.empty(); ++i)
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    if (answered() < before + 200) m->fail("trading does not go on");
    static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(m->random.below(20'000))));
}

/// Kills one role after the other while all clients trade.
io::task<void> crash_roles(market* m, venue* v, int rounds) {
    bool over = false;
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(keep_trading(m, i, v, &over));
    for (int i = 0; i < rounds && m->failure.empty(); ++i) {
        co_await wait_for_progress(m);
        const std::uint64_t role = m->random.below(3);
        if (role == 0) {
            v->facility->kill();
            v->start_facility();
        } else if (role == 1) {
            v->gateways[0]->kill();
            v->start_gateway();
        } else {
            v->distributor->kill();
            v->start_distributor();
        }
    }
    co_await wait_for_progress(m);
    over = true;
    m->stopping = true;
    co_await clients.join();
}

/// Tests that run with the facility on one thread and on two.
class roles_threading : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, roles_threading,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST_P(roles_threading, each_may_be_killed_under_load_and_nothing_is_lost_or_done_twice) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {""}, GetParam());
    v.start();
    market m(seed);
    io::block_on(m.context, crash_roles(&m, &v, 12));
    ASSERT_EQ(m.failure, "");
    io::block_on(m.context, testing::settle(&m, &v));
    ASSERT_EQ(m.failure, "");
    std::uint64_t requests_count = 0;
    for (survivor& s : m.traders) {
        EXPECT_EQ(s.trader->outstanding_count(), 0U);
        requests_count += s.trader->statistics().requests;
        s.session->abandon();
    }
    m.feed->abandon();
    v.gateways[0]->kill();
    const report last = v.facility->close();
    EXPECT_EQ(last.commands_count, requests_count) << "every request of the clients stands in the journal once";
    const auto is_snapshot = [](const auto& file) { return file.path().extension() == ".snapshot"; };
    EXPECT_EQ(std::ranges::count_if(std::filesystem::directory_iterator(v.at_facility.journal_directory), is_snapshot),
              1)
        << "it ended in order once";
    const report again = v.start_facility();
    EXPECT_EQ(again.commands_count, last.commands_count);
    EXPECT_EQ(again.state_hash, last.state_hash);
}

io::task<void> rest_an_order(const venue* v, std::uint32_t session, bool opted_in,
                             std::unique_ptr<client::order_session>* into) {
    client::credentials who = testing::who(1, session);
    who.cancel_on_disconnect = opted_in;
    auto logged_on = co_await client::order_session::log_on(v->order_entry(), who);
    if (!logged_on) co_return;
    *into = std::move(*logged_on);
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.order_terms().type = domain::order_type::limit;
    order.order_terms().time_in_force = domain::time_in_force::gtc;
    order.instrument = domain::instrument_id{1};
    order.client_order = domain::client_order_id{session};
    order.order_terms().side = domain::side::buy;
    order.enter_order().price = domain::price_ticks{9'000};
    order.enter_order().quantity = domain::quantity_lots{5};
    static_cast<void>((*into)->send(order));
    static_cast<void>(co_await (*into)->flush());
    while (true) {
        const auto answer = (*into)->poll();
        if (!answer || *answer) co_return;
        const std::error_code read = co_await (*into)->fill();
        if (read) co_return;
    }
}

TEST_P(roles_threading, S2_the_facility_cancels_for_sessions_that_asked_for_it_when_their_gateway_dies) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {""}, GetParam());
    v.start();
    io::context context;
    std::unique_ptr<client::order_session> leaver;
    std::unique_ptr<client::order_session> stayer;
    io::block_on(context, rest_an_order(&v, 1, true, &leaver));
    io::block_on(context, rest_an_order(&v, 2, false, &stayer));
    ASSERT_TRUE(leaver != nullptr && stayer != nullptr);
    EXPECT_EQ(io::block_on(context, open_orders(&v)), 2U);
    v.gateways[0]->kill();
    v.start_gateway();  // the facility serves it only after the cancels
    EXPECT_EQ(io::block_on(context, open_orders(&v)), 1U) << "the one that did not ask for it stays";
    leaver->abandon();
    stayer->abandon();
    v.gateways[0]->kill();
    EXPECT_EQ(v.facility->close().cancels_executed, 1U);
}

/// Waits until this number of orders is open, or until a long timeout.
io::task<void> await_open_orders(const venue* v, std::size_t wanted) {
    for (int i = 0; i < 600; ++i) {
        const std::size_t now = co_await open_orders(v);
        if (now == wanted) co_return;
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(50)));
    }
    ADD_FAILURE() << "never " << wanted << " open orders";
}

TEST(roles, N3_a_gateway_that_hangs_is_taken_for_dead_and_another_may_come) {
    const base::test_folder directory;
    venue v(directory.path(), link_name());
    v.start();
    io::context context;
    std::unique_ptr<client::order_session> leaver;
    io::block_on(context, rest_an_order(&v, 1, true, &leaver));
    ASSERT_TRUE(leaver != nullptr);
    v.gateways[0]->stop();
    io::block_on(context, await_open_orders(&v, 0));
    v.gateways[0]->kill();
    v.start_gateway();
    leaver->abandon();
    v.gateways[0]->kill();
    EXPECT_EQ(v.facility->close().cancels_executed, 1U) << "once";
}

io::task<std::error_code> how_it_ends(client::order_session* session) {
    while (true) {
        const auto answer = session->poll();
        if (!answer) co_return answer.error();
        const std::error_code read = co_await session->fill();
        if (read) co_return read;
    }
}

TEST(roles, N3_a_facility_that_hangs_is_noticed_and_its_sessions_are_told_goodbye) {
    const base::test_folder directory;
    venue v(directory.path(), link_name());
    v.start();
    io::context context;
    std::unique_ptr<client::order_session> session;
    io::block_on(context, rest_an_order(&v, 1, false, &session));
    ASSERT_TRUE(session != nullptr);
    v.facility->stop();
    EXPECT_EQ(io::block_on(context, how_it_ends(session.get())),
              client::logged_out(wire::logout_reason::shutting_down));
    v.facility->go_on();
    session->abandon();
    v.gateways[0]->kill();
    EXPECT_EQ(v.facility->close().commands_count, 1U);
}

TEST(roles, a_gateway_of_other_instruments_is_refused_by_name) {
    const base::test_folder directory;
    venue v(directory.path(), link_name());
    v.start_facility();
    node::configuration other = v.at_gateways[0];
    other.instruments.pop_back();
    io::context context;
    node::gateway_role gateway(context, other, nullptr);
    io::block_on(context, gateway.run());
    EXPECT_NE(gateway.failure().find("have different instruments"), std::string::npos) << gateway.failure();
}

}  // namespace
}  // namespace corro
