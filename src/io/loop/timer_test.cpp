// SPDX-License-Identifier: Apache-2.0
#include "io/loop/timer.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "io/loop/yield.hpp"
#include "io/task/when_all.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class timer : public on_backend {};

TEST_P(timer, sleep_is_never_early) {
    const auto body = [](context* on) -> task<> {
        for (const auto delay : {0us, 1us, 50us, 700us, 3000us}) {
            const steady_time start = on->now();
            const std::error_code error = co_await sleep_for(delay);
            EXPECT_FALSE(error);
            EXPECT_GE(on->now() - start, delay);
        }
        const steady_time due = on->now() + 2ms;
        EXPECT_FALSE(co_await sleep_until(due));
        EXPECT_GE(on->now(), due);
    };
    block_on(ctx, body(&ctx));
}

TEST_P(timer, times_in_the_past_are_due_at_once) {
    const auto body = [](context* on) -> task<> {
        const steady_time start = on->now();
        EXPECT_FALSE(co_await sleep_until(start - 1h));
        EXPECT_FALSE(co_await sleep_until(steady_time::min()));
        EXPECT_FALSE(co_await sleep_for(-5s));
        EXPECT_LT(on->now() - start, 1s);
    };
    block_on(ctx, body(&ctx));
}

TEST_P(timer, fire_in_the_order_of_their_deadlines) {
    std::vector<int> log;
    const auto sleeper = [](std::vector<int>* into, int delay_ms) -> task<> {
        co_await sleep_for(std::chrono::milliseconds(delay_ms));
        into->push_back(delay_ms);
    };
    for (const int delay_ms : {5, 1, 4, 2, 3}) spawn(ctx, sleeper(&log, delay_ms));
    ctx.run();
    EXPECT_EQ(log, (std::vector<int>{1, 2, 3, 4, 5}));
}

TEST_P(timer, a_thousand_at_one_instant_fire_together_in_the_order_of_arming) {
    std::vector<int> log;
    const auto sleeper = [](std::vector<int>* into, steady_time due, int id) -> task<> {
        co_await sleep_until(due);
        into->push_back(id);
    };
    const steady_time due = ctx.now() + 10ms;
    std::vector<int> expected;
    for (int i = 0; i < 1000; ++i) {
        spawn(ctx, sleeper(&log, due, i));
        expected.push_back(i);
    }
    ctx.run();
    EXPECT_EQ(log, expected);
}

TEST_P(timer, stop_cancels_a_sleep_before_during_and_after) {
    const auto body = [](context* on) -> task<> {
        std::vector<std::error_code> ends;
        const auto sleeper = [](std::vector<std::error_code>* into, std::chrono::nanoseconds delay) -> task<> {
            into->push_back(co_await sleep_for(delay));
        };
        task_scope children(*on);
        children.spawn(sleeper(&ends, 1h));
        children.spawn(sleeper(&ends, 0h));
        co_await yield();
        co_await yield();
        children.request_stop();
        children.spawn(sleeper(&ends, 1h));
        co_await children.join();
        EXPECT_EQ(ends.size(), 3U);
        EXPECT_FALSE(ends[0]) << "ended before the stop";
        EXPECT_EQ(ends[1], condition::canceled);
        EXPECT_EQ(ends[2], condition::canceled);
    };
    block_on(ctx, body(&ctx));
    EXPECT_TRUE(ctx.timers().empty());
}

task<> wait_and_log(steady_timer* on, std::string* log) {
    const std::error_code error = co_await on->wait();
    *log += error == condition::canceled ? '!' : 'x';
}

TEST_P(timer, steady_timer_fires_and_can_be_armed_again) {
    const auto body = [](context* on) -> task<> {
        steady_timer pulse(*on);
        EXPECT_FALSE(co_await pulse.wait()) << "a timer that was never armed has expired";
        for (int i = 0; i < 3; ++i) {
            const steady_time start = on->now();
            pulse.expires_after(1ms);
            EXPECT_TRUE(pulse.armed());
            EXPECT_FALSE(co_await pulse.wait());
            EXPECT_FALSE(pulse.armed());
            EXPECT_GE(on->now() - start, 1ms);
        }
    };
    block_on(ctx, body(&ctx));
}

TEST_P(timer, a_timer_without_delay_has_expired_and_still_lets_the_others_in) {
    const auto body = [](context* on) -> task<> {
        const auto count_turns = [](const bool* done, int* turns_count) -> task<> {
            for (; !*done; ++*turns_count) co_await yield();
        };
        const auto pulse = [](context* where, bool* done, const int* turns_count) -> task<> {
            steady_timer due(*where);
            for (int i = 0; i < 1000; ++i) {
                const int before = *turns_count;
                due.expires_after(0ns);
                const std::error_code first = co_await due.wait();
                EXPECT_FALSE(first);
                EXPECT_GT(*turns_count, before);
                const std::error_code second = co_await due.wait();
                EXPECT_FALSE(second) << "it has expired, and stays so";
            }
            due.expires_after(0ns);
            due.expires_after(1h);
            EXPECT_TRUE(due.armed());
            EXPECT_TRUE(due.cancel());
            *done = true;
        };
        bool done = false;
        int turns_count = 0;
        co_await when_all(count_turns(&done, &turns_count), pulse(on, &done, &turns_count));
        EXPECT_LE(turns_count, 1002) << "the second wait does not suspend";
    };
    block_on(ctx, body(&ctx));
}

TEST_P(timer, steady_timer_cancel_ends_the_waits) {
    std::string log;
    const auto body = [](context* on, std::string* text) -> task<> {
        steady_timer alarm(*on);
        alarm.expires_after(1h);
        task_scope children(*on);
        children.spawn(wait_and_log(&alarm, text));
        children.spawn(wait_and_log(&alarm, text));
        co_await yield();
        EXPECT_TRUE(alarm.cancel());
        EXPECT_FALSE(alarm.cancel());
        co_await children.join();
    };
    block_on(ctx, body(&ctx, &log));
    EXPECT_EQ(log, "!!");
}

TEST_P(timer, steady_timer_moved_ahead_keeps_its_waiters) {
    std::string log;
    const auto body = [](context* on, std::string* text) -> task<> {
        steady_timer idle(*on);
        idle.expires_after(1h);
        task_scope children(*on);
        children.spawn(wait_and_log(&idle, text));
        co_await yield();
        // Moves near deadlines before any timer can fire, so that the test does not depend on its own speed. The sleeps
        // let each deadline pass.
        for (int i = 0; i < 4; ++i) {
            idle.expires_after(500us);
            idle.expires_after(1h);
            co_await sleep_for(1ms);
            EXPECT_TRUE(text->empty()) << "the deadline was moved ahead";
            EXPECT_TRUE(idle.armed());
        }
        idle.expires_after(0ns);
        co_await children.join();
    };
    block_on(ctx, body(&ctx, &log));
    EXPECT_EQ(log, "x");
}

CORRO_ON_EVERY_BACKEND(timer);

}  // namespace
}  // namespace corro::io
