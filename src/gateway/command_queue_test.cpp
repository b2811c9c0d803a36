// SPDX-License-Identifier: Apache-2.0
#include "gateway/command_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace corro::gateway {
namespace {

domain::command numbered(std::uint32_t request) {
    domain::command made;
    made.set_request(request);
    return made;
}

/// Takes as long as it wants to.
struct willing final : command_consumer {
    bool take(const domain::command& command) noexcept override {
        if (wants) taken.push_back(command.request());
        return wants;
    }
    void expect(std::span<domain::prefetch_hint> coming) noexcept override { expected += coming.size(); }
    bool wants = true;
    std::vector<std::uint32_t> taken;
    std::size_t expected = 0;
};

TEST(command_queue, gives_commands_to_a_taker_at_once_and_in_their_order_even_if_it_pauses) {
    willing taker;
    command_queue commands(4);
    commands.set_direct_consumer(&taker);
    ASSERT_TRUE(commands.try_push(numbered(1)));
    EXPECT_EQ(taker.taken, (std::vector<std::uint32_t>{1}));
    EXPECT_TRUE(commands.empty());

    taker.wants = false;
    ASSERT_TRUE(commands.try_push(numbered(2)));
    taker.wants = true;
    ASSERT_TRUE(commands.try_push(numbered(3)));
    EXPECT_EQ(taker.taken, (std::vector<std::uint32_t>{1})) << "the third one waits behind the second";
    EXPECT_EQ(commands.pushed_count(), 3U);

    domain::command command;
    ASSERT_TRUE(commands.try_pop(command));
    EXPECT_EQ(command.request(), 2U);
    ASSERT_TRUE(commands.try_pop(command));
    EXPECT_EQ(command.request(), 3U);
    ASSERT_TRUE(commands.try_push(numbered(4)));
    EXPECT_EQ(taker.taken, (std::vector<std::uint32_t>{1, 4}));
}

TEST(command_queue, tells_a_taker_what_comes_while_nothing_waits_before_it) {
    willing taker;
    command_queue commands(4);
    EXPECT_FALSE(commands.calls_consumer());
    commands.set_direct_consumer(&taker);
    ASSERT_TRUE(commands.calls_consumer());
    std::array<domain::prefetch_hint, 3> coming;
    commands.expect(coming);
    EXPECT_EQ(taker.expected, 3U);
    taker.wants = false;
    ASSERT_TRUE(commands.try_push(numbered(1)));
    EXPECT_FALSE(commands.calls_consumer()) << "others come first, and take their time";
}

TEST(command_queue, sets_filled_also_for_commands_that_were_taken_at_once) {
    willing taker;
    command_queue commands(4);
    commands.set_direct_consumer(&taker);
    ASSERT_TRUE(commands.try_push(numbered(1)));
    EXPECT_TRUE(commands.filled().is_set());
}

/// Answers what it takes before it returns.
struct answering final : command_consumer {
    explicit answering(command_queue& to) : queue(to) {}
    bool take(const domain::command&) noexcept override {
        queue.set_answered(queue.pushed_count());
        timed = queue.try_pop_timing(timing);
        return true;
    }
    void expect(std::span<domain::prefetch_hint>) noexcept override {}
    command_queue& queue;
    request_timing timing;
    bool timed = false;
};

TEST(command_queue, has_the_time_stamps_of_a_command_before_it_is_answered) {
    command_queue commands(4);
    answering taker(commands);
    commands.set_direct_consumer(&taker);
    ASSERT_TRUE(commands.try_push(numbered(1), 10, 20));
    ASSERT_TRUE(taker.timed);
    EXPECT_EQ(taker.timing.received_ticks, 10U);
    EXPECT_EQ(taker.timing.decoded_ticks, 20U);
}

TEST(command_queue, drops_the_time_stamps_of_a_command_that_finds_it_full) {
    command_queue commands(1);
    ASSERT_TRUE(commands.try_push(numbered(1)));
    EXPECT_FALSE(commands.try_push(numbered(2), 10, 20));
    domain::command command;
    ASSERT_TRUE(commands.try_pop(command));
    ASSERT_TRUE(commands.try_push(numbered(2), 30, 40));
    commands.set_answered(2);
    request_timing timing;
    ASSERT_TRUE(commands.try_pop_timing(timing));
    EXPECT_EQ(timing.received_ticks, 30U);
}

}  // namespace
}  // namespace corro::gateway
