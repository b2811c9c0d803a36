// SPDX-License-Identifier: Apache-2.0
// An operator defines an instrument while the exchange runs: sessions, feed, snapshots and later runs have it.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/test_folder.hpp"
#include "client/feed_session.hpp"
#include "definitions_fixture.hpp"
#include "domain/definition.hpp"
#include "exchange_fixture.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro {
namespace {

using testing::ask;
using testing::log_on;
using testing::new_id;
using testing::newer_id;
using testing::opening;
using testing::order;
using testing::session_pointer;

node::configuration venue_of(const std::string& journal, node::threading_mode threading) {
    node::configuration c = testing::small_venue(threading);
    c.instruments_reserved = 2;
    c.journal_directory = journal;
    c.durability = journal::durability::group;
    c.journal_segment_bytes = 256U * 1024;
    c.accounts[1].is_operator = true;
    return c;
}

/// With a band of its own.
domain::command definition(domain::instrument_id id, const char* name, domain::instrument_id like) {
    domain::definition d = testing::definition_of(id, name, like);
    d.given = domain::definition_field::price_high;
    d.price_high = domain::price_nano{250'000'000'000};
    return domain::command_of(d);
}

io::task<void> define_and_trade(const node::venue* venue) {
    const session_pointer trader = co_await log_on(venue->order_entry_endpoint(), 1);
    const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
    CORRO_REQUIRE(trader != nullptr && control != nullptr);
    auto early = co_await client::feed_session::join(venue->feed_endpoint(), venue->snapshot_endpoint());
    CORRO_REQUIRE(early);

    const domain::event refused = co_await ask(trader.get(), definition(new_id, "NINE", domain::instrument_id{1}));
    EXPECT_EQ(refused.reason, domain::reject_reason::not_authorised);
    const domain::event done = co_await ask(control.get(), definition(new_id, "NINE", domain::instrument_id{1}));
    EXPECT_EQ(done.kind, domain::event_kind::request_done);
    CORRO_REQUIRE(control->instruments().find(new_id) != nullptr);
    const domain::event opened = co_await ask(control.get(), opening(new_id));
    EXPECT_EQ(opened.kind, domain::event_kind::request_done);
    // The trader gets the definition before any later answer.
    const domain::event other = co_await ask(trader.get(), order(domain::instrument_id{1}, domain::side::buy, 100, 1));
    EXPECT_EQ(other.kind, domain::event_kind::order_entered);
    const domain::instrument* known = trader->instruments().find(new_id);
    CORRO_REQUIRE(known != nullptr);
    EXPECT_EQ(known->name.view(), "NINE");
    EXPECT_EQ(known->price_high.value, 1'000);
    const domain::event entered = co_await ask(trader.get(), order(new_id, domain::side::buy, 100, 2));
    EXPECT_EQ(entered.kind, domain::event_kind::order_entered);

    const auto late = co_await client::feed_session::join(venue->feed_endpoint(), venue->snapshot_endpoint());
    CORRO_REQUIRE(late);
    CORRO_REQUIRE(co_await testing::read_up_to(early->get(), venue->feed_statistics().messages));
    for (const client::feed_session* feed : {early->get(), late->get()}) {
        CORRO_REQUIRE(feed->book(new_id) != nullptr);
        EXPECT_EQ(feed->instruments().find(new_id)->price_high.value, 1'000);
        EXPECT_EQ(feed->book(new_id)->orders_count(), 1U);
        EXPECT_EQ(feed->book(new_id)->digest(), venue->book(new_id)->digest());
    }
    (*early)->abandon();
    (*late)->abandon();
    trader->abandon();
    control->abandon();
}

/// A later run: the instrument exists, and another one like it can be defined.
io::task<void> go_on(const node::venue* venue, bool defines_another) {
    const session_pointer trader = co_await log_on(venue->order_entry_endpoint(), 1);
    const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
    CORRO_REQUIRE(trader != nullptr && control != nullptr);
    CORRO_REQUIRE(trader->instruments().find(new_id) != nullptr);
    const std::uint64_t name = venue->commands_count() + 3;
    const domain::event filled = co_await ask(control.get(), order(new_id, domain::side::sell, 101, name));
    EXPECT_EQ(filled.kind, domain::event_kind::order_entered);
    if (defines_another) {
        const domain::event done = co_await ask(control.get(), definition(newer_id, "TEN", new_id));
        EXPECT_EQ(done.kind, domain::event_kind::request_done);
        const domain::event full = co_await ask(control.get(), definition(domain::instrument_id{11}, "ELEVEN", new_id));
        EXPECT_EQ(full.reason, domain::reject_reason::instruments_full);
    }
    trader->abandon();
    control->abandon();
}

template <class Body>
io::task<void> live(io::context* context, node::venue* venue, Body body) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    co_await body(venue);
    venue->close();
    co_await serving.join();
}

/// One run of the venue; returns its state hash at the end.
template <class Body>
std::uint64_t live_once(const node::configuration& c, std::uint64_t hash_before, Body body) {
    io::context context;
    node::testing::started_venue venue(context, c);
    if (hash_before != 0) {
        EXPECT_EQ(venue.state_hash(), hash_before);
    }
    io::block_on(context, live(&context, &venue, body));
    return venue.state_hash();
}

void remove_newest_snapshot(const std::string& journal) {
    std::filesystem::path newest;
    for (const auto& each : std::filesystem::directory_iterator(journal)) {
        if (each.path().extension() == ".snapshot" && each.path() > newest) newest = each.path();
    }
    ASSERT_TRUE(std::filesystem::remove(newest));
}

class definitions : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, definitions,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

TEST_P(definitions, are_known_to_sessions_and_feed_and_after_restarts) {
    const base::test_folder folder;
    const node::configuration c = venue_of(folder.path() + "/journal", GetParam());
    std::uint64_t hash = live_once(c, 0, define_and_trade);
    // Starts from the last snapshot.
    hash = live_once(c, hash, [](const node::venue* venue) { return go_on(venue, true); });
    // Starts from the snapshot before that. The commands after it define an instrument like one in the snapshot.
    remove_newest_snapshot(c.journal_directory);
    hash = live_once(c, hash, [](const node::venue* venue) { return go_on(venue, false); });
    // Starts from the journal alone.
    for (int i = 0; i < 2; ++i) remove_newest_snapshot(c.journal_directory);
    static_cast<void>(live_once(c, hash, [](const node::venue* venue) { return go_on(venue, false); }));
}

}  // namespace
}  // namespace corro
