// SPDX-License-Identifier: Apache-2.0
// A venue of two partitions that died when the numbers of a session had been reset in one of them.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/test_folder.hpp"
#include "client/order_session.hpp"
#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/nobody_fixture.hpp"
#include "node/venue/venue_fixture.hpp"

namespace corro::node {
namespace {

configuration small(const std::string& directory) {
    configuration c;
    c.order_entry_listen = "127.0.0.1:0";
    c.journal_directory = directory + "/journal";
    c.orders_max = 100;
    gateway::account a;
    a.id = domain::account_id{1};
    a.key.fill(std::byte{1});
    c.accounts.push_back(a);
    for (std::uint32_t id = 1; id <= 2; ++id) {
        domain::instrument i;
        i.id = domain::instrument_id{id};
        i.name = domain::symbol{id == 1 ? "ONE" : "TWO"};
        i.tick_size = domain::price_nano{1'000'000'000};
        i.price_high = domain::price_ticks{20'000};
        c.instruments.push_back(i);
        partition_configuration s;
        s.name = id == 1 ? "FIRST" : "SECOND";
        s.instruments = {i.id};
        s.orders_max = 100;
        s.feed_listen = s.snapshot_listen = "127.0.0.1:0";
        c.partitions.push_back(s);
    }
    return c;
}

domain::command order(std::uint32_t instrument) {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{instrument};
    c.session = domain::session_id{1};
    c.account = domain::account_id{1};
    c.enter_order().price = domain::price_ticks{10};
    c.enter_order().quantity = domain::quantity_lots{1};
    c.order_terms().time_in_force = domain::time_in_force::gtc;
    return c;
}

/// A request with the given arrival.
domain::command request(std::uint32_t instrument, std::uint32_t number, std::uint64_t arrival) {
    domain::command c = order(instrument);
    c.set_request(number);
    c.set_arrival(arrival, 0);
    c.set_request_place(0, number - 1);
    return c;
}

domain::command reset(std::uint64_t arrival) {
    domain::command c;
    c.kind = domain::command_kind::reset_session_numbers;
    c.session = domain::session_id{1};
    c.account = domain::account_id{1};
    c.set_arrival(arrival, 2);
    return c;
}

io::task<void> execute(io::context* context, matching_host* host, host_journal* journal,
                       std::vector<domain::command> commands) {
    io::task_scope journaling(*context);
    journaling.spawn(journal->run());
    for (domain::command& c : commands) EXPECT_TRUE(host->execute(c));
    while (host->released_count() != host->emitted_count()) {
        host->release();
        co_await io::yield();
    }
    journal->close();
    co_await journaling.join();
}

void leave_journal(const configuration& own, const journal::venue_identity& birth,
                   std::vector<domain::command> commands) {
    io::context context;
    const io::tick_clock clock;
    nobody sink;
    market_data::feed_publisher feed(market_data::feed_options(), own.instruments);
    gateway::answer_log answers(1);
    matching_host host(facility_options_of(own, io::default_platform()), own.instruments, clock, sink);
    host.throttle(throttle_options_of(own), 1);
    host_journal journal(context, context, own);
    journal.share(birth, std::make_shared<journal::partition_board>());
    io::block_on(context, journal.recover({&host, &answers, &feed}));
    io::block_on(context, execute(&context, &host, &journal, std::move(commands)));
}

/// One run of the venue, with a client that enters an order of the new day in each partition, or without one.
io::task<void> live(io::context* context, venue* venue, bool has_client) {
    io::task_scope serving(*context);
    serving.spawn(venue->run());
    if (has_client) {
        client::credentials who;
        who.account = domain::account_id{1};
        who.key.fill(std::byte{1});
        who.cancel_on_disconnect = false;
        who.next_answer = 3;
        who.session_day = 1;
        auto session = co_await client::order_session::log_on(venue->order_entry_endpoint(), who);
        CORRO_REQUIRE(session);
        client::order_session& s = **session;
        EXPECT_TRUE(s.began_again());
        EXPECT_EQ(s.session_day(), 2U);
        EXPECT_EQ(s.next_request(), 1U);
        EXPECT_EQ(s.next_answer(), 1U);
        for (const std::uint32_t instrument : {1U, 2U}) {
            domain::command c = order(instrument);
            c.kind = domain::command_kind::cancel_order;
            c.cancel_order().target_request = instrument;
            EXPECT_NE(s.send(c), 0U);
            const auto answer = co_await s.next();
            CORRO_REQUIRE(answer && !answer->reject);
            EXPECT_EQ(answer->event.reason, domain::reject_reason::unknown_order) << "partition " << instrument;
        }
        s.abandon();
    }
    venue->close();
    co_await serving.join();
}

class half_a_reset : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(starts, half_a_reset, ::testing::Bool(),
                         [](const auto& p) { return p.param ? "with_a_snapshot_of_it" : "from_the_journals"; });

TEST_P(half_a_reset, S1_is_made_whole_before_the_session_is_used) {
    const base::test_folder directory;
    const configuration c = small(directory.path());
    const journal::venue_identity birth = make_venue_identity(io::default_platform());
    leave_journal(configuration_of_partition(c, 0), birth, {request(1, 1, 1), reset(3)});
    leave_journal(configuration_of_partition(c, 1), birth, {request(2, 2, 2)});
    // In the second case no session logs on in the first run, which leaves a snapshot.
    for (const bool has_client : GetParam() ? std::vector{false, true} : std::vector{true}) {
        io::context context;
        testing::started_venue venue(context, c);
        EXPECT_EQ(venue.at(0).host.last_requests()[1], 0U);
        EXPECT_EQ(venue.at(1).host.last_requests()[1], 2U);
        EXPECT_EQ(venue.orders()->answers().next_answer(domain::session_id{1}), 3U) << "it has not happened";
        EXPECT_TRUE(venue.orders()->answers().is_partly_reset(domain::session_id{1}));
        io::block_on(context, live(&context, &venue, has_client));
    }
    for (const bool has_snapshot : {true, false}) {
        if (!has_snapshot) {
            for (const char* partition : {"FIRST", "SECOND"}) {
                std::vector<std::filesystem::path> found;
                for (const auto& each : std::filesystem::directory_iterator(c.journal_directory + "/" + partition)) {
                    if (each.path().extension() == ".snapshot") found.push_back(each.path());
                }
                for (const auto& path : found) std::filesystem::remove(path);
            }
        }
        io::context context;
        testing::started_venue venue(context, c);
        const gateway::answer_log& answers = venue.orders()->answers();
        EXPECT_FALSE(answers.is_partly_reset(domain::session_id{1}));
        EXPECT_EQ(answers.days_count(domain::session_id{1}), 2U);
        EXPECT_EQ(answers.next_answer(domain::session_id{1}), 3U);
        EXPECT_EQ(answers.next_request(domain::session_id{1}), 3U);
        EXPECT_EQ(venue.at(0).host.state().open_orders_count() + venue.at(1).host.state().open_orders_count(), 2U);
        io::block_on(context, live(&context, &venue, false));
    }
}

}  // namespace
}  // namespace corro::node
