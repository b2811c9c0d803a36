// SPDX-License-Identifier: Apache-2.0
// A cancel on disconnect survives any crash of the venue. After the next start the venue executes it when the grace
// period is over and the session has not reconnected.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/testing/test_require.hpp"
#include "partitioned_venue_fixture.hpp"
#include "roles_venue_fixture.hpp"
#include "sim/host.hpp"
#include "sim/world.hpp"
#include "simulated_roles_fixture.hpp"
#include "venue_process_fixture.hpp"

namespace corro {
namespace {

using namespace std::chrono_literals;
using node::threading_mode;

/// The sessions of account 1, by their fate.
enum session : std::uint32_t {
    gone = 1,        ///< asked for the cancel and does not reconnect
    back = 2,        ///< asked for it and reconnects within the grace period
    back_plain = 3,  ///< asked for it and reconnects without asking again
    plain = 4,       ///< has not asked for it
    left = 5,        ///< asked for it and logged out before the end
    observer = 6,
};
constexpr std::uint32_t sessions_count = 6;
constexpr std::uint64_t staying = 100;  ///< added to the name of an order that stays

node::configuration with_sessions(node::configuration c) {
    c.accounts[0].sessions_count = sessions_count;
    c.cancel_grace = 4'000ms;
    return c;
}

using order_names = std::vector<std::uint64_t>;

/// Logs a session on. Retries while the venue does not run yet.
io::task<std::unique_ptr<client::order_session>> log_on(io::endpoint where, std::uint32_t number, bool asks) {
    client::credentials who = testing::who(1, number);
    who.cancel_on_disconnect = asks;
    for (int i = 0; i < 500; ++i) {
        auto session = co_await client::order_session::log_on(where, who);
        if (session) co_return std::move(*session);
        static_cast<void>(co_await io::sleep_for(20ms));
    }
    ADD_FAILURE() << "session " << number << " cannot log on";
    co_return nullptr;
}

io::task<void> enter(client::order_session* session, std::uint64_t name, std::uint32_t instrument, bool stays) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    c.instrument = domain::instrument_id{instrument};
    c.client_order = domain::client_order_id{name};
    c.enter_order().price = domain::price_ticks{100};
    c.enter_order().quantity = domain::quantity_lots{1};
    c.enter_order().flags = stays ? domain::order_flag::stays : std::uint8_t{0};
    CORRO_REQUIRE(session->send(c) != 0);
    const auto answer = co_await session->next();
    CORRO_REQUIRE(answer && !answer->reject && answer->event.kind == domain::event_kind::order_entered);
}

/// Every session enters an order in each instrument and one that stays. The last session logs out just before the end:
/// an acknowledged logout is in the journal.
io::task<void> enter_all(io::endpoint where, std::vector<std::unique_ptr<client::order_session>>* sessions) {
    for (const std::uint32_t number : {gone, back, back_plain, plain, left}) {
        auto session = co_await log_on(where, number, number != plain);
        CORRO_REQUIRE(session != nullptr);
        co_await enter(session.get(), number, 1, false);
        co_await enter(session.get(), number + 10, 2, false);
        co_await enter(session.get(), number + staying, 1, true);
        if (number == left) {
            static_cast<void>(co_await session->log_out());
        } else {
            sessions->push_back(std::move(session));
        }
    }
}

/// Returns the names of the account's open orders.
io::task<order_names> open_orders(client::order_session* session) {
    domain::command query;
    query.kind = domain::command_kind::query_order;
    query.query_order().flags = domain::query_flag::all_of_account;
    order_names names;
    const bool sent = session->send(query) != 0;
    EXPECT_TRUE(sent);
    while (true) {
        const auto answer = co_await session->next();
        EXPECT_TRUE(answer && !answer->reject);
        if (!answer || answer->event.kind != domain::event_kind::order_status) break;
        names.push_back(answer->event.order.client_order.value);
    }
    std::ranges::sort(names);
    co_return names;
}

/// The expected open orders after the cancel for the lost session.
order_names all_but_gone() {
    order_names names{gone + staying};
    for (const std::uint64_t n : {back, back_plain, plain, left}) names.insert(names.end(), {n, n + 10, n + staying});
    std::ranges::sort(names);
    return names;
}

/// After the restart two sessions reconnect. Waits until the lost session's orders are cancelled.
io::task<void> come_back_and_wait(io::endpoint where, std::vector<std::unique_ptr<client::order_session>>* sessions) {
    for (const std::uint32_t number : {back, back_plain}) {
        sessions->push_back(co_await log_on(where, number, number == back));
    }
    auto watching = co_await log_on(where, observer, false);
    CORRO_REQUIRE(watching != nullptr);
    order_names open = co_await open_orders(watching.get());
    EXPECT_EQ(open.size(), 15U) << "before the grace period is over, nothing is cancelled";
    for (int i = 0; i < 300 && open != all_but_gone(); ++i) {
        static_cast<void>(co_await io::sleep_for(50ms));
        open = co_await open_orders(watching.get());
    }
    EXPECT_EQ(open, all_but_gone());
    static_cast<void>(co_await watching->log_out());
}

/// The expected open orders after the cancel for the session that reconnected and asked again.
order_names all_but_gone_and_back() {
    order_names names = all_but_gone();
    std::erase(names, back);
    std::erase(names, back + 10);
    return names;
}

/// In the last run all sessions that want a cancel are disconnected.
io::task<void> wait_for_the_other(io::endpoint where) {
    auto watching = co_await log_on(where, observer, false);
    CORRO_REQUIRE(watching != nullptr);
    const order_names wanted = all_but_gone_and_back();
    order_names open = co_await open_orders(watching.get());
    EXPECT_EQ(open, all_but_gone());
    for (int i = 0; i < 300 && open != wanted; ++i) {
        static_cast<void>(co_await io::sleep_for(50ms));
        open = co_await open_orders(watching.get());
    }
    EXPECT_EQ(open, wanted) << "who came back and asked again was killed too";
    static_cast<void>(co_await watching->log_out());
}

io::task<void> wait_until_both_are_gone(io::endpoint where) {
    auto watching = co_await log_on(where, observer, false);
    CORRO_REQUIRE(watching != nullptr);
    order_names open = co_await open_orders(watching.get());
    for (int i = 0; i < 300 && open != all_but_gone_and_back(); ++i) {
        static_cast<void>(co_await io::sleep_for(50ms));
        open = co_await open_orders(watching.get());
    }
    EXPECT_EQ(open, all_but_gone_and_back());
    static_cast<void>(co_await watching->log_out());
}

/// After a restart no session reconnects: waits until the orders of those that asked for the cancel are cancelled.
io::task<void> wait_for_all(io::endpoint where) {
    auto watching = co_await log_on(where, observer, false);
    CORRO_REQUIRE(watching != nullptr);
    order_names wanted{gone + staying, back + staying, back_plain + staying};
    for (const std::uint64_t n : {plain, left}) wanted.insert(wanted.end(), {n, n + 10, n + staying});
    std::ranges::sort(wanted);
    order_names open = co_await open_orders(watching.get());
    while (open != wanted) {
        static_cast<void>(co_await io::sleep_for(50ms));
        open = co_await open_orders(watching.get());
    }
    static_cast<void>(co_await watching->log_out());
}

void forget(std::vector<std::unique_ptr<client::order_session>>& sessions) {
    for (const auto& each : sessions) {
        if (each != nullptr) each->abandon();
    }
    sessions.clear();
}

class disconnect_cancel : public ::testing::TestWithParam<threading_mode> {
 protected:
    /// A venue's configuration in a world, where time stands still while a thread polls.
    static node::configuration simulated(node::configuration c) {
        c.busy_poll = 0us;
        return c;
    }

