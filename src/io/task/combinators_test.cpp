// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/event.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class when_all_of : public on_backend {};
class when_any_of : public on_backend {};
class timeout : public on_backend {};

task<int> later(int value, int yields) {
    for (int i = 0; i < yields; ++i) co_await yield();
    co_return value;
}
task<std::string> text(std::string value) {
    co_return value;
}
task<int> fails_later(int yields) {
    for (int i = 0; i < yields; ++i) co_await yield();
    throw std::runtime_error("child " + std::to_string(yields));
}
task<int> until_stopped(int* stopped_count) {
    const std::error_code error = co_await sleep_for(1h);
    if (error == condition::canceled) ++*stopped_count;
    co_return -1;
}

TEST_P(when_all_of, gathers_every_result_in_the_order_of_the_arguments) {
    const auto body = []() -> task<> {
        const auto [a, b, c, d] = co_await when_all(later(1, 3), text("two"), nothing(), later(4, 0));
        EXPECT_EQ(a, 1);
        EXPECT_EQ(b, "two");
        EXPECT_EQ(c, std::monostate());
        EXPECT_EQ(d, 4);
    };
    block_on(ctx, body());
}

TEST_P(when_all_of, gathers_a_range) {
    std::vector<task<int>> work;
    for (int i = 0; i < 1000; ++i) work.push_back(later(i, i % 5));
    const std::vector<int> values = block_on(ctx, when_all(std::move(work)));
    ASSERT_EQ(values.size(), 1000U);
    for (int i = 0; i < 1000; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
    EXPECT_TRUE(block_on(ctx, when_all(std::vector<task<int>>())).empty());
    std::vector<task<>> silent;
    silent.push_back(nothing());
    block_on(ctx, when_all(std::move(silent)));
}

TEST_P(when_all_of, failure_stops_and_joins_the_others_and_the_first_is_rethrown) {
    int stopped_count = 0;
    try {
        block_on(ctx, when_all(until_stopped(&stopped_count), fails_later(5), fails_later(2),
                               until_stopped(&stopped_count)));
        FAIL() << "rethrows";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "child 2");
    }
    EXPECT_EQ(stopped_count, 2);
}

TEST_P(when_all_of, stop_of_the_parent_reaches_the_children) {
    int stopped_count = 0;
    const auto body = [](context* on, int* count) -> task<> {
        task_scope parents(*on);
        const auto parent = [](int* counted) -> task<> {
            co_await when_all(until_stopped(counted), until_stopped(counted));
        };
        parents.spawn(parent(count));
        co_await yield();
        parents.request_stop();
        co_await parents.join();
    };
    block_on(ctx, body(&ctx, &stopped_count));
    EXPECT_EQ(stopped_count, 2);
}

TEST_P(when_any_of, first_to_end_wins_and_the_others_are_stopped_and_joined) {
    int stopped_count = 0;
    const auto result =
        block_on(ctx, when_any(until_stopped(&stopped_count), later(7, 2), until_stopped(&stopped_count)));
    EXPECT_EQ(result.index, 1U);
    EXPECT_EQ(std::get<1>(result.values), 7);
    EXPECT_EQ(stopped_count, 2) << "the losers have run to their end";
    EXPECT_EQ(std::get<0>(result.values), -1);
}

TEST_P(when_any_of, those_after_an_immediate_winner_never_start) {
    int stopped_count = 0;
    const auto result = block_on(ctx, when_any(later(1, 0), until_stopped(&stopped_count)));
    EXPECT_EQ(result.index, 0U);
    EXPECT_FALSE(std::get<1>(result.values).has_value());
    EXPECT_EQ(stopped_count, 0);
}

TEST_P(when_any_of, loser_that_completed_in_the_same_instant_keeps_its_value) {
    manual_event both;
    const auto waits = [](manual_event* on, int value) -> task<int> {
        const std::error_code error = co_await on->wait();
        co_return error ? -1 : value;
    };
    const auto body = [](manual_event* on, auto make) -> task<> {
        const auto setter = [](manual_event* awaited) -> task<int> {
            co_await yield();
            awaited->set();
            co_await sleep_for(1h);
            co_return 0;
        };
        const auto result = co_await when_any(make(on, 1), make(on, 2), setter(on));
        EXPECT_EQ(result.index, 0U);
        EXPECT_EQ(std::get<0>(result.values), 1);
        EXPECT_EQ(std::get<1>(result.values), 2);
    };
    block_on(ctx, body(&both, waits));
}

