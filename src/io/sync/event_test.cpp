// SPDX-License-Identifier: Apache-2.0
#include "io/sync/event.hpp"

#include <gtest/gtest.h>

#include <string>

#include "io/loop/yield.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

class event : public on_backend {};

template <class Event>
task<> log_when(Event* happened, std::string* log, char name) {
    const std::error_code error = co_await happened->wait();
    *log += error ? '!' : name;
}

TEST_P(event, set_manual_event_does_not_suspend) {
    manual_event happened(true);
    std::string log;
    block_on(ctx, log_when(&happened, &log, 'a'));
    EXPECT_EQ(log, "a");
}

TEST_P(event, manual_event_releases_everybody_in_order_and_not_inside_set) {
    manual_event happened;
    std::string log;
    spawn(ctx, log_when(&happened, &log, 'a'));
    spawn(ctx, log_when(&happened, &log, 'b'));
    const auto setter = [](manual_event* on, std::string* text) -> task<> {
        co_await yield();
        on->set();
        *text += '.';
        co_return;
    };
    spawn(ctx, setter(&happened, &log));
    ctx.run();
    EXPECT_EQ(log, ".ab");
    EXPECT_TRUE(happened.is_set());
    happened.reset();
    EXPECT_FALSE(happened.is_set());
}

TEST_P(event, auto_event_releases_one_waiter_per_set) {
    auto_event happened;
    std::string log;
    spawn(ctx, log_when(&happened, &log, 'a'));
    spawn(ctx, log_when(&happened, &log, 'b'));
    const auto setter = [](auto_event* on, std::string* text) -> task<> {
        co_await yield();
        on->set();
        co_await yield();
        *text += '.';
        on->set();
        on->set();  // no waiter: stays set
        co_await yield();
        EXPECT_TRUE(on->is_set());
        const std::error_code error = co_await on->wait();
        EXPECT_FALSE(error);
        EXPECT_FALSE(on->is_set());
    };
    spawn(ctx, setter(&happened, &log));
    ctx.run();
    EXPECT_EQ(log, "a.b");
}

TEST_P(event, stopped_waiter_unlinks_itself_and_uses_nothing_up) {
    auto_event happened;
    std::string log;
    const auto body = [](context* on, auto_event* awaited, std::string* text) -> task<> {
        task_scope first(*on);
        task_scope second(*on);
        first.spawn(log_when(awaited, text, 'a'));
        second.spawn(log_when(awaited, text, 'b'));
        co_await yield();
        first.request_stop();
        awaited->set();
        co_await first.join();
        co_await second.join();
    };
    block_on(ctx, body(&ctx, &happened, &log));
    EXPECT_EQ(log, "!b");
}

TEST_P(event, stop_before_the_wait_cancels_unless_the_event_is_set) {
    manual_event unset;
    manual_event set(true);
    std::string log;
    const auto body = [](context* on, manual_event* a, manual_event* b, std::string* text) -> task<> {
        task_scope children(*on);
        children.request_stop();
        children.spawn(log_when(a, text, 'a'));
        children.spawn(log_when(b, text, 'b'));
        co_await children.join();
    };
    block_on(ctx, body(&ctx, &unset, &set, &log));
    EXPECT_EQ(log, "!b");
}

TEST_P(event, stop_after_the_wake_up_changes_nothing) {
    manual_event happened;
    std::string log;
    const auto body = [](context* on, manual_event* awaited, std::string* text) -> task<> {
        task_scope children(*on);
        children.spawn(log_when(awaited, text, 'a'));
        co_await yield();
        awaited->set();
        children.request_stop();
        co_await children.join();
    };
    block_on(ctx, body(&ctx, &happened, &log));
    EXPECT_EQ(log, "a");
}

CORRO_ON_EVERY_BACKEND(event);

}  // namespace
}  // namespace corro::io
