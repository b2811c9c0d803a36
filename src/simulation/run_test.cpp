// SPDX-License-Identifier: Apache-2.0
// Simulated runs of a whole venue under faults.

#include "simulation/run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulation/plan.hpp"

namespace corro::simulation {
namespace {

using namespace std::chrono_literals;

plan short_plan(std::uint64_t seed) {
    plan_options options;
    options.time = 2s;
    return draw_plan(seed, options);
}

/// Short runs; `corro simulate --seeds` runs more, and longer ones.
constexpr std::uint64_t seeds_count = 200;

std::string text_of_all(const plan& whole) {
    std::string all = text_of(whole);
    for (const fault& each : whole.faults) all += text_of(each, whole.shape) + '\n';
    return all;
}

TEST(simulation, runs_of_many_seeds_keep_every_promise) {
    std::uint64_t fills = 0;
    std::uint64_t starts = 0;
    std::uint64_t reconnections = 0;
    std::uint64_t failures = 0;
    std::set<std::size_t> processes_counts;
    std::set<std::size_t> partitions_counts;
    std::set<std::size_t> fix_clients_counts;
    std::set<fault_kind> kinds;
    for (std::uint64_t seed = 1; seed <= seeds_count; ++seed) {
        const plan whole = short_plan(seed);
        const run_result result = run(whole);
        ASSERT_TRUE(result.found.empty())
            << "seed " << seed << ": " << result.found.promise() << ": " << result.found.words() << '\n'
            << text_of_all(whole);
        fills += result.fills_count;
        starts += result.starts_count;
        reconnections += result.reconnections_count;
        failures += result.failures_count;
        processes_counts.insert(whole.shape.venue.processes_count());
        partitions_counts.insert(whole.shape.venue.partitions_count);
        fix_clients_counts.insert(whole.shape.fix_clients_count);
        for (const fault& each : whole.faults) kinds.insert(each.kind);
    }
    EXPECT_GT(fills, 5'000U);
    EXPECT_GT(starts, 500U);
    EXPECT_GT(reconnections, 1'000U);
    EXPECT_GT(failures, 20U) << "processes that a fault of the disk has ended";
    EXPECT_EQ(partitions_counts.size(), 4U);
    EXPECT_EQ(fix_clients_counts.size(), 4U) << "none to three";
    EXPECT_GT(processes_counts.size(), 4U);
    EXPECT_EQ(kinds.size(), fault_kinds_count);
}

// 2853: a request that a full partition had refused was missing after a crash. 4120: a hanging call ended the venue
// after the faults. 4326: a facility lost its power while its distributor logged in, which waited for ever. 6915: a
// client took a logout in place of the challenge for an error. 10808: a refusal was lost with its connection.
// 15066: an auction ended before a kill switch in the same command. 17045: the cancel in place of a refused request
// went to all partitions.
// Runs of 5 s: 956, 12137: more requests were refused than the client kept, and the venue forgot them in a crash.
// With FIX clients: 156: a heartbeat that was due during a resend was due again at once, for ever. 205: an answer
// larger than the output buffer cut off a client that reads. 333: OrigSendingTime was later than SendingTime.
TEST(simulation, seeds_that_have_found_something_keep_every_promise) {
    std::vector<plan> plans;
    for (const std::uint64_t seed : {2853U, 4120U, 4326U, 6915U, 10808U, 15066U, 17045U}) {
        plans.push_back(short_plan(seed));
    }
    for (const std::uint64_t seed : {156U, 205U, 333U, 956U, 12137U}) plans.push_back(draw_plan(seed, plan_options()));
    for (const plan& whole : plans) {
        const run_result result = run(whole);
        EXPECT_TRUE(result.found.empty())
            << "seed " << whole.seed << ": " << result.found.promise() << ": " << result.found.words() << '\n'
            << text_of_all(whole);
    }
}

TEST(simulation, the_same_seed_gives_the_same_run) {
    for (const std::uint64_t seed : {3U, 4U, 34U, 44U}) {
        const run_result one = run(short_plan(seed));
        const run_result again = run(short_plan(seed));
        EXPECT_EQ(one.digest, again.digest);
        EXPECT_EQ(one.virtual_time, again.virtual_time);
        EXPECT_EQ(one.state_hash, again.state_hash);
    }
    EXPECT_NE(run(short_plan(3)).digest, run(short_plan(4)).digest);
}

// The control: a venue that acknowledges before its journal is durable.
TEST(simulation, a_venue_without_durability_is_found_out_and_its_faults_are_few) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        plan whole = short_plan(seed);
        whole.durability = journal::durability::none;
        const run_result result = run(whole);
        if (result.found.empty()) continue;
        EXPECT_TRUE(result.found.promise() == "D1" || result.found.promise() == "C3" || result.found.promise() == "N1")
            << result.found.promise();
        const plan shortest = shrink(whole, result.found.promise());
        EXPECT_EQ(run(shortest).found.promise(), result.found.promise()) << "it still fails";
        EXPECT_LT(shortest.faults.size(), whole.faults.size()) << text_of_all(shortest);
        EXPECT_TRUE(std::ranges::any_of(shortest.faults, [](const fault& one) {
            return one.kind == fault_kind::kill || one.kind == fault_kind::power_cut;
        })) << text_of_all(shortest);
        return;
    }
    FAIL() << "50 runs lost nothing";
}

/// A plan without other faults than these.
plan plan_of(std::uint64_t seed, std::vector<fault> faults) {
    plan whole = short_plan(seed);
    whole.shape.venue = venue_shape();
    whole.durability = journal::durability::group;
    whole.requests_max = 0;
    whole.operator_pause = 0ns;
    whole.faults = std::move(faults);
    return whole;
}

// The journals of the other partitions went on, and their venue published in feeds that it had closed: an assertion.
TEST(simulation, D9_a_venue_ends_in_order_when_the_journal_of_one_partition_fails) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
        plan whole = plan_of(seed, {{fault_kind::slow_disk, 50ms, 1'900ms, 0},
                                    {fault_kind::failed_write, 300ms, 0ms, 0},
                                    {fault_kind::failed_write, 1'000ms, 0ms, 0},
                                    {fault_kind::failed_write, 1'700ms, 0ms, 0}});
        whole.shape.venue.partitions_count = 3;
        whole.think_time = 3ms;
        const run_result result = run(whole);
        EXPECT_TRUE(result.found.empty()) << result.found.promise() << ": " << result.found.words();
        EXPECT_GE(result.failures_count, 2U);
    }
}

TEST(simulation, a_run_without_faults_has_one_life) {
    plan whole = short_plan(5);
    whole.faults.clear();
    const run_result result = run(whole);
    EXPECT_TRUE(result.found.empty()) << result.found.words();
    EXPECT_EQ(result.starts_count, whole.shape.venue.processes_count() + 1) << "and one that reads the journal again";
    EXPECT_EQ(result.reconnections_count, 0U);
    EXPECT_GT(result.requests_count, 50U);
    EXPECT_GE(result.answers_count, result.requests_count);
}

TEST(simulation, fix_clients_trade_with_the_others) {
    plan whole = plan_of(1, {});
    whole.shape.fix_clients_count = 0;
    const run_result without = run(whole);
    whole.shape.fix_clients_count = 3;
    const run_result with = run(whole);
    EXPECT_TRUE(without.found.empty()) << without.found.words();
    EXPECT_TRUE(with.found.empty()) << with.found.words();
    EXPECT_GT(with.requests_count, without.requests_count + 100);
    EXPECT_GT(with.fills_count, without.fills_count);
    EXPECT_EQ(with.reconnections_count, 0U);
}

TEST(simulation, the_trace_tells_of_each_fault) {
    plan whole = short_plan(7);
    std::vector<std::string> told;
    const run_result result =
        run(whole, [&told](std::chrono::nanoseconds, std::string_view what) { told.emplace_back(what); });
    EXPECT_TRUE(result.found.empty());
    for (const fault& each : whole.faults) {
        EXPECT_TRUE(std::ranges::any_of(told, [&each](const std::string& line) {
            return line.starts_with(name_of(each.kind));
        })) << text_of(each, whole.shape);
    }
    EXPECT_TRUE(told.front().ends_with(" starts"));
    EXPECT_NE(std::ranges::find(told, "everything is settled"), told.end());
}

}  // namespace
}  // namespace corro::simulation
