// SPDX-License-Identifier: Apache-2.0
// Kills a venue of two partitions (kill -9) repeatedly under load (D1). Nothing acknowledged is lost, nothing happens
// twice, no request stays in doubt, and every session keeps its one sequence of answers.
//
// CORRO_CRASHES sets the number of crashes, CORRO_SEED the first seed.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "../system/venue_modes_fixture.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "base/test_seed.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "journal/segment_format.hpp"
#include "partitioned_venue_fixture.hpp"
#include "partitions_process_fixture.hpp"
#include "survivors_fixture.hpp"

namespace corro {
namespace {

using testing::two_partitions;

using report = testing::partitions_report;
using venue_process = testing::partitions_process;

using testing::market;
using testing::survivor;

io::task<void> until_killed(market* m, venue_process* venue, std::uint64_t microseconds_max) {
    io::task_scope clients(m->context);
    for (std::uint32_t i = 0; i < m->traders.size(); ++i) clients.spawn(testing::trade(m, i, venue->order_entry()));
    static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(500 + m->random.below(microseconds_max))));
    venue->kill();
    co_await clients.join();
}

class partitions_crash : public ::testing::TestWithParam<testing::venue_mode> {};
INSTANTIATE_TEST_SUITE_P(modes, partitions_crash, ::testing::ValuesIn(testing::lasting_modes()),
                         testing::name_of_mode());

void expect_the_same(const report& found, const report& expected) {
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(found.commands_count[k], expected.commands_count[k]);
        EXPECT_EQ(found.state_hash[k], expected.state_hash[k]) << "a replay ends where the venue ended";
        EXPECT_EQ(found.feed_messages[k], expected.feed_messages[k]);
    }
}

/// Checks that a killed venue can start from the second newest moment, if there is one.
void expect_start_from_the_moment_before(node::configuration c, const std::string& directory) {
    std::filesystem::remove_all(directory);
    std::filesystem::copy(c.journal_directory, directory, std::filesystem::copy_options::recursive);
    c.journal_directory = directory;
    std::set<std::filesystem::path> moments;
    for (const auto& each : std::filesystem::directory_iterator(directory + "/FIRST")) {
        if (each.path().extension() == ".snapshot") moments.insert(each.path());
    }
    if (moments.size() < 2) return;
    std::filesystem::remove(*moments.rbegin());
    EXPECT_TRUE(venue_process(c).at_start().sound) << "the older moment that is kept has its files too";
}

/// Crashes a venue repeatedly and then compares the state of venue and clients.
/// @param journal_is_whole  No file was removed, so a replay can start at the first command.
void crash_and_recover(const node::configuration& c, int crashes, std::uint64_t microseconds_max,
                       bool journal_is_whole) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    market m(seed);
    m.may_lose_requests = true;
    for (int i = 0; i < crashes && m.failure.empty(); ++i) {
        venue_process venue(c);
        ASSERT_TRUE(venue.at_start().sound) << "after crash " << i;
        io::block_on(m.context, until_killed(&m, &venue, microseconds_max));
        ASSERT_EQ(m.failure, "") << "after crash " << i;
        // A run without clients.
        if (i % 2 == 1) {
            venue_process alone(c);
            ASSERT_TRUE(alone.at_start().sound) << "after crash " << i;
            ::usleep(static_cast<useconds_t>(m.random.below(20'000)));
        }
        if (!journal_is_whole) expect_start_from_the_moment_before(c, c.journal_directory + ".before");
    }
    venue_process venue(c);
    ASSERT_TRUE(venue.at_start().sound);
    const auto snapshots = [&](std::size_t k) { return io::endpoint::loopback(venue.at_start().snapshot_port[k]); };
    io::block_on(m.context, testing::settle_partitions(&m, &venue, {snapshots(0), snapshots(1)}));
    ASSERT_EQ(m.failure, "");
    std::uint64_t requests_count = 0;
    for (survivor& s : m.traders) {
        EXPECT_TRUE(s.outstanding.empty()) << "a request is in doubt";
        requests_count += s.trader->statistics().requests;
        s.session->abandon();
    }
    const report last = venue.close();
    EXPECT_EQ(last.commands_count[0] + last.commands_count[1], requests_count)
        << "every request, or the refusal of a lost one, stands in one journal once";
    if (journal_is_whole) {
        EXPECT_GT(testing::remove_snapshots(c), 1U);
        expect_the_same(venue_process(c).at_start(), last);
    } else {
        // The number of runs that are long enough to remove files depends on the machine.
        const bool any_gone = !std::filesystem::exists(c.journal_directory + "/FIRST/" + journal::segment_name(1));
        std::printf("files of the journal were let go: %s\n", any_gone ? "yes" : "no");
        expect_the_same(venue_process(c).at_start(), last);
    }
    std::printf("%d crashes, %llu and %llu commands, %llu requests lost unacknowledged\n", crashes,
                static_cast<unsigned long long>(last.commands_count[0]),
                static_cast<unsigned long long>(last.commands_count[1]), static_cast<unsigned long long>(m.lost_count));
}

int crashes_wanted(int otherwise) {
    const char* given = std::getenv("CORRO_CRASHES");
    return given != nullptr ? std::atoi(given) : otherwise;
}

TEST_P(partitions_crash, loses_nothing_that_was_acknowledged_and_leaves_nothing_in_doubt) {
    const base::test_folder directory;
    const node::configuration c = two_partitions(GetParam().threading, directory.path(), GetParam().durability);
    crash_and_recover(c, crashes_wanted(6), 60'000, true);
}

// The runs are so long, and snapshots so frequent, that most crashes happen during a snapshot.
TEST_P(partitions_crash, in_the_middle_of_a_snapshot_loses_nothing_either) {
    const base::test_folder directory;
    node::configuration c = two_partitions(GetParam().threading, directory.path(), GetParam().durability);
    c.snapshot_every = 20;
    crash_and_recover(c, crashes_wanted(5), 300'000, true);
}

// The venue keeps so few snapshots and files that the test would notice a missing one.
TEST_P(partitions_crash, while_files_of_the_journals_go_loses_nothing_either) {
    const base::test_folder directory;
    node::configuration c = two_partitions(GetParam().threading, directory.path(), GetParam().durability);
    c.snapshot_every = 20;
    c.snapshots_kept = 2;
    c.journal_segment_bytes = 16U * 1024;
    c.journal_segments_kept = 0;
    crash_and_recover(c, crashes_wanted(5), 300'000, false);
}

}  // namespace
}  // namespace corro
