// SPDX-License-Identifier: Apache-2.0
// Several gateways of one facility: their commands have one order, and each gets the answers of its own sessions. A
// gateway that is killed under load disturbs no other. Every request is answered once or was never accepted (D1, S2).

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_seed.hpp"
#include "io/testing/test_require.hpp"
#include "roles_venue_fixture.hpp"
#include "survivors_fixture.hpp"

namespace corro {
namespace {

using testing::link_name;
using testing::market;
using testing::open_orders;
using testing::report;
using testing::survivor;
using venue = testing::roles_venue;

constexpr std::size_t gateways_count = 2;

/// A market whose traders are assigned to the gateways in turn.
struct divided_market : market {
    using market::market;

    std::array<std::uint64_t, 4> outages{};  ///< of each trader
};

io::task<void> keep_trading(divided_market* m, std::uint32_t index, const venue* v, const bool* over) {
    while (!*over && m->failure.empty()) {
        co_await testing::trade(m, index, v->order_entry(index));
        if (!*over) ++m->outages[index];
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
    }
}

/// Waits until each trader of a gateway has more answers.
io::task<void> wait_for_progress(divided_market* m, std::size_t gateway) {
    const auto answered = [m](std::size_t i) {
        const survivor& s = m->traders[i];
        return s.trader == nullptr ? 0 : s.trader->statistics().requests - s.trader->outstanding_count();
    };
    for (std::size_t i = gateway; i < m->traders.size(); i += gateways_count) {
        const std::uint64_t before = answered(i);
        for (int k = 0; k < 30'000 && answered(i) < before + 100 && m->failure.empty(); ++k)
            static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(2)));
        if (answered(i) < before + 100) m->fail("trading does not go on at gateway " + std::to_string(gateway));
    }
    static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(m->random.below(10'000))));
}

/// The process that a round kills: a gateway by its number, or the facility.
enum class choice : std::uint8_t { first_gateway, anyone };

io::task<void> crash(divided_market* m, venue* v, int rounds, choice whom) {
    bool over = false;
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(keep_trading(m, i, v, &over));
    for (int i = 0; i < rounds && m->failure.empty(); ++i) {
        for (std::size_t k = 0; k < gateways_count; ++k) co_await wait_for_progress(m, k);
        const std::size_t dead = whom == choice::first_gateway ? 0 : m->random.below(gateways_count + 1);
        if (dead == gateways_count) {
            v->facility->kill();
            v->start_facility();
            continue;
        }
        v->gateways[dead]->kill();
        co_await wait_for_progress(m, 1 - dead);
        v->start_gateway(dead);
    }
    for (std::size_t k = 0; k < gateways_count; ++k) co_await wait_for_progress(m, k);
    over = true;
    m->stopping = true;
    co_await clients.join();
}

/// Checks that every request is in the journal once, and that all participants agree.
void compare(divided_market* m, venue* v) {
    ASSERT_EQ(m->failure, "");
    io::block_on(m->context, testing::settle<venue>(m, v));
    ASSERT_EQ(m->failure, "");
    std::uint64_t requests_count = 0;
    for (survivor& s : m->traders) {
        EXPECT_EQ(s.trader->outstanding_count(), 0U);
        requests_count += s.trader->statistics().requests;
        s.session->abandon();
    }
    m->feed->abandon();
    for (auto& gateway : v->gateways) gateway->kill();
    const report last = v->facility->close();
    EXPECT_EQ(last.commands_count, requests_count);
    const report again = v->start_facility();
    EXPECT_EQ(again.state_hash, last.state_hash);
}

/// Tests that run with the facility on one thread and on two.
class gateways_threading : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, gateways_threading,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST(gateways, one_is_killed_under_load_again_and_again_and_the_other_does_not_notice) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    v.start();
    divided_market m(seed);
    io::block_on(m.context, crash(&m, &v, 8, choice::first_gateway));
    EXPECT_GE(m.outages[0], 8U);
    EXPECT_GE(m.outages[2], 8U);
    EXPECT_EQ(m.outages[1], 0U) << "its gateway lived";
    EXPECT_EQ(m.outages[3], 0U) << "its gateway lived";
    compare(&m, &v);
}

TEST_P(gateways_threading, each_and_the_facility_may_be_killed_under_load_and_nothing_is_lost_or_done_twice) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"}, GetParam());
    v.start();
    divided_market m(seed);
    io::block_on(m.context, crash(&m, &v, 10, choice::anyone));
    compare(&m, &v);
}

/// Logs on with cancel on disconnect. Returns the error if that is refused.
io::task<std::error_code> come(io::endpoint where, std::uint32_t account, std::uint64_t next_answer,
                               std::unique_ptr<client::order_session>* into) {
    client::credentials who = testing::who(account, 1);
    who.cancel_on_disconnect = account != 3;  // a listening session has no orders
    who.next_answer = next_answer;
    auto logged_on = co_await client::order_session::log_on(where, who);
    if (!logged_on) co_return logged_on.error();
    *into = std::move(*logged_on);
    co_return std::error_code();
}

io::task<domain::event> next_event(client::order_session* session) {
    const auto answer = co_await session->next();
    co_return answer ? answer->event : domain::event();
}

io::task<domain::event> buy(client::order_session* session) {
    domain::command order;
    order.kind = domain::command_kind::enter_order;
    order.order_terms().type = domain::order_type::limit;
    order.order_terms().time_in_force = domain::time_in_force::gtc;
    order.instrument = domain::instrument_id{1};
    order.client_order = domain::client_order_id{1};
    order.order_terms().side = domain::side::buy;
    order.enter_order().price = domain::price_ticks{9'000};
    order.enter_order().quantity = domain::quantity_lots{5};
    static_cast<void>(session->send(order));
    static_cast<void>(co_await session->flush());
    co_return co_await next_event(session);
}

TEST(gateways, S2_the_facility_cancels_only_for_sessions_of_the_gateway_that_died) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    v.start();
    io::context context;
    std::array<std::unique_ptr<client::order_session>, 2> sessions;
    for (std::uint32_t i = 0; i < 2; ++i) {
        ASSERT_EQ(io::block_on(context, come(v.order_entry(i), 1 + i, 0, &sessions[i])), std::error_code());
        EXPECT_EQ(io::block_on(context, buy(sessions[i].get())).kind, domain::event_kind::order_entered);
    }
    EXPECT_EQ(io::block_on(context, open_orders(&v)), 2U);
    v.gateways[0]->kill();
    v.start_gateway(0);  // the facility serves it only after the cancels
    EXPECT_EQ(io::block_on(context, open_orders(&v)), 1U);
    EXPECT_EQ(io::block_on(context, buy(sessions[1].get())).kind, domain::event_kind::order_rejected)
        << "the number of an order that is still open";
    for (auto& gateway : v.gateways) gateway->kill();
    for (auto& session : sessions) session->abandon();
    EXPECT_EQ(v.facility->close().cancels_executed, 2U);
}

TEST(gateways, a_drop_copy_at_one_hears_what_is_told_at_another_also_what_it_missed) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    gateway::account copying = v.at_facility.accounts[1];
    copying.id = domain::account_id{3};
    copying.key.fill(std::byte{3});
    copying.copies_of = {domain::account_id{1}};
    v.at_facility.accounts.push_back(copying);
    for (node::configuration& each : v.at_gateways) each.accounts.push_back(copying);
    v.start();
    io::context context;
    std::unique_ptr<client::order_session> trader;
    std::unique_ptr<client::order_session> listener;
    ASSERT_EQ(io::block_on(context, come(v.order_entry(0), 1, 0, &trader)), std::error_code());
    ASSERT_EQ(io::block_on(context, come(v.order_entry(1), 3, 0, &listener)), std::error_code());
    const domain::event told = io::block_on(context, buy(trader.get()));
    EXPECT_EQ(io::block_on(context, next_event(listener.get())).command, told.command);
    listener->abandon();
    v.gateways[1]->kill();
    EXPECT_EQ(io::block_on(context, buy(trader.get())).kind, domain::event_kind::order_rejected);
    v.start_gateway(1);
    ASSERT_EQ(io::block_on(context, come(v.order_entry(1), 3, 1, &listener)), std::error_code());
    EXPECT_EQ(io::block_on(context, next_event(listener.get())).command, told.command);
    EXPECT_EQ(io::block_on(context, next_event(listener.get())).kind, domain::event_kind::order_rejected);
    trader->abandon();
    listener->abandon();
}

