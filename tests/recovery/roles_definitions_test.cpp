// SPDX-License-Identifier: Apache-2.0
// Defines an instrument in a venue of several processes. Kills each of them; after its restart it has the instrument.

#include <gtest/gtest.h>

#include <memory>

#include "../system/definitions_fixture.hpp"
#include "base/test_folder.hpp"
#include "client/feed_session.hpp"
#include "domain/definition.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/testing/test_require.hpp"
#include "roles_venue_fixture.hpp"

namespace corro {
namespace {

using testing::ask;
using testing::log_on;
using testing::new_id;
using testing::opening;
using testing::session_pointer;

/// With an expiry of its own.
domain::command definition(std::uint32_t like) {
    domain::definition d = testing::definition_of(new_id, "NINE", domain::instrument_id{like});
    d.given = domain::definition_field::expiry;
    d.expiry = domain::time_ns{1'000};
    return domain::command_of(d);
}

io::task<void> define(const testing::roles_venue* venue, std::uint32_t like) {
    const session_pointer trader = co_await log_on(venue->order_entry(), 1);
    const session_pointer control = co_await log_on(venue->order_entry(), 2);
    CORRO_REQUIRE(trader != nullptr && control != nullptr);
    const domain::event done = co_await ask(control.get(), definition(like));
    EXPECT_EQ(done.kind, domain::event_kind::request_done);
    CORRO_REQUIRE(control->instruments().find(new_id) != nullptr);
    const domain::event opened = co_await ask(control.get(), opening(new_id));
    EXPECT_EQ(opened.kind, domain::event_kind::request_done);
    domain::command query;
    query.kind = domain::command_kind::query_order;
    query.query_order().flags = domain::query_flag::all_of_session;
    const domain::event none = co_await ask(trader.get(), query);
    EXPECT_EQ(none.kind, domain::event_kind::request_done);
    CORRO_REQUIRE(trader->instruments().find(new_id) != nullptr);
    EXPECT_EQ(trader->instruments().find(new_id)->expiry.value, 1'000);
    trader->abandon();
    control->abandon();
}

/// A new session has the instrument and trades in it. A new subscriber of the feed has it too.
io::task<void> trade(const testing::roles_venue* venue, std::int64_t price) {
    const session_pointer trader = co_await log_on(venue->order_entry(), 1);
    CORRO_REQUIRE(trader != nullptr);
    CORRO_REQUIRE(trader->instruments().find(new_id) != nullptr);
    const domain::event entered =
        co_await ask(trader.get(), testing::order(new_id, domain::side::buy, price, static_cast<std::uint64_t>(price)));
    EXPECT_EQ(entered.kind, domain::event_kind::order_entered);
    trader->abandon();
    for (int attempt = 0; attempt != 500; ++attempt) {
        const auto books = co_await client::feed_session::fetch_snapshot(venue->snapshots());
        if (books && books->book(new_id) != nullptr && books->book(new_id)->top().bid_price.value == price) co_return;
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(20));
        if (stopped) break;
    }
    ADD_FAILURE() << "the feed does not show the order at " << price;
}

/// @param like  The instrument that the new one is like.
void define_and_kill_each_process(testing::roles_venue& venue, std::uint32_t like) {
    for (node::configuration* c : venue.all_configurations()) {
        c->instruments_reserved = 1;
        c->accounts[1].is_operator = true;
    }
    venue.start();
    io::context context;
    io::block_on(context, define(&venue, like));
    io::block_on(context, trade(&venue, 100));
    venue.gateways[0]->kill();
    venue.start_gateway();
    io::block_on(context, trade(&venue, 101));
    venue.distributor->kill();
    venue.start_distributor();
    io::block_on(context, trade(&venue, 102));
    venue.facility->kill();
    venue.start_facility();
    venue.distributor->kill();
    venue.start_distributor();
    io::block_on(context, trade(&venue, 103));
    const testing::report last = venue.facility->close();
    EXPECT_NE(last.state_hash, 0U);
    EXPECT_EQ(venue.start_facility().state_hash, last.state_hash) << "from the snapshots";
}

class roles_definitions : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(threads, roles_definitions,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& mode) { return testing::name_of(mode.param); });

TEST_P(roles_definitions, survive_the_death_of_each_process) {
    const base::test_folder folder;
    testing::roles_venue venue(folder.path(), testing::link_name(), {""}, GetParam());
    define_and_kill_each_process(venue, 1);
}

TEST_P(roles_definitions, survive_the_death_of_each_process_of_a_divided_venue) {
    const base::test_folder folder;
    testing::roles_venue venue(folder.path(), testing::link_name(), {""}, GetParam());
    venue.divide();
    define_and_kill_each_process(venue, 2);
}

}  // namespace
}  // namespace corro