    /// Two runs that are killed, and one that closes.
    void live_and_die(const node::configuration& c) {
        std::vector<std::unique_ptr<client::order_session>> sessions;
        {
            testing::simulated_venue venue(host, c);
            io::block_on(clients, enter_all(venue.order_entry(), &sessions));
            venue.kill();
            forget(sessions);
        }
        {
            // Dies before the grace period is over: the next run must execute the cancels.
            testing::simulated_venue venue(host, c);
            world.run_for(c.cancel_grace / 2);
            venue.kill();
        }
        {
            testing::simulated_venue venue(host, c);
            io::block_on(clients, come_back_and_wait(venue.order_entry(), &sessions));
            venue.kill();
            forget(sessions);
        }
        {
            // Closes before the grace period is over, with a snapshot.
            testing::simulated_venue venue(host, c);
            world.run_for(c.cancel_grace / 2);
            venue.close();
            EXPECT_EQ(venue.role().failure(), nullptr);
        }
        testing::simulated_venue venue(host, c);
        io::block_on(clients, wait_for_the_other(venue.order_entry()));
        venue.close();
        EXPECT_EQ(venue.role().failure(), nullptr);
    }

    /// Kills the facility's process, or all processes.
    void kill_roles(bool gateway_too) {
        testing::roles_venue v("roles", "@corro-in-a-world", {""}, GetParam());
        for (node::configuration* c : {&v.at_facility, &v.at_gateways[0]}) *c = simulated(with_sessions(std::move(*c)));
        const auto make_facility = [&] {
            return std::make_unique<testing::simulated_venue>(host, v.at_facility,
                                                              node::order_entry_place::over_gateways);
        };
        const auto make_gateway = [&] { return std::make_unique<testing::simulated_gateway>(host, v.at_gateways[0]); };
        std::vector<std::unique_ptr<client::order_session>> sessions;
        auto facility = make_facility();
        auto gateway = make_gateway();
        io::block_on(clients, enter_all(v.order_entry(), &sessions));
        facility->kill();
        if (gateway_too) gateway->kill();
        forget(sessions);
        facility = make_facility();
        if (gateway_too) gateway = make_gateway();
        io::block_on(clients, come_back_and_wait(v.order_entry(), &sessions));
        // Dies first: a gateway that sees its clients leave would cancel for them itself.
        gateway->kill();
        forget(sessions);
        // The facility could be asked to close before it notices the lost link. It has noticed when the orders are
        // cancelled.
        gateway = make_gateway();
        io::block_on(clients, wait_until_both_are_gone(v.order_entry()));
        gateway->kill();
        facility->close();
        EXPECT_EQ(facility->role().links()->cancels_executed(), 2U)
            << "once each: who has gone, and who lost the gateway";
    }

