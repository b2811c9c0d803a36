// SPDX-License-Identifier: Apache-2.0
#include "io/task/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/environment.hpp"
#include "io/task/scope.hpp"

namespace corro::io {
namespace {

task<int> number(int value) {
    co_return value;
}
task<int> sum_of(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += co_await number(1);
    co_return sum;
}
task<int> nested(int depth) {
    if (depth == 0) co_return 0;
    co_return 1 + co_await nested(depth - 1);
}

TEST(task, does_nothing_until_it_is_awaited) {
    context ctx;
    bool ran = false;
    const auto body = [](bool* flag) -> task<> {
        *flag = true;
        co_return;
    };
    task<> made = body(&ran);
    EXPECT_FALSE(ran);
    block_on(ctx, std::move(made));
    EXPECT_TRUE(ran);
}

TEST(task, hands_its_result_to_the_parent) {
    context ctx;
    EXPECT_EQ(block_on(ctx, sum_of(10)), 10);
}

TEST(task, loop_of_immediately_complete_awaits_does_not_grow_the_stack) {
    context ctx;
    EXPECT_EQ(block_on(ctx, sum_of(1'000'000)), 1'000'000);
}

TEST(task, deep_chain_of_awaits_returns_through_every_level) {
    context ctx;
    EXPECT_EQ(block_on(ctx, nested(100'000)), 100'000);
}

task<std::unique_ptr<int>> move_only() {
    co_return std::make_unique<int>(7);
}

TEST(task, returns_move_only_values) {
    context ctx;
    EXPECT_EQ(*block_on(ctx, move_only()), 7);
}

task<int> throws(bool late) {
    if (late) co_await yield();
    throw std::runtime_error("broken");
}
task<std::string> catches(bool late) {
    try {
        co_await throws(late);
    } catch (const std::runtime_error& error) {
        co_return std::string("caught ") + error.what();
    }
    co_return "nothing thrown";
}

TEST(task, exception_is_rethrown_at_the_await) {
    context ctx;
    EXPECT_EQ(block_on(ctx, catches(false)), "caught broken");
    EXPECT_EQ(block_on(ctx, catches(true)), "caught broken");
    EXPECT_THROW(block_on(ctx, throws(true)), std::runtime_error);
    EXPECT_FALSE(ctx.running()) << "the context can be used again after a failure";
    EXPECT_EQ(block_on(ctx, number(3)), 3);
}

task<bool> knows_its_context(const context* expected) {
    context& here = co_await this_context();
    const stop_token token = co_await this_stop_token();
    co_return &here == expected && !token.stop_possible();
}
task<bool> child_knows_its_context(const context* expected) {
    co_return co_await knows_its_context(expected);
}

TEST(task, inherits_context_and_stop_token_from_the_parent) {
    context ctx;
    EXPECT_TRUE(block_on(ctx, child_knows_its_context(&ctx)));
}

TEST(task, destroyed_before_it_starts_releases_its_arguments) {
    auto shared = std::make_shared<int>(1);
    const auto body = [](std::shared_ptr<int> held) -> task<int> { co_return *held; };
    {
        task<int> never = body(shared);
        EXPECT_EQ(shared.use_count(), 2);
    }
    EXPECT_EQ(shared.use_count(), 1);
}

task<> take_turns(std::string* log, char name) {
    for (int i = 0; i < 3; ++i) {
        *log += name;
        co_await yield();
    }
}

TEST(yield, lets_every_other_ready_task_run_first) {
    context ctx;
    std::string log;
    spawn(ctx, take_turns(&log, 'a'));
    spawn(ctx, take_turns(&log, 'b'));
    ctx.run();
    EXPECT_EQ(log, "ababab");
}

TEST(frames, are_recycled_on_the_thread_that_frees_them_and_survive_its_end) {
    std::vector<task<int>> made;
    for (int i = 0; i < 1000; ++i) made.push_back(number(i));
    std::thread other([&made] {
        context ctx;
        int sum = 0;
        for (task<int>& each : made) sum += block_on(ctx, std::move(each));
        EXPECT_EQ(sum, 999 * 1000 / 2);
        made.clear();
    });
    other.join();
}

}  // namespace
}  // namespace corro::io
