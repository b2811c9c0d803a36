// SPDX-License-Identifier: Apache-2.0
// An operator defines instruments while a divided venue runs: each belongs to the partition of the one that it is like,
// and ids and names are unique in the venue.

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../system/definitions_fixture.hpp"
#include "base/test_folder.hpp"
#include "client/feed_session.hpp"
#include "domain/definition.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "partitioned_venue_fixture.hpp"

namespace corro {
namespace {

using domain::reject_reason;
using testing::answer_to;
using testing::ask;
using testing::log_on;
using testing::new_id;
using testing::newer_id;
using testing::opening;
using testing::order;
using testing::session_pointer;

constexpr domain::instrument_id first{1};
constexpr domain::instrument_id second{2};
constexpr domain::instrument_id spread{4};
constexpr domain::instrument_id newest_id{11};

/// The first partition has the instruments 1 and 3 and the spread of them, the second one has 2.
node::configuration venue_of(node::threading_mode threading, const std::string& directory = {}) {
    node::configuration c = testing::two_partitions(threading, directory);
    c.instruments_reserved = 4;
    c.accounts[1].is_operator = true;
    domain::instrument third = c.instruments[0];
    third.id = domain::instrument_id{3};
    third.name = domain::symbol{"THREE"};
    domain::instrument both = third;
    both.id = spread;
    both.name = domain::symbol{"ONE-THREE"};
    both.kind = domain::instrument_kind::spread;
    both.price_low = domain::price_ticks{-1'000};
    both.price_high = domain::price_ticks{1'000};
    both.legs[0] = {first, 1, domain::side::buy};
    both.legs[1] = {third.id, 1, domain::side::sell};
    both.legs_count = 2;
    c.instruments.push_back(third);
    c.instruments.push_back(both);
    return c;
}

domain::command definition(domain::instrument_id id, const char* name, domain::instrument_id like) {
    return domain::command_of(testing::definition_of(id, name, like));
}

using script = std::function<io::task<void>(node::venue*)>;

io::task<void> live(io::context* context, node::venue* venue, const script* what) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    co_await (*what)(venue);
    venue->close();
    co_await serving.join();
}

/// One life of a venue. @return Its state at the end.
std::vector<std::uint64_t> live_once(const node::configuration& c, const std::vector<std::uint64_t>& before,
                                     const script& what) {
    io::context context;
    node::testing::started_venue venue(context, c);
    if (!before.empty()) {
        EXPECT_EQ(testing::venue_numbers(venue).all, before);
    }
    io::block_on(context, live(&context, &venue, &what));
    return testing::venue_numbers(venue).all;
}

class partitions_definitions : public ::testing::TestWithParam<node::threading_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, partitions_definitions,
                         ::testing::Values(node::threading_mode::inline_, node::threading_mode::split),
                         [](const auto& m) { return testing::name_of(m.param); });

/// Defines an instrument in the second partition; it trades, and only that partition's feed has it.
io::task<void> define_and_trade(node::venue* venue) {
    const session_pointer trader = co_await log_on(venue->order_entry_endpoint(), 1);
    const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
    CORRO_REQUIRE(trader != nullptr && control != nullptr);
    const domain::event refused = co_await ask(trader.get(), definition(new_id, "NINE", second));
    EXPECT_EQ(refused.reason, reject_reason::not_authorised);
    // The second request does not wait for the answer to the first.
    const std::uint32_t defining = control->send(definition(new_id, "NINE", second));
    const std::uint32_t another = control->send(definition(newer_id, "TEN", new_id));
    for (const std::uint32_t request : {defining, another}) {
        const domain::event done = co_await answer_to(control.get(), request);
        EXPECT_EQ(done.kind, domain::event_kind::request_done) << to_string(done.reason);
    }
    const domain::event open = co_await ask(control.get(), opening(new_id));
    EXPECT_EQ(open.kind, domain::event_kind::request_done) << to_string(open.reason);
    const domain::event entered = co_await ask(control.get(), order(new_id, domain::side::buy, 100, 1));
    EXPECT_EQ(entered.kind, domain::event_kind::order_entered);
    // The trader gets the definition before any later answer.
    const domain::event other = co_await ask(trader.get(), order(first, domain::side::buy, 100, 1));
    EXPECT_EQ(other.kind, domain::event_kind::order_entered);
    CORRO_REQUIRE(trader->instruments().find(new_id) != nullptr);
    const domain::event traded = co_await ask(trader.get(), order(new_id, domain::side::sell, 100, 2));
    EXPECT_EQ(traded.kind, domain::event_kind::order_executed);
    for (std::size_t k = 0; k < 2; ++k) {
        const auto books = co_await client::feed_session::fetch_snapshot(venue->at(k).feed.snapshot_endpoint());
        CORRO_REQUIRE(books);
        EXPECT_EQ(books->book(new_id) != nullptr, k == 1);
        if (k == 1) {
            EXPECT_EQ(books->book(new_id)->orders_count(), 0U) << "both orders have traded";
        }
    }
    trader->abandon();
    control->abandon();
}

/// A later life: the instrument exists, and its id and its name are taken in every partition.
io::task<void> go_on(node::venue* venue) {
    const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
    CORRO_REQUIRE(control != nullptr);
    CORRO_REQUIRE(control->instruments().find(new_id) != nullptr);
    const std::uint64_t name = venue->commands_count() + 100;
    const domain::event entered = co_await ask(control.get(), order(new_id, domain::side::sell, 101, name));
    EXPECT_EQ(entered.kind, domain::event_kind::order_entered);
    for (const domain::instrument_id like : {first, second, new_id}) {
        const domain::event taken = co_await ask(control.get(), definition(new_id, "OTHER", like));
        EXPECT_EQ(taken.reason, reject_reason::instrument_exists) << "like " << like.value;
        const domain::event named = co_await ask(control.get(), definition(domain::instrument_id{77}, "NINE", like));
        EXPECT_EQ(named.reason, reject_reason::name_taken) << "like " << like.value;
    }
    control->abandon();
}

io::task<void> define_another(node::venue* venue) {
    co_await go_on(venue);
    const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
    CORRO_REQUIRE(control != nullptr);
    const domain::event done = co_await ask(control.get(), definition(newest_id, "ELEVEN", newer_id));
    EXPECT_EQ(done.kind, domain::event_kind::request_done);
    const std::uint64_t before = venue->at(1).journal->snapshot_sequence();
    venue->write_snapshot();
    const domain::event opened = co_await ask(control.get(), opening(newest_id));
    EXPECT_EQ(opened.kind, domain::event_kind::request_done);
    for (int i = 0; i < 500 && venue->at(1).journal->snapshot_sequence() == before; ++i) {
        static_cast<void>(co_await io::sleep_for(std::chrono::milliseconds(10)));
    }
    control->abandon();
}

TEST_P(partitions_definitions, trade_and_remain_over_restarts) {
    const base::test_folder directory;
    const node::configuration c = venue_of(GetParam(), directory.path());
    std::vector<std::uint64_t> state = live_once(c, {}, define_and_trade);
    state = live_once(c, state, define_another);
    state = live_once(c, state, go_on);
    testing::remove_snapshots(c);
    state = live_once(c, state, go_on);
    static_cast<void>(live_once(c, state, go_on));
}

/// Definitions for both partitions that do not wait for each other's answers.
io::task<void> define_at_once(node::venue* venue) {
    const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
    CORRO_REQUIRE(control != nullptr);
    const auto send = [&](domain::instrument_id id, const char* name, domain::instrument_id like) {
        return control->send(definition(id, name, like));
    };
    const std::vector<std::pair<std::uint32_t, reject_reason>> expected{
        {send(new_id, "NINE", first), reject_reason::none},
        {send(new_id, "OTHER", second), reject_reason::instrument_exists},
        {send(newer_id, "NINE", second), reject_reason::name_taken},
        {send(newer_id, "has a blank", first), reject_reason::unsound_definition},
        {send(newer_id, "TEN", second), reject_reason::none},  // the id is free again
    };
    for (const auto& [request, reason] : expected) {
        const domain::event answer = co_await answer_to(control.get(), request);
        EXPECT_EQ(answer.reason, reason) << "request " << request;
    }
    control->abandon();
}

TEST_P(partitions_definitions, have_ids_and_names_that_are_unique_in_the_venue_also_when_sent_at_once) {
    const base::test_folder directory;
    const node::configuration c = venue_of(GetParam(), directory.path());
    const std::vector<std::uint64_t> state = live_once(c, {}, define_at_once);
    testing::remove_snapshots(c);
    static_cast<void>(live_once(c, state, [](node::venue* venue) -> io::task<void> {
        const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
        CORRO_REQUIRE(control != nullptr);
        EXPECT_NE(control->instruments().find(new_id), nullptr);
        EXPECT_NE(control->instruments().find(newer_id), nullptr);
        control->abandon();
    }));
}

/// The legs of a strategy are in its partition.
io::task<void> define_strategies(node::venue* venue) {
    const session_pointer control = co_await log_on(venue->order_entry_endpoint(), 2);
    CORRO_REQUIRE(control != nullptr);
    domain::definition d;
    d.id = new_id;
    d.like = spread;
    d.name = domain::symbol{"THREE-ONE"};
    d.given = domain::definition_field::legs;
    d.legs_count = 2;
    d.legs[0] = domain::instrument_id{3};
    d.legs[1] = second;
    const domain::event elsewhere = co_await ask(control.get(), domain::command_of(d));
    EXPECT_EQ(elsewhere.reason, reject_reason::unknown_leg);
    d.legs[1] = first;
    const domain::event done = co_await ask(control.get(), domain::command_of(d));
    EXPECT_EQ(done.kind, domain::event_kind::request_done) << to_string(done.reason);
    control->abandon();
}

TEST_P(partitions_definitions, have_no_legs_in_other_partitions) {
    static_cast<void>(live_once(venue_of(GetParam()), {}, define_strategies));
}

}  // namespace
}  // namespace corro