    sim::world world{base::test_seed()};
    sim::host& host = world.machine().on();
    io::context clients{io::context_options(world.machine())};
};
INSTANTIATE_TEST_SUITE_P(modes, disconnect_cancel, ::testing::Values(threading_mode::inline_, threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

TEST_P(disconnect_cancel, S2_is_carried_out_after_the_process_has_died) {
    node::configuration c = simulated(with_sessions(testing::small_venue(GetParam())));
    c.journal_directory = "journal";
    live_and_die(c);
}

TEST_P(disconnect_cancel, S2_is_carried_out_in_every_partition_after_the_process_has_died) {
    live_and_die(simulated(with_sessions(testing::two_partitions(GetParam(), "partitions"))));
}

TEST_P(disconnect_cancel, S2_is_carried_out_after_the_facility_has_died) {
    kill_roles(false);
}

TEST_P(disconnect_cancel, S2_is_carried_out_after_facility_and_gateway_have_died) {
    kill_roles(true);
}

/// The same with a process of the kernel, in the time of the wall clock.
TEST(disconnect_cancel_of_a_process, S2_is_carried_out_after_it_has_died) {
    const base::test_folder directory;
    node::configuration c = with_sessions(testing::small_venue(threading_mode::split));
    c.cancel_grace = 2'000ms;
    c.journal_directory = directory.path() + "/journal";
    std::vector<std::unique_ptr<client::order_session>> sessions;
    io::context context;
    {
        testing::venue_process venue(c);
        ASSERT_TRUE(venue.at_start().sound);
        io::block_on(context, enter_all(venue.order_entry(), &sessions));
        venue.kill();
        forget(sessions);
    }
    testing::venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    io::block_on(context, wait_for_all(venue.order_entry()));
    EXPECT_TRUE(venue.close().sound);
}

}  // namespace
}  // namespace corro
