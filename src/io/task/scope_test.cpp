// SPDX-License-Identifier: Apache-2.0
#include "io/task/scope.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/event.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class scope : public on_backend {};

task<> count_up(int* counter) {
    co_await yield();
    ++*counter;
}
task<> wait_for_stop(int* canceled_count) {
    const std::error_code error = co_await sleep_for(1h);
    if (error == condition::canceled) ++*canceled_count;
}
task<> fail(const char* why) {
    co_await yield();
    throw std::runtime_error(why);
}

TEST_P(scope, join_waits_for_every_child) {
    int counter = 0;
    const auto body = [](context* on, int* count) -> task<> {
        task_scope children(*on);
        for (int i = 0; i < 100; ++i) children.spawn(count_up(count));
        EXPECT_EQ(*count, 0) << "children start through the ready queue";
        co_await children.join();
        EXPECT_EQ(children.size(), 0U);
    };
    block_on(ctx, body(&ctx, &counter));
    EXPECT_EQ(counter, 100);
}

TEST_P(scope, stop_reaches_a_thousand_children) {
    int canceled_count = 0;
    const auto body = [](context* on, int* count) -> task<> {
        task_scope children(*on);
        for (int i = 0; i < 1000; ++i) children.spawn(wait_for_stop(count));
        co_await yield();
        children.request_stop();
        children.request_stop();
        co_await children.join();
    };
    block_on(ctx, body(&ctx, &canceled_count));
    EXPECT_EQ(canceled_count, 1000);
}

TEST_P(scope, child_spawned_after_the_stop_sees_it) {
    int canceled_count = 0;
    const auto body = [](context* on, int* count) -> task<> {
        task_scope children(*on);
        children.request_stop();
        children.spawn(wait_for_stop(count));
        co_await children.join();
    };
    block_on(ctx, body(&ctx, &canceled_count));
    EXPECT_EQ(canceled_count, 1);
}

TEST_P(scope, failure_of_a_child_stops_its_siblings_and_is_rethrown_by_join) {
    int canceled_count = 0;
    const auto body = [](context* on, int* count) -> task<> {
        task_scope children(*on);
        children.spawn(wait_for_stop(count));
        children.spawn(fail("first"));
        children.spawn(fail("second"));
        children.spawn(wait_for_stop(count));
        try {
            co_await children.join();
            ADD_FAILURE() << "join rethrows";
        } catch (const std::runtime_error& error) {
            EXPECT_STREQ(error.what(), "first");
        }
        EXPECT_EQ(children.size(), 0U);
    };
    block_on(ctx, body(&ctx, &canceled_count));
    EXPECT_EQ(canceled_count, 2);
}

TEST_P(scope, stop_of_the_parent_reaches_children_through_join) {
    int canceled_count = 0;
    const auto inner = [](context* on, int* count) -> task<> {
        task_scope children(*on);
        children.spawn(wait_for_stop(count));
        children.spawn(wait_for_stop(count));
        co_await children.join();
    };
    const auto outer = [](context* on, int* count, auto make) -> task<> {
        task_scope parents(*on);
        parents.spawn(make(on, count));
        co_await yield();
        co_await yield();
        parents.request_stop();
        co_await parents.join();
    };
    block_on(ctx, outer(&ctx, &canceled_count, inner));
    EXPECT_EQ(canceled_count, 2);
}

TEST_P(scope, with_scope_returns_the_value_of_its_body_after_the_children_have_ended) {
    int counter = 0;
    const auto body = [&counter](task_scope& children) -> task<int> {
        return [](task_scope* spawning, int* count) -> task<int> {
            spawning->spawn(count_up(count));
            co_return 5;
        }(&children, &counter);
    };
    EXPECT_EQ(block_on(ctx, with_scope(body)), 5);
    EXPECT_EQ(counter, 1);
}

TEST_P(scope, with_scope_stops_the_body_when_a_child_fails) {
    int canceled_count = 0;
    const auto body = [&canceled_count](task_scope& children) -> task<> {
        children.spawn(fail("child"));
        return wait_for_stop(&canceled_count);
    };
    EXPECT_THROW(block_on(ctx, with_scope(body)), std::runtime_error);
    EXPECT_EQ(canceled_count, 1);
}

TEST_P(scope, with_scope_joins_the_children_when_the_body_fails) {
    int canceled_count = 0;
    const auto body = [&canceled_count](task_scope& children) -> task<> {
        children.spawn(wait_for_stop(&canceled_count));
        return fail("body");
    };
    EXPECT_THROW(block_on(ctx, with_scope(body)), std::runtime_error);
    EXPECT_EQ(canceled_count, 1);
}

TEST_P(scope, failure_of_a_root_task_is_rethrown_by_run) {
    int canceled_count = 0;
    spawn(ctx, wait_for_stop(&canceled_count));
    spawn(ctx, fail("root"));
    EXPECT_THROW(ctx.run(), std::runtime_error);
    EXPECT_EQ(canceled_count, 1);
}

TEST_P(scope, children_that_end_release_their_frames_at_once) {
    auto shared = std::make_shared<int>(0);
    const auto hold = [](std::shared_ptr<int> held) -> task<> {
        co_await yield();
        ++*held;
    };
    const auto body = [](context* on, std::shared_ptr<int> held, auto make) -> task<> {
        task_scope children(*on);
        children.spawn(make(held));
        while (children.size() != 0) co_await yield();
        EXPECT_EQ(held.use_count(), 2);
    };
    block_on(ctx, body(&ctx, shared, hold));
}

TEST(scope_death, scope_that_was_not_joined_is_a_bug) {
    EXPECT_DEATH(
        {
            context ctx;
            int counter = 0;
            task_scope children(ctx);
            children.spawn(count_up(&counter));
        },
        "a scope is joined before it ends");
}

CORRO_ON_EVERY_BACKEND(scope);

}  // namespace
}  // namespace corro::io
