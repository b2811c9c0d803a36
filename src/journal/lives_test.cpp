// SPDX-License-Identifier: Apache-2.0
// D1, D2 and D9 on a disk whose calls take time: processes and machines end at any instant, also within a call.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/tested_platform.hpp"
#include "journal/limits.hpp"
#include "journal/test_journal.hpp"
#include "sim/disk.hpp"

namespace corro::journal {
namespace {

using namespace std::chrono_literals;

/// What a process has, while it runs.
struct running {
    writer* log = nullptr;
    bool has_ended = false;
    std::string refusal;  ///< why it could not start, though nothing had ended it
};

/// A process: opens the journal and appends, until its disk fails it.
io::task<> live(storage* files, durability mode, std::uint64_t seed, running* mine) {
    auto log = co_await open_writer(files, "j", small_options(mode, segment_bytes_min));
    if (!log) {
        if (!mine->has_ended) mine->refusal = log.error().text;
        co_return;
    }
    mine->log = log->get();
    base::prng random(seed);
    io::task_scope scope(co_await io::this_context());
    scope.spawn((*log)->run());
    while (!(*log)->failed()) {
        for (std::uint64_t burst = 1 + random.below(5); burst != 0; --burst) {
            if (!(*log)->append(command_at((*log)->next_sequence()))) break;
        }
        static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(random.below(2'000))));
    }
    mine->log = nullptr;
    co_await scope.join();
}

struct history {
    std::uint64_t acknowledged = 0;
    std::uint64_t found = 0;
    std::uint64_t ended_at_start_count = 0;  ///< lives that ended before the journal was open
    std::string problem;
};

/// Several lives, each on what the one before has left.
/// @param cuts  Whether the power may go; otherwise only the process is killed.
io::task<> live_and_die(sim::disk* disk, durability mode, bool cuts, std::uint64_t seed, history* result) {
    base::prng random(seed);
    io::task_scope scope(co_await io::this_context());
    for (std::uint32_t life = 0; life < 6 && result->problem.empty(); ++life) {
        const auto files = disk->make_storage(life);
        running mine;
        scope.spawn(live(files.get(), mode, random(), &mine));
        static_cast<void>(co_await io::sleep_for(std::chrono::microseconds(random.below(120'000))));
        if (mine.log != nullptr) {
            result->acknowledged = std::max(result->acknowledged, mine.log->durable_sequence());
        } else {
            ++result->ended_at_start_count;
        }
        mine.has_ended = true;
        if (cuts && random.below(2) == 0) {
            disk->cut_power(random);
        } else {
            disk->end_views(life);
        }
        co_await scope.join();
        result->problem = mine.refusal;
        if (!disk->has("j")) continue;  // its name was not durable
        const reading after = co_await read_all(disk, "j", 1);
        result->found = after.last;
        if (result->problem.empty()) result->problem = after.error.text;
        if (result->found < result->acknowledged) break;
    }
}

void set_times(sim::disk& disk) {
    disk.latency() = {.read = {1us, 20us},
                      .write = {10us, 300us},
                      .sync_data = {200us, 4ms},
                      .names = {20us, 1ms},
                      .resize = {20us, 500us}};
}

class journal_lives : public testing::Test {
 protected:
    history run(durability mode, bool cuts, std::uint64_t seed, bool disk_lies = false) {
        sim::disk disk(sim::disk_pace::at_once, seed);
        set_times(disk);
        disk.faults().ignores_data_syncs = disk_lies;
        history result;
        io::block_on(ctx, live_and_die(&disk, mode, cuts, seed, &result));
        return result;
    }
    io::context ctx{io::on_tested_platform()};
};

TEST_F(journal_lives, D2_what_was_acknowledged_survives_ends_at_any_instant) {
    const std::uint64_t seed = base::test_seed();
    std::uint64_t acknowledged_count = 0;
    std::uint64_t ended_at_start_count = 0;
    for (const durability mode : {durability::group, durability::each}) {
        for (std::uint64_t i = 0; i < 60; ++i) {
            const history result = run(mode, true, seed + i);
            EXPECT_EQ(result.problem, "") << name_of(mode) << ", CORRO_SEED=" << seed + i;
            EXPECT_GE(result.found, result.acknowledged) << name_of(mode) << ", CORRO_SEED=" << seed + i;
            acknowledged_count += result.acknowledged;
            ended_at_start_count += result.ended_at_start_count;
        }
    }
    EXPECT_GT(acknowledged_count, 120U * 20);
    EXPECT_GT(ended_at_start_count, 20U) << "some within the start";
}

// Seeds that found: a directory whose name was not durable, made by a start that was killed; and a manifest of which
// both slots were lost, because the first write of a start did not make the newer slot durable before it took the
// other.
TEST_F(journal_lives, D9_ends_that_once_lost_a_journal_lose_nothing) {
    for (const auto& [mode, seed] : {std::pair{durability::group, std::uint64_t{2337848172030593353}},
                                     {durability::each, 2337848172030593353},
                                     {durability::each, 2982455724259026603}}) {
        const history result = run(mode, true, seed);
        EXPECT_EQ(result.problem, "") << name_of(mode) << " " << seed;
        EXPECT_GE(result.found, result.acknowledged) << name_of(mode) << " " << seed;
    }
}

TEST_F(journal_lives, D1_what_was_acknowledged_survives_kills_at_any_instant_without_a_sync) {
    const std::uint64_t seed = base::test_seed();
    std::uint64_t acknowledged_count = 0;
    for (std::uint64_t i = 0; i < 60; ++i) {
        const history result = run(durability::async, false, seed + i);
        EXPECT_EQ(result.problem, "") << "CORRO_SEED=" << seed + i;
        EXPECT_GE(result.found, result.acknowledged) << "CORRO_SEED=" << seed + i;
        acknowledged_count += result.acknowledged;
    }
    EXPECT_GT(acknowledged_count, 60U * 20);
}

TEST_F(journal_lives, D2_control_a_disk_that_ignores_syncs_loses_what_was_acknowledged) {
    const std::uint64_t seed = base::test_seed();
    std::uint64_t lost_count = 0;
    for (std::uint64_t i = 0; i < 60; ++i) {
        const history result = run(durability::group, true, seed + i, true);
        lost_count += !result.problem.empty() || result.found < result.acknowledged ? 1U : 0U;
    }
    EXPECT_GT(lost_count, 30U);
}

}  // namespace
}  // namespace corro::journal