TEST_P(when_any_of, takes_a_range_and_other_awaitables) {
    int stopped_count = 0;
    std::vector<task<int>> work;
    for (int i = 0; i < 100; ++i) work.push_back(until_stopped(&stopped_count));
    work.push_back(later(9, 1));
    const auto result = block_on(ctx, when_any(std::move(work)));
    EXPECT_EQ(result.index, 100U);
    EXPECT_EQ(result.values[100], 9);
    EXPECT_EQ(stopped_count, 100);

    manual_event never;
    const auto mixed = block_on(ctx, when_any(never.wait(), sleep_for(1ms)));
    EXPECT_EQ(mixed.index, 1U);
    EXPECT_EQ(std::get<0>(mixed.values), operation_canceled());
}

TEST_P(when_any_of, failure_is_rethrown_after_the_join) {
    int stopped_count = 0;
    EXPECT_THROW(block_on(ctx, when_any(until_stopped(&stopped_count), fails_later(1))), std::runtime_error);
    EXPECT_EQ(stopped_count, 1);
}

TEST_P(when_any_of, nests) {
    int stopped_count = 0;
    const auto inner = [](int* count) -> task<int> {
        co_await when_any(until_stopped(count), until_stopped(count));
        co_return 0;
    };
    const auto result = block_on(ctx, when_any(inner(&stopped_count), later(5, 3)));
    EXPECT_EQ(result.index, 1U);
    EXPECT_EQ(stopped_count, 2);
}

TEST_P(timeout, work_that_ends_in_time_returns_its_value) {
    EXPECT_EQ(block_on(ctx, with_timeout(1h, later(5, 0))), 5);
    EXPECT_EQ(block_on(ctx, with_timeout(1h, later(6, 3))), 6);
    EXPECT_TRUE(block_on(ctx, with_timeout(1h, nothing())).has_value());
    EXPECT_TRUE(ctx.timers().empty());
}

TEST_P(timeout, work_that_takes_too_long_is_stopped_joined_and_timed_out) {
    int stopped_count = 0;
    const auto result = block_on(ctx, with_timeout(1ms, until_stopped(&stopped_count)));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error(), condition::timed_out);
    EXPECT_EQ(stopped_count, 1);

    manual_event never;
    const auto waited = block_on(ctx, with_timeout(1ms, never.wait()));
    ASSERT_FALSE(waited.has_value());
    EXPECT_EQ(waited.error(), condition::timed_out);

    const auto past = block_on(ctx, with_deadline(ctx.now() - 1s, until_stopped(&stopped_count)));
    ASSERT_FALSE(past.has_value());
    EXPECT_EQ(past.error(), condition::timed_out);
}

TEST_P(timeout, stop_of_the_parent_is_told_apart_from_the_timeout) {
    const auto body = [](context* on) -> task<> {
        task_scope parents(*on);
        const auto silent = []() -> task<> { co_await sleep_for(1h); };
        const auto telling = []() -> task<std::error_code> { co_return co_await sleep_for(1h); };
        const auto parent = [](auto first, auto second) -> task<> {
            const auto quiet = co_await with_timeout(1h, first());
            EXPECT_FALSE(quiet.has_value());
            EXPECT_EQ(quiet.error(), condition::canceled);
            const auto told = co_await with_timeout(1h, second());
            EXPECT_TRUE(told.has_value());
            EXPECT_EQ(*told, condition::canceled);
        };
        parents.spawn(parent(silent, telling));
        co_await yield();
        parents.request_stop();
        co_await parents.join();
    };
    block_on(ctx, body(&ctx));
}

TEST_P(timeout, completion_in_the_same_tick_wins_over_the_timeout) {
    // The work becomes ready in the same turn in which the timeout fires: both are due at the same instant, and the
    // work's sleep was armed first.
    const auto body = [](context* on) -> task<> {
        const steady_time due = on->now() + 2ms;
        const auto work = [](steady_time at) -> task<int> {
            const std::error_code error = co_await sleep_until(at);
            co_return error ? -1 : 42;
        };
        const auto result = co_await with_deadline(due, work(due));
        EXPECT_EQ(result, 42);
    };
    block_on(ctx, body(&ctx));
}

TEST_P(timeout, failure_of_the_work_is_rethrown) {
    EXPECT_THROW(block_on(ctx, with_timeout(1h, fails_later(0))), std::runtime_error);
    EXPECT_THROW(block_on(ctx, with_timeout(1h, fails_later(2))), std::runtime_error);
}

TEST_P(timeout, partial_bytes_come_back_as_a_value_that_says_timed_out) {
    const auto partial = []() -> task<io_result> {
        const std::error_code error = co_await sleep_for(1h);
        co_return io_result(error, 5);
    };
    const auto result = block_on(ctx, with_timeout(1ms, partial()));
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->bytes, 5U);
    EXPECT_EQ(result->error, condition::timed_out);
}

CORRO_ON_EVERY_BACKEND(when_all_of);
CORRO_ON_EVERY_BACKEND(when_any_of);
CORRO_ON_EVERY_BACKEND(timeout);

}  // namespace
}  // namespace corro::io
