// SPDX-License-Identifier: Apache-2.0
// Tests root tasks: the effect of one failure on the other tasks and on later ones.
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/callback_bridge.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class roots : public on_backend {};

task<> fail(std::string why) {
    co_await yield();
    throw std::runtime_error(why);
}
task<> note_stop(std::shared_ptr<std::error_code> end) {
    *end = co_await sleep_for(1ms);
}
task<> wait_an_hour(std::shared_ptr<std::error_code> end) {
    *end = co_await sleep_for(1h);
}

/// Runs the context and returns the text of the failure, or an empty text.
std::string run(context& on) {
    try {
        on.run();
    } catch (const std::runtime_error& failure) {
        return failure.what();
    }
    return {};
}

TEST_P(roots, a_failure_stops_those_that_are_there_and_none_of_a_later_run) {
    for (const char* why : {"first", "second"}) {
        const auto there = std::make_shared<std::error_code>();
        spawn(ctx, wait_an_hour(there));
        spawn(ctx, fail(why));
        EXPECT_EQ(run(ctx), why);
        EXPECT_EQ(*there, condition::canceled);
        const auto later = std::make_shared<std::error_code>(operation_canceled());
        spawn(ctx, note_stop(later));
        EXPECT_EQ(run(ctx), "");
        EXPECT_FALSE(*later) << later->message();
    }
}

task<> end_slowly(context* on, std::shared_ptr<std::error_code> later) {
    const std::error_code stopped = co_await sleep_for(1h);
    EXPECT_EQ(stopped, condition::canceled);
    // The group that failed is not empty yet.
    spawn(*on, note_stop(later));
}
TEST_P(roots, a_failure_does_not_stop_those_that_come_before_the_others_have_ended) {
    const auto later = std::make_shared<std::error_code>(operation_canceled());
    spawn(ctx, end_slowly(&ctx, later));
    spawn(ctx, fail("once"));
    EXPECT_EQ(run(ctx), "once");
    EXPECT_FALSE(*later) << later->message();
}

task<> spawn_and_fail(context* on, int left, std::shared_ptr<std::error_code> last) {
    co_await yield();
    spawn(*on, left == 0 ? note_stop(last) : spawn_and_fail(on, left - 1, last));
    throw std::runtime_error("again");
}
TEST_P(roots, failures_one_after_the_other_each_stop_their_own_group) {
    const auto last = std::make_shared<std::error_code>(operation_canceled());
    const auto there = std::make_shared<std::error_code>();
    spawn(ctx, wait_an_hour(there));
    spawn(ctx, spawn_and_fail(&ctx, 5, last));
    EXPECT_EQ(run(ctx), "again");
    EXPECT_EQ(*there, condition::canceled);
    EXPECT_EQ(*last, condition::canceled) << "it was there when its parent failed";
    const auto later = std::make_shared<std::error_code>(operation_canceled());
    spawn(ctx, note_stop(later));
    EXPECT_EQ(run(ctx), "");
    EXPECT_FALSE(*later) << later->message();
}

TEST_P(roots, a_stop_that_was_asked_for_holds_for_those_that_come_later) {
    ctx.roots().request_stop();
    const auto later = std::make_shared<std::error_code>();
    spawn(ctx, note_stop(later));
    spawn(ctx, fail("stopped all the same"));
    EXPECT_EQ(run(ctx), "stopped all the same");
    const auto last = std::make_shared<std::error_code>();
    spawn(ctx, note_stop(last));
    EXPECT_EQ(run(ctx), "");
    EXPECT_EQ(*later, condition::canceled);
    EXPECT_EQ(*last, condition::canceled);
}

TEST_P(roots, a_callback_that_throws_stops_nobody_who_comes_later) {
    start_with_callback(ctx, nothing(), [](const task_outcome<void>&) { throw std::runtime_error("callback"); });
    EXPECT_EQ(run(ctx), "callback");
    bool well = false;
    const auto quick = []() -> task<std::error_code> { co_return co_await sleep_for(1ms); };
    start_with_callback(ctx, quick(), [&well](const task_outcome<std::error_code>& got) { well = got && !*got; });
    EXPECT_EQ(run(ctx), "");
    EXPECT_TRUE(well);
}

TEST_P(roots, block_on_rethrows_what_escaped_from_a_spawned_task) {
    spawn(ctx, fail("spawned"));
    try {
        block_on(ctx, sleep_for(5ms));
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& failure) {
        EXPECT_STREQ(failure.what(), "spawned");
    }
    EXPECT_FALSE(block_on(ctx, sleep_for(1ms)));
    EXPECT_EQ(run(ctx), "");
}

task<> fail_later() {
    co_await sleep_for(5ms);
    throw std::runtime_error("own");
}
TEST_P(roots, block_on_keeps_a_second_failure_for_the_next_one) {
    spawn(ctx, fail("spawned"));
    try {
        block_on(ctx, fail_later());
        ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& failure) {
        EXPECT_STREQ(failure.what(), "own");
    }
    EXPECT_EQ(run(ctx), "spawned");
}

CORRO_ON_EVERY_BACKEND(roots);

}  // namespace
}  // namespace corro::io