TEST(gateways, each_knows_no_accounts_but_its_own) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    v.start();
    io::context context;
    std::unique_ptr<client::order_session> session;
    EXPECT_EQ(io::block_on(context, come(v.order_entry(0), 2, 0, &session)),
              client::logged_out(wire::logout_reason::authentication_failed));
    EXPECT_EQ(io::block_on(context, come(v.order_entry(1), 2, 0, &session)), std::error_code());
    session->abandon();
}

TEST(gateways, a_second_one_of_the_same_name_waits_until_the_first_has_gone) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    v.start();
    v.at_gateways[0].order_entry_listen = "127.0.0.1:0";
    const auto second = v.make_gateway(0);
    io::context context;
    std::unique_ptr<client::order_session> session;
    EXPECT_EQ(io::block_on(context, come(v.order_entry(1), 2, 0, &session)), std::error_code());
    session->abandon();
    v.gateways[0]->kill();
    v.at_gateways[0].order_entry_listen = testing::loopback(second->read().port);
    EXPECT_EQ(io::block_on(context, come(v.order_entry(0), 1, 0, &session)), std::error_code());
    session->abandon();
}

TEST(gateways, one_that_no_account_names_is_refused_by_name) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    v.start_facility();
    v.at_gateways[0].link_gateway = "nroth";
    io::context context;
    node::gateway_role gateway(context, v.at_gateways[0], nullptr);
    io::block_on(context, gateway.run());
    EXPECT_NE(gateway.failure().find("no account is served by a gateway named \"nroth\""), std::string::npos)
        << gateway.failure();
}

