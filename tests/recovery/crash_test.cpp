// SPDX-License-Identifier: Apache-2.0
// Kills the venue (kill -9) repeatedly at random moments under load. Nothing acknowledged is lost, nothing happens
// twice, sessions keep their numbers, and the feed has no gap (D1, D7, O1).
//
// CORRO_CRASHES sets the number of crashes, CORRO_SEED the first seed; tools/crash runs the long form.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "../system/venue_modes_fixture.hpp"
#include "base/test_seed.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "survivors_fixture.hpp"
#include "venue_process_fixture.hpp"

namespace corro {
namespace {

using testing::market;
using testing::survivor;
using testing::venue_process;

int crashes_wanted(int otherwise) {
    const char* given = std::getenv("CORRO_CRASHES");
    return given != nullptr ? std::atoi(given) : otherwise;
}

/// Trades with the venue and kills it after a while.
io::task<void> until_killed(market* m, venue_process* venue, int microseconds_max = 40'000) {
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(trade(m, i, venue->order_entry()));
    clients.spawn(follow(m, venue->feed(), venue->snapshots()));
    static_cast<void>(co_await io::sleep_for(
        std::chrono::microseconds(500 + m->random.below(static_cast<std::uint64_t>(microseconds_max)))));
    venue->kill();
    co_await clients.join();
}

node::configuration crash_venue(const std::string& directory, node::threading_mode threading,
                                journal::durability durability) {
    node::configuration c = testing::small_venue(threading);
    c.journal_directory = directory + "/journal";
    c.durability = durability;
    // So short that the space for the next segment is often not ready. No request is refused for that.
    c.journal_segment_bytes = 64U * 1024;
    return c;
}

class crash : public ::testing::TestWithParam<testing::venue_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, crash, ::testing::ValuesIn(testing::lasting_modes()), testing::name_of_mode());

/// Crashes a venue repeatedly and then compares the state of venue and clients.
void crash_and_recover(const node::configuration& c, int crashes, int microseconds_max) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    market m(seed);
    std::uint64_t commands_before = 0;
    for (int i = 0; i < crashes && m.failure.empty(); ++i) {
        venue_process venue(c);
        ASSERT_TRUE(venue.at_start().sound) << "after crash " << i;
        EXPECT_GE(venue.at_start().commands_count, commands_before);
        commands_before = venue.at_start().commands_count;
        io::block_on(m.context, until_killed(&m, &venue, microseconds_max));
        ASSERT_EQ(m.failure, "") << "after crash " << i;
    }
    venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    io::block_on(m.context, settle(&m, &venue));
    ASSERT_EQ(m.failure, "");
    std::uint64_t requests_count = 0;
    for (survivor& s : m.traders) {
        EXPECT_EQ(s.trader->outstanding_count(), 0U);
        requests_count += s.trader->statistics().requests;
        s.session->abandon();
    }
    m.feed->abandon();
    const venue_process::report last = venue.close();
    EXPECT_EQ(last.commands_count, requests_count) << "every request of the clients is in the journal once";
    for (const auto& each : std::filesystem::directory_iterator(c.journal_directory)) {
        if (each.path().extension() == ".snapshot") std::filesystem::remove(each.path());
    }
    venue_process reference(c);
    EXPECT_EQ(reference.at_start().commands_count, last.commands_count);
    EXPECT_EQ(reference.at_start().state_hash, last.state_hash) << "a replay ends where the venue ended";
    EXPECT_EQ(reference.at_start().feed_messages, last.feed_messages);
    std::printf("%d crashes, %llu commands, %llu feed messages\n", crashes,
                static_cast<unsigned long long>(last.commands_count),
                static_cast<unsigned long long>(last.feed_messages));
}

TEST_P(crash, loses_nothing_that_was_acknowledged_and_does_nothing_twice) {
    const base::test_folder directory;
    const node::configuration c = crash_venue(directory.path(), GetParam().threading, GetParam().durability);
    crash_and_recover(c, crashes_wanted(4), 40'000);
}

// The runs are so long, and snapshots so frequent, that most crashes happen during a snapshot.
TEST_P(crash, in_the_middle_of_a_snapshot_loses_nothing_either) {
    const base::test_folder directory;
    node::configuration c = crash_venue(directory.path(), GetParam().threading, GetParam().durability);
    c.snapshot_every = 20;
    crash_and_recover(c, crashes_wanted(4), 200'000);
}

// The control: the mode without durability loses commands, which shows that the test above notices losses.
TEST(crash_control, without_durability_something_acknowledged_is_lost_sooner_or_later) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    for (std::uint64_t attempt = 0; attempt < 200; ++attempt) {
        const base::test_folder directory;
        const node::configuration c =
            crash_venue(directory.path(), node::threading_mode::inline_, journal::durability::none);
        market m(seed + attempt);
        for (int i = 0; i < 2 && m.failure.empty(); ++i) {
            venue_process venue(c);
            ASSERT_TRUE(venue.at_start().sound);
            io::block_on(m.context, until_killed(&m, &venue));
        }
        // Clients notice a loss by an unknown number, by a request that does not fit the venue's state, or by a gap in
        // the feed.
        const bool noticed = m.lost || !m.failure.empty();
        for (survivor& s : m.traders) {
            if (s.session != nullptr) s.session->abandon();
        }
        if (m.feed != nullptr) m.feed->abandon();
        if (noticed) return;
    }
    FAIL() << "200 crashes lost nothing";
}

}  // namespace
}  // namespace corro
