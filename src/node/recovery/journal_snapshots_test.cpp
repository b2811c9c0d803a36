// SPDX-License-Identifier: Apache-2.0
#include "node/recovery/journal_snapshots.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>

#include "base/test_folder.hpp"
#include "gateway/answer_log.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "market_data/feed_publisher.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/nobody_fixture.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/matching_host.hpp"

namespace corro::node {
namespace {

configuration forgetful_venue(const std::string& directory) {
    configuration c;
    c.journal_directory = directory;
    c.durability = journal::durability::none;
    c.journal_segment_bytes = 64U * 1024;
    c.orders_max = 100;
    domain::instrument i;
    i.id = domain::instrument_id{1};
    i.name = domain::symbol{"ONE"};
    i.tick_size = domain::price_nano{1'000'000'000};
    i.price_high = domain::price_ticks{1'000};
    c.instruments.push_back(i);
    gateway::account a;
    a.id = domain::account_id{1};
    c.accounts.push_back(a);
    return c;
}

domain::command order() {
    domain::command c;
    c.kind = domain::command_kind::enter_order;
    c.instrument = domain::instrument_id{1};
    c.session = domain::session_id{1};
    c.account = domain::account_id{1};
    c.enter_order().price = domain::price_ticks{10};
    c.enter_order().quantity = domain::quantity_lots{1};
    return c;
}

/// Runs the journal until the moment is ready, and then to its end.
io::task<void> write_until_ready(io::context* context, host_journal* journal, journal_snapshots* snapshots) {
    io::task_scope journaling(*context);
    journaling.spawn(journal->run());
    while (snapshots->look_at_moment() != moment_state::ready) co_await io::yield();
    EXPECT_EQ(journal->writer().written_sequence(), 3U);
    journal->close();
    co_await journaling.join();
}

TEST(journal_snapshots, wait_in_mode_none_until_what_counts_as_durable_is_written) {
    const base::test_folder directory;
    const configuration c = forgetful_venue(directory.path() + "/journal");
    io::context context;
    const io::tick_clock clock;
    nobody sink;
    market_data::feed_publisher feed(market_data::feed_options(), c.instruments);
    gateway::answer_log answers(1);
    matching_host host(facility_options_of(c, io::default_platform()), c.instruments, clock, sink);
    host.throttle(throttle_options_of(c), 1);
    host_journal journal(context, context, c);
    io::block_on(context, journal.recover({&host, &answers, &feed}));
    for (int i = 0; i < 3; ++i) {
        domain::command command = order();
        ASSERT_TRUE(host.execute(command));
    }
    journal_snapshots snapshots(c, journal);
    EXPECT_EQ(snapshots.durable_count(), 3U);
    EXPECT_EQ(snapshots.saved_count(), 0U);
    snapshots.choose_moment();
    EXPECT_EQ(snapshots.look_at_moment(), moment_state::coming) << "nobody writes yet";
    io::block_on(context, write_until_ready(&context, &journal, &snapshots));
    const std::atomic<bool> stopping{false};
    const snapshot_outcome made = io::block_on(context, snapshots.make(&stopping));
    EXPECT_TRUE(made.is_new) << made.problem;
    EXPECT_EQ(made.commands, 3U);
    snapshots.note_made();
    EXPECT_EQ(snapshots.saved_count(), 3U);
    EXPECT_FALSE(io::block_on(context, snapshots.make(&stopping)).is_new) << "nothing has happened since";
}

}  // namespace
}  // namespace corro::node
