// SPDX-License-Identifier: Apache-2.0
// When a disk counts as not responding; tests/recovery/hung_disk_test.cpp tests the watch itself.

#include "node/recovery/journal_watch.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <optional>

namespace corro::node {
namespace {

using namespace std::chrono_literals;
using journal::disk_calls;

/// A meter that checks at regular times.
struct looking {
    stall_meter meter;
    disk_calls calls;
    io::steady_time now{1h};

    std::chrono::nanoseconds look(std::chrono::milliseconds later = disk_look_interval) {
        now += later;
        return meter.look(calls, now);
    }
};

TEST(stall_meter, counts_a_call_from_the_first_look_that_saw_it) {
    looking l;
    EXPECT_EQ(l.look(), 0ns);
    const disk_calls::call call(l.calls);
    EXPECT_EQ(l.look(), 0ns);
    EXPECT_EQ(l.look(), disk_look_interval);
    EXPECT_EQ(l.look(), 2 * disk_look_interval);
}

TEST(stall_meter, begins_again_with_the_next_call) {
    looking l;
    std::optional<disk_calls::call> call(std::in_place, l.calls);
    static_cast<void>(l.look());
    EXPECT_EQ(l.look(), disk_look_interval);
    call.reset();
    call.emplace(l.calls);
    EXPECT_EQ(l.look(), 0ns) << "a busy disk does not hang";
    call.reset();
    EXPECT_EQ(l.look(), 0ns);
}

TEST(stall_meter, finds_the_call_that_hangs_among_those_that_return) {
    looking l;
    std::optional<disk_calls::call> first(std::in_place, l.calls);
    const disk_calls::call hangs(l.calls);
    static_cast<void>(l.look());
    for (int i = 1; i < 20; ++i) {
        first.reset();
        first.emplace(l.calls);
        EXPECT_EQ(l.look(), i * disk_look_interval);
    }
}

TEST(stall_meter, does_not_count_the_time_for_which_the_process_was_stopped) {
    looking l;
    const disk_calls::call call(l.calls);
    static_cast<void>(l.look());
    EXPECT_EQ(l.look(1h), 2 * disk_look_interval);
}

TEST(stall_meter, sees_as_many_calls_as_there_are_places) {
    looking l;
    std::optional<disk_calls::call> calls[disk_calls::places + 2];
    for (auto& each : calls) each.emplace(l.calls);
    static_cast<void>(l.look());
    for (std::size_t i = 0; i < disk_calls::places - 1; ++i) calls[i].reset();
    EXPECT_EQ(l.look(), disk_look_interval) << "the last of them";
    for (auto& each : calls) each.reset();
    EXPECT_EQ(l.look(), 0ns);
}

}  // namespace
}  // namespace corro::node