TEST(gateways, one_with_other_shares_is_refused) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    v.start_facility();
    v.at_gateways[0].accounts[1].gateway = "north";
    io::context context;
    node::gateway_role gateway(context, v.at_gateways[0], nullptr);
    io::block_on(context, gateway.run());
    EXPECT_NE(gateway.failure().find("have different accounts"), std::string::npos) << gateway.failure();
}

TEST(gateways, one_with_another_key_of_an_account_is_refused) {
    const base::test_folder directory;
    venue v(directory.path(), link_name(), {"north", "south"});
    v.start_facility();
    v.at_gateways[0].accounts[1].key[0] ^= std::byte{1};
    io::context context;
    node::gateway_role gateway(context, v.at_gateways[0], nullptr);
    io::block_on(context, gateway.run());
    EXPECT_NE(gateway.failure().find("have different keys"), std::string::npos) << gateway.failure();
}

// --- A facility on an older copy of the journal ----------------------------------------------------------------------

/// A gateway of this process. Counts its links and collects its reports.
struct watched_gateway {
    watched_gateway(io::context& context, const node::configuration& c)
        : role(
              context, c, [this](io::endpoint) { ++links; },
              [this](const std::string& what) { problems.push_back(what); }) {}

    int links = 0;
    std::vector<std::string> problems;
    node::gateway_role role;
};

/// Waits until the gateway has this number of links, or of reports.
io::task<void> wait_for(const watched_gateway* g, int links, std::size_t problems) {
    for (int i = 0; i < 2'000 && (g->links < links || g->problems.size() < problems); ++i)
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(5)));
}

io::task<void> meet_others(io::context* context, venue* v, std::string copy) {
    watched_gateway g(*context, v->at_gateways[0]);
    io::task_scope running(*context);
    running.spawn(g.role.run());
    v->start_facility();  // epoch 2
    co_await wait_for(&g, 1, 0);
    EXPECT_EQ(g.links, 1);
    v->facility->kill();
    const std::string own = std::exchange(v->at_facility.journal_directory, copy);
    v->start_facility();  // epoch 2 of the copy
    co_await wait_for(&g, 1, 1);
    v->facility->kill();
    v->at_facility.journal_directory = copy + ".new";
    v->start_facility();
    co_await wait_for(&g, 1, 2);
    EXPECT_EQ(g.links, 1) << "neither is the facility that the gateway knows";
    v->facility->kill();
    v->at_facility.journal_directory = own;
    v->start_facility();  // epoch 3
    co_await wait_for(&g, 2, 0);
    EXPECT_EQ(g.links, 2);
    CORRO_REQUIRE(g.problems.size() == 2);
    EXPECT_NE(g.problems[0].find("an older copy of the journal"), std::string::npos) << g.problems[0];
    EXPECT_NE(g.problems[1].find("another journal"), std::string::npos) << g.problems[1];
    g.role.close();
    co_await running.join();
}

TEST(gateways, stay_away_from_a_facility_on_a_copy_of_the_journal) {
    const base::test_folder directory;
    venue v(directory.path(), link_name());
    v.start_facility();
    static_cast<void>(v.facility->close());
    const std::string copy = directory.path() + "/copy";
    std::filesystem::copy(v.at_facility.journal_directory, copy, std::filesystem::copy_options::recursive);
    io::context context;
    io::block_on(context, meet_others(&context, &v, copy));
}

}  // namespace
}  // namespace corro
