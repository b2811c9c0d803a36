// SPDX-License-Identifier: Apache-2.0
// Assertions catch misuse. Large but legal requests work.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/wall_timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class misuse_deathtest : public on_backend {
 protected:
    void SetUp() override {
        on_backend::SetUp();
        testing::FLAGS_gtest_death_test_style = "threadsafe";
    }
};

std::vector<task<>> one_empty_task() {
    std::vector<task<>> tasks;
    tasks.emplace_back();
    return tasks;
}
task<> all_of_empty() {
    co_await when_all(one_empty_task());
}
task<> any_of_empty() {
    co_await when_any(one_empty_task());
}
task<> body_that_is_empty() {
    co_await with_scope([](task_scope&) { return task<>(); });
}
task<> await_twice() {
    task<> once = nothing();
    co_await std::move(once);
    co_await std::move(once);  // NOLINT(bugprone-use-after-move): that is the mistake
}
void spawn_into_a_scope_that_has_ended(context& on) {
    std::optional<task_scope> children(std::in_place, on);
    task_scope* const gone = &*children;
    children.reset();
    gone->spawn(nothing());
}

TEST_P(misuse_deathtest, an_empty_task_is_refused_wherever_a_task_is_taken) {
    const char* const said = "an empty task cannot be awaited";
    EXPECT_DEATH(block_on(ctx, task<>()), said);
    EXPECT_DEATH((void)with_timeout(1s, task<>()), said);
    EXPECT_DEATH((void)when_all(nothing(), task<>()), said);
    EXPECT_DEATH((void)when_any(task<>(), nothing()), said);
    EXPECT_DEATH(block_on(ctx, all_of_empty()), said);
    EXPECT_DEATH(block_on(ctx, any_of_empty()), said);
    EXPECT_DEATH(block_on(ctx, body_that_is_empty()), said);
    EXPECT_DEATH(spawn(ctx, task<>()), "an empty task cannot be spawned");
}
TEST_P(misuse_deathtest, a_task_is_awaited_once) {
    EXPECT_DEATH(block_on(ctx, await_twice()), "a task can be awaited only once");
}
TEST_P(misuse_deathtest, a_scope_that_has_ended_takes_no_children) {
    EXPECT_DEATH(spawn_into_a_scope_that_has_ended(ctx), "into a scope that has not ended");
}

class extremes : public on_backend {};

constexpr auto for_ever = std::chrono::hours::max();

TEST_P(extremes, the_longest_sleep_does_not_end_at_once) {
    EXPECT_FALSE(block_on(ctx, with_timeout(2ms, sleep_for(for_ever))));
    EXPECT_FALSE(block_on(ctx, with_timeout(2ms, sleep_for(std::chrono::nanoseconds::max()))));
    EXPECT_FALSE(block_on(ctx, with_timeout(2ms, sleep_until(steady_time::max()))));
    EXPECT_FALSE(block_on(ctx, sleep_for(std::chrono::hours::min())));
    EXPECT_FALSE(block_on(ctx, sleep_until(steady_time::min())));
}
TEST_P(extremes, the_longest_limit_is_none) {
    const auto slept = block_on(ctx, with_timeout(for_ever, sleep_for(1ms)));
    EXPECT_TRUE(slept.has_value());
    EXPECT_FALSE(block_on(ctx, with_timeout(std::chrono::hours::min(), sleep_for(1h))));
}
task<> arm_for_ever(steady_timer* timer) {
    timer->expires_after(for_ever);
    co_await sleep_for(1ms);
    EXPECT_TRUE(timer->armed());
    timer->expires_after(std::chrono::hours::min());
    const std::error_code expired = co_await timer->wait();
    EXPECT_FALSE(expired) << expired.message();
}
TEST_P(extremes, a_timer_takes_the_longest_delay_and_the_shortest) {
    steady_timer timer(ctx);
    block_on(ctx, arm_for_ever(&timer));
}
TEST_P(extremes, the_first_time_of_day_has_passed_and_the_last_has_not) {
    using clock = std::chrono::system_clock;
    const auto passed = block_on(ctx, with_timeout(10s, sleep_until(clock::time_point::min())));
    ASSERT_TRUE(passed.has_value());
    EXPECT_FALSE(*passed) << passed->message();
    EXPECT_FALSE(block_on(ctx, with_timeout(2ms, sleep_until(clock::time_point::max()))));
}

/// The way in which the levels wait for one another.
enum class link : std::uint8_t { plain, timeout, all, any };

task<int> nest(link by, unsigned levels) {
    if (levels == 0) {
        const std::error_code stopped = co_await sleep_for(50ms);
        co_return stopped ? -1 : 0;
    }
    int below = -1;
    switch (by) {
        case link::plain: below = co_await nest(by, levels - 1); break;
        case link::timeout: {
            const auto got = co_await with_timeout(1h, nest(by, levels - 1));
            below = got.value_or(-1);
            break;
        }
        case link::all: {
            const auto got = co_await when_all(nest(by, levels - 1));
            below = std::get<0>(got);
            break;
        }
        case link::any: {
            const auto got = co_await when_any(nest(by, levels - 1));
            below = std::get<0>(got.values).value_or(-1);
            break;
        }
    }
    co_return below < 0 ? -1 : below + 1;
}
task<> nest_and_drop(link by, unsigned levels) {
    const int ended = co_await nest(by, levels);
    ADD_FAILURE() << "it ended, after " << ended;
}

TEST_P(extremes, what_is_nested_to_the_limit_runs) {
    constexpr unsigned levels = context::unfinished_chain_max;
    for (const link by : {link::timeout, link::all, link::any}) {
        EXPECT_EQ(block_on(ctx, nest(by, levels)), static_cast<int>(levels)) << static_cast<int>(by);
    }
}
TEST_P(extremes, what_is_nested_to_the_limit_is_torn_down) {
    for (const link by : {link::plain, link::timeout, link::all, link::any}) {
        context gone{context_options(*GetParam())};
        spawn(gone, nest_and_drop(by, context::unfinished_chain_max));
        for (unsigned level = 0; level < context::unfinished_chain_max; level += context::nested_starts_max) {
            block_on(gone, yield());
        }
    }
}

CORRO_ON_EVERY_BACKEND(misuse_deathtest);
CORRO_ON_EVERY_BACKEND(extremes);

}  // namespace
}  // namespace corro::io
