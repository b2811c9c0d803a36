// SPDX-License-Identifier: Apache-2.0
// A venue of partitions that starts when the request numbers of a session are used up. Its snapshot has a large number,
// as after four billion requests.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/configuration/configuration_fixture.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/nobody_fixture.hpp"
#include "node/recovery/partition_store.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro::node {
namespace {

using namespace std::chrono_literals;

configuration numbered_venue(const std::string& directory) {
    configuration c = testing::smallest_configuration();
    c.order_entry_listen = "127.0.0.1:0";
    c.journal_directory = directory + "/journal";
    testing::add_only_partition(c);
    return c;
}

domain::command request(domain::command_kind kind, std::uint32_t number, std::uint64_t arrival) {
    domain::command c;
    c.kind = kind;
    c.instrument = domain::instrument_id{1};
    c.session = domain::session_id{1};
    c.account = domain::account_id{1};
    c.client_order = domain::client_order_id{arrival};
    if (kind == domain::command_kind::enter_order) {
        c.enter_order().price = domain::price_ticks{10};
        c.enter_order().quantity = domain::quantity_lots{1};
        c.order_terms().time_in_force = domain::time_in_force::gtc;
    }
    c.set_request(number);
    c.set_arrival(arrival, 0);
    return c;
}

/// The last requests of the session, the last one a mass quote, so that two commands have its number.
io::task<void> use_numbers_up(io::context* context, matching_host* host, host_journal* journal,
                              std::vector<stored_partition>* store) {
    using domain::command_kind;
    io::task_scope journaling(*context);
    journaling.spawn(journal->run());
    domain::command c = request(command_kind::cancel_order, UINT32_MAX - 2, 1);
    EXPECT_TRUE(host->execute(c));
    while (host->released_count() != host->emitted_count()) {
        host->release();
        co_await io::yield();
    }
    const auto saved = co_await store_partitions(store, context, 1, 2);
    EXPECT_TRUE(saved);
    c = request(command_kind::enter_order, UINT32_MAX - 1, 2);
    EXPECT_TRUE(host->execute(c));
    for (std::uint64_t arrival = 3; arrival <= 4; ++arrival) {
        c = request(command_kind::enter_quote, UINT32_MAX, arrival);
        c.enter_quote().bid_price = domain::price_ticks{10};
        c.enter_quote().bid_quantity = domain::quantity_lots{1};
        c.enter_quote().ask_price = domain::price_ticks{20};
        c.enter_quote().ask_quantity = domain::quantity_lots{1};
        c.enter_quote().flags = arrival == 3 ? domain::quote_flag::more : std::uint8_t{0};
        EXPECT_TRUE(host->execute(c));
    }
    journal->close();
    co_await journaling.join();
}

void leave_journal(const configuration& own) {
    io::context context;
    const io::tick_clock clock;
    nobody sink;
    market_data::feed_publisher feed(market_data::feed_options(), own.instruments);
    gateway::answer_log answers(1);
    matching_host host(facility_options_of(own, io::default_platform()), own.instruments, clock, sink);
    host.throttle(throttle_options_of(own), 1);
    host_journal journal(context, context, own);
    io::block_on(context, journal.recover({&host, &answers, &feed}));
    journal::disk_storage files(context);
    std::vector<stored_partition> store;
    store.emplace_back(&files, own, venue_parts{&host, &answers, &feed}, journal.epoch(), 0);
    io::block_on(context, use_numbers_up(&context, &host, &journal, &store));
}

io::task<void> log_on_and_break_off(io::context* context, venue* venue) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    client::credentials who;
    who.account = domain::account_id{1};
    who.session_number = 1;
    who.key.fill(std::byte{1});
    who.cancel_on_disconnect = true;
    auto session = co_await client::order_session::log_on(venue->order_entry_endpoint(), who);
    CORRO_REQUIRE(session);
    EXPECT_EQ((*session)->next_request(), std::uint64_t{UINT32_MAX} + 1);
    EXPECT_TRUE((*session)->numbers_have_ended());
    EXPECT_EQ((*session)->send(request(domain::command_kind::enter_order, 0, 0)), 0U);
    EXPECT_EQ((*session)->not_accepted_count(), 0U);
    (*session)->abandon();
    while (venue->orders()->statistics().cancels_on_disconnect == 0 ||
           venue->at(0).host.state().open_orders_count() != 0) {
        const std::error_code stopped = co_await io::sleep_for(1ms);
        if (stopped) break;
    }
    venue->close();
    co_await serving.join();
}

TEST(request_numbers, S1_a_venue_of_partitions_starts_when_those_of_a_session_have_ended) {
    const base::test_folder directory;
    const configuration c = numbered_venue(directory.path());
    leave_journal(configuration_of_partition(c, 0));
    for (int start = 0; start != 2; ++start) {  // from the journal, then from the snapshot of the first start
        io::context context;
        testing::started_venue venue(context, c);
        EXPECT_EQ(venue.at(0).host.last_requests()[1], UINT32_MAX);
        EXPECT_EQ(venue.at(0).host.state().open_orders_count(), start == 0 ? 3U : 0U);
        io::block_on(context, log_on_and_break_off(&context, &venue));
    }
}

}  // namespace
}  // namespace corro::node
