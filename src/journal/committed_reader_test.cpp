// SPDX-License-Identifier: Apache-2.0
// Followers of a journal that is being written: every committed command once, none that is not.
#include "journal/committed_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "io/loop/context.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/test_require.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro::journal {
namespace {

constexpr durability modes[] = {durability::none, durability::async, durability::group, durability::each};

/// What a follower has got.
struct received {
    std::uint64_t first = 0;  ///< sequence number
    std::uint64_t next = 0;
    problem error;
    bool has_ended = false;
};

/// Follows a log from a sequence number to its end. A slow one lets many others run between its reads.
io::task<void> follow(commit_log* log, storage* files, std::uint64_t first, int slowness, received* into) {
    committed_reader commands(*log, files, "j", from(first));
    into->first = into->next = first;
    for (;;) {
        const auto some = co_await commands.next();
        if (!some) {
            into->error = some.error();
            co_return;
        }
        if (some->empty()) break;
        const std::uint64_t last = some->back().sequence.value;
        CORRO_REQUIRE(last <= log->durable_sequence() && last <= log->written_sequence());
        for (const domain::command& c : *some) CORRO_REQUIRE(is_command_at(c, into->next++));
        EXPECT_EQ(commands.position(), into->next);
        for (int i = 0; i < slowness; ++i) co_await io::yield();
    }
    into->has_ended = true;
}

/// Appends at random moments, so that batches have all sizes.
io::task<void> append_in_bursts(writer* log, std::uint64_t count, std::uint64_t seed) {
    base::prng random(seed);
    while (count != 0 && !log->failed()) {
        const std::uint64_t burst = std::min<std::uint64_t>(count, 1 + random.below(40));
        co_await append_commands(log, burst);
        count -= burst;
        for (std::uint64_t i = random.below(30); i != 0; --i) co_await io::yield();
    }
}

struct followed {
    std::uint64_t durable = 0;
    problem error;
    received all[4];
};

/// A log with followers: from the first command, from a later one, from one in the future, and a slow one.
/// @param fails_after  The call of the disk after the start that fails; 0 for none.
io::task<void> run(sim::disk* disk, durability mode, std::uint64_t count, std::uint64_t fails_after, followed* result) {
    auto log = co_await open_writer(disk, "j", small_options(mode));
    CORRO_REQUIRE(log.has_value());
    if (fails_after != 0) disk->faults().fails_at = disk->faults().calls_count + fails_after;
    io::context& on = co_await io::this_context();
    io::task_scope writing(on);
    writing.spawn((*log)->run());
    io::task_scope following(on);
    following.spawn(follow(log->get(), disk, 1, 0, &result->all[0]));
    following.spawn(follow(log->get(), disk, 37, 0, &result->all[1]));
    following.spawn(follow(log->get(), disk, count / 2, 3, &result->all[2]));
    following.spawn(follow(log->get(), disk, 1, 200, &result->all[3]));
    co_await append_in_bursts(log->get(), count, base::test_seed() + fails_after);
    (*log)->close();
    co_await writing.join();
    co_await following.join();
    result->durable = (*log)->committed_sequence();
    result->error = (*log)->error();
}

TEST(committed_reader, gets_every_committed_command_once_in_every_mode) {
    for (const durability mode : modes) {
        SCOPED_TRACE(name_of(mode));
        io::context context;
        sim::disk disk{sim::disk_pace::in_turns};
        const std::uint64_t count = mode == durability::each ? 300 : 2'000;
        followed result;
        io::block_on(context, run(&disk, mode, count, 0, &result));
        EXPECT_EQ(result.error.text, "");
        EXPECT_EQ(result.durable, count);
        for (const received& each : result.all) {
            EXPECT_EQ(each.error.text, "");
            EXPECT_TRUE(each.has_ended);
            EXPECT_EQ(each.next, count + 1);
        }
    }
}

TEST(committed_reader, D4_gets_what_was_acknowledged_before_a_failure_and_then_the_failure) {
    int failures_count = 0;
    for (std::uint64_t fails_after = 1; fails_after < 300; fails_after += 7) {
        SCOPED_TRACE(fails_after);
        io::context context;
        sim::disk disk{sim::disk_pace::in_turns};
        followed result;
        io::block_on(context, run(&disk, durability::group, 1'500, fails_after, &result));
        if (result.error.code) ++failures_count;
        for (const received& each : result.all) {
            // A call of the follower itself may be the one that fails.
            if (!result.error.code) {
                EXPECT_TRUE(each.has_ended || each.error.code == std::errc::io_error) << each.error.text;
                continue;
            }
            EXPECT_EQ(each.error.text, result.error.text);
            EXPECT_EQ(each.next, std::max(result.durable + 1, each.first)) << "everything acknowledged, and no more";
        }
    }
    EXPECT_GT(failures_count, 10);
}

io::task<void> fall_behind(sim::disk* disk) {
    writer_options options = small_options(durability::group);
    options.kept_segments_max = 1;
    auto log = co_await open_writer(disk, "j", options);
    CORRO_REQUIRE(log.has_value());
    io::context& on = co_await io::this_context();
    io::task_scope writing(on);
    writing.spawn((*log)->run());
    co_await append_commands(log->get(), 2'000);
    co_await wait_until_durable(log->get(), 2'000);
    (*log)->forget_before(1'500);
    while ((*log)->statistics().segments_removed_count < 3) co_await io::yield();
    received behind;
    co_await follow(log->get(), disk, 1, 0, &behind);
    EXPECT_EQ(behind.error.code, journal_errc::out_of_reach) << behind.error.text;
    received near;
    io::task_scope following(on);
    following.spawn(follow(log->get(), disk, 1'500, 0, &near));
    (*log)->close();
    co_await writing.join();
    co_await following.join();
    EXPECT_EQ(near.next, 2'001U) << near.error.text;
}

TEST(committed_reader, reports_that_the_commands_it_needs_were_removed) {
    io::context context;
    sim::disk disk{sim::disk_pace::in_turns};
    io::block_on(context, fall_behind(&disk));
}

io::task<void> stop_while_waiting(sim::disk* disk) {
    auto log = co_await open_writer(disk, "j", small_options(durability::group));
    CORRO_REQUIRE(log.has_value());
    io::context& on = co_await io::this_context();
    io::task_scope writing(on);
    writing.spawn((*log)->run());
    received none;
    io::task_scope following(on);
    following.spawn(follow(log->get(), disk, 1, 0, &none));
    for (int i = 0; i < 10; ++i) co_await io::yield();
    following.request_stop();
    co_await following.join();
    EXPECT_EQ(none.error.code, std::errc::operation_canceled);
    EXPECT_EQ(none.next, 1U);
    (*log)->close();
    co_await writing.join();
}

TEST(committed_reader, ends_its_wait_on_a_stop) {
    io::context context;
    sim::disk disk{sim::disk_pace::in_turns};
    io::block_on(context, stop_while_waiting(&disk));
}

}  // namespace
}  // namespace corro::journal
