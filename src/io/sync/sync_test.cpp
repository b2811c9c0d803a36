// SPDX-License-Identifier: Apache-2.0
// Tests mutexes, semaphores, latches and channels in one context, in both forms. sync_race_test.cpp tests them across
// threads.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/sync/semaphore.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

struct inside_one_context {
    using mutex = io::mutex;
    using event = manual_event;
    using auto_event = io::auto_event;
    using semaphore = io::semaphore;
    using latch = io::latch;
    template <class T>
    using channel = io::channel<T>;
};
struct across_threads {
    using mutex = shared_mutex;
    using event = shared_manual_event;
    using auto_event = shared_auto_event;
    using semaphore = shared_semaphore;
    using latch = shared_latch;
    template <class T>
    using channel = shared_channel<T>;
};

template <class Form>
class sync : public testing::Test {
 protected:
    context ctx;
};
using forms = testing::Types<inside_one_context, across_threads>;
TYPED_TEST_SUITE(sync, forms, );

template <class Mutex>
task<> critical(Mutex* on, std::string* log, char name) {
    const std::error_code error = co_await on->lock();
    if (error) {
        *log += '!';
        co_return;
    }
    *log += name;
    co_await yield();
    *log += name;
    on->unlock();
}

TYPED_TEST(sync, mutex_serves_first_come_first_served_and_never_runs_the_waiter_inside_unlock) {
    typename TypeParam::mutex guarded;
    std::string log;
    for (const char name : {'a', 'b', 'c'}) spawn(this->ctx, critical(&guarded, &log, name));
    this->ctx.run();
    EXPECT_EQ(log, "aabbcc");
    EXPECT_TRUE(guarded.try_lock());
    EXPECT_FALSE(guarded.try_lock());
    guarded.unlock();
}

TYPED_TEST(sync, mutex_wait_can_be_stopped_and_the_next_in_line_is_served) {
    typename TypeParam::mutex guarded;
    std::string log;
    const auto body = [](context* on, typename TypeParam::mutex* mutex, std::string* text) -> task<> {
        task_scope first(*on);
        task_scope second(*on);
        EXPECT_FALSE(co_await mutex->lock());
        first.spawn(critical(mutex, text, 'a'));
        second.spawn(critical(mutex, text, 'b'));
        co_await yield();
        first.request_stop();
        co_await first.join();
        mutex->unlock();
        co_await second.join();
        // A stop before the wait, and a stop after the hand-over.
        EXPECT_FALSE(co_await mutex->lock());
        task_scope third(*on);
        third.spawn(critical(mutex, text, 'c'));
        co_await yield();
        mutex->unlock();
        third.request_stop();
        co_await third.join();
    };
    block_on(this->ctx, body(&this->ctx, &guarded, &log));
    EXPECT_EQ(log, "!bbcc");
    EXPECT_TRUE(guarded.try_lock());
    guarded.unlock();
}

TYPED_TEST(sync, mutex_guard_unlocks_when_it_goes) {
    typename TypeParam::mutex guarded;
    const auto body = [](typename TypeParam::mutex* mutex) -> task<> {
        {
            auto guard = co_await mutex->scoped_lock();
            EXPECT_TRUE(guard.has_value());
            EXPECT_FALSE(mutex->try_lock());
        }
        EXPECT_TRUE(mutex->try_lock());
        const auto late = co_await with_timeout(1ms, mutex->lock());
        EXPECT_FALSE(late.has_value());
        mutex->unlock();
    };
    block_on(this->ctx, body(&guarded));
}

TYPED_TEST(sync, long_chain_of_hand_overs_does_not_recurse) {
    typename TypeParam::mutex guarded;
    int count = 0;
    const auto worker = [](typename TypeParam::mutex* mutex, int* counter) -> task<> {
        const auto guard = co_await mutex->scoped_lock();
        ++*counter;
    };
    const auto body = [](context* on, typename TypeParam::mutex* mutex, int* counter, auto make) -> task<> {
        task_scope children(*on);
        EXPECT_FALSE(co_await mutex->lock());
        for (int i = 0; i < 100'000; ++i) children.spawn(make(mutex, counter));
        co_await yield();
        mutex->unlock();
        co_await children.join();
    };
    block_on(this->ctx, body(&this->ctx, &guarded, &count, worker));
    EXPECT_EQ(count, 100'000);
}

TYPED_TEST(sync, semaphore_admits_as_many_as_it_has_units) {
    typename TypeParam::semaphore units(3);
    int inside = 0;
    int most = 0;
    const auto worker = [](typename TypeParam::semaphore* on, int* now, int* peak) -> task<> {
        EXPECT_FALSE(co_await on->acquire());
        *peak = std::max(*peak, ++*now);
        co_await yield();
        --*now;
        on->release();
    };
    for (int i = 0; i < 20; ++i) spawn(this->ctx, worker(&units, &inside, &most));
    this->ctx.run();
    EXPECT_EQ(most, 3);
    EXPECT_EQ(units.available(), 3U);
    EXPECT_TRUE(units.try_acquire());
    units.release(5);
    EXPECT_EQ(units.available(), 7U);
}

TYPED_TEST(sync, semaphore_wait_can_be_stopped_without_taking_a_unit) {
    typename TypeParam::semaphore units(0);
    const auto late = block_on(this->ctx, with_timeout(1ms, units.acquire()));
    EXPECT_FALSE(late.has_value());
    units.release();
    EXPECT_EQ(units.available(), 1U);
}

TYPED_TEST(sync, latch_opens_when_it_is_counted_down) {
    typename TypeParam::latch gate(3);
    const auto counts = [](typename TypeParam::latch* on) -> task<> {
        co_await yield();
        on->count_down();
    };
    for (int i = 0; i < 3; ++i) spawn(this->ctx, counts(&gate));
    EXPECT_FALSE(block_on(this->ctx, gate.wait()));
    EXPECT_TRUE(gate.is_open());
    EXPECT_FALSE(block_on(this->ctx, gate.wait()));
}

TYPED_TEST(sync, channel_gives_values_in_order_through_a_full_buffer) {
    typename TypeParam::template channel<std::unique_ptr<int>> queue(2);
    const auto sends = [](typename TypeParam::template channel<std::unique_ptr<int>>* on) -> task<> {
        for (int i = 0; i < 100; ++i) EXPECT_FALSE(co_await on->send(std::make_unique<int>(i)));
        on->close();
        EXPECT_EQ(co_await on->send(std::make_unique<int>(0)), errc::channel_closed);
    };
    const auto receives = [](typename TypeParam::template channel<std::unique_ptr<int>>* on) -> task<int> {
        for (int expected = 0;; ++expected) {
            auto value = co_await on->receive();
            if (!value) {
                EXPECT_EQ(value.error(), errc::channel_closed);
                co_return expected;
            }
            EXPECT_EQ(**value, expected);
        }
    };
    const auto body = [](auto* on, auto send, auto receive) -> task<int> {
        const auto [done, count] = co_await when_all(send(on), receive(on));
        EXPECT_EQ(done, std::monostate());
        co_return count;
    };
    EXPECT_EQ(block_on(this->ctx, body(&queue, sends, receives)), 100);
    EXPECT_EQ(queue.size(), 0U);
}

TYPED_TEST(sync, channel_hands_to_waiting_receivers_in_their_order) {
    typename TypeParam::template channel<int> queue(1);
    std::vector<int> log;
    const auto receives = [](typename TypeParam::template channel<int>* on, std::vector<int>* into, int id) -> task<> {
        const auto value = co_await on->receive();
        into->push_back(id * 10 + value.value_or(9));
    };
    const auto sends = [](typename TypeParam::template channel<int>* on) -> task<> {
        co_await yield();
        EXPECT_FALSE(co_await on->send(1));
        EXPECT_FALSE(co_await on->send(2));
        on->close();
    };
    for (const int id : {1, 2, 3}) spawn(this->ctx, receives(&queue, &log, id));
    spawn(this->ctx, sends(&queue));
    this->ctx.run();
    EXPECT_EQ(log, (std::vector<int>{11, 22, 39})) << "and the third hears that it is closed";
}

TYPED_TEST(sync, channel_close_releases_waiting_senders_and_keeps_what_is_inside) {
    typename TypeParam::template channel<int> queue(1);
    const auto body = [](context* on, typename TypeParam::template channel<int>* channel) -> task<> {
        EXPECT_FALSE(co_await channel->send(7));
        std::error_code end;
        const auto sends = [](typename TypeParam::template channel<int>* to, std::error_code* into) -> task<> {
            *into = co_await to->send(8);
        };
        task_scope children(*on);
        children.spawn(sends(channel, &end));
        co_await yield();
        channel->close();
        co_await children.join();
        EXPECT_EQ(end, errc::channel_closed);
        EXPECT_EQ(co_await channel->receive(), 7);
        const std::expected<int, std::error_code> ended = co_await channel->receive();
        EXPECT_FALSE(ended.has_value());
    };
    block_on(this->ctx, body(&this->ctx, &queue));
}

TYPED_TEST(sync, channel_waits_can_be_stopped_and_lose_nothing) {
    typename TypeParam::template channel<int> queue(1);
    const auto body = [](typename TypeParam::template channel<int>* on) -> task<> {
        const auto none = co_await with_timeout(1ms, on->receive());
        EXPECT_FALSE(none.has_value());
        int first = 1;
        EXPECT_TRUE(on->try_send(first));
        EXPECT_FALSE(on->try_send(first));
        const auto late = co_await with_timeout(1ms, on->send(2));
        EXPECT_FALSE(late.has_value());
        EXPECT_EQ(on->try_receive(), 1);
        EXPECT_EQ(on->try_receive(), std::nullopt) << "the stopped send left nothing behind";
    };
    block_on(this->ctx, body(&queue));
}

TYPED_TEST(sync, events_work_in_this_form) {
    typename TypeParam::event opened;
    typename TypeParam::auto_event ticked(true);
    EXPECT_FALSE(block_on(this->ctx, ticked.wait()));
    const auto again = block_on(this->ctx, with_timeout(1ms, ticked.wait()));
    EXPECT_FALSE(again.has_value());
    const auto sets = [](typename TypeParam::event* a, typename TypeParam::auto_event* b) -> task<> {
        co_await yield();
        a->set();
        b->set();
    };
    spawn(this->ctx, sets(&opened, &ticked));
    EXPECT_FALSE(block_on(this->ctx, opened.wait()));
    EXPECT_FALSE(block_on(this->ctx, ticked.wait()));
    EXPECT_TRUE(opened.is_set());
    EXPECT_FALSE(ticked.is_set());
}

TYPED_TEST(sync, context_destroyed_while_tasks_wait_leaves_clean_objects) {
    typename TypeParam::mutex guarded;
    typename TypeParam::template channel<int> queue(1);
    typename TypeParam::semaphore units(0);
    {
        context doomed;
        ASSERT_TRUE(guarded.try_lock());
        std::string log;
        spawn(doomed, critical(&guarded, &log, 'a'));
        const auto receives = [](auto* on) -> task<> { co_await on->receive(); };
        const auto acquires = [](auto* on) -> task<> { co_await on->acquire(); };
        spawn(doomed, receives(&queue));
        spawn(doomed, acquires(&units));
        const auto stops = [](context* on) -> task<> {
            co_await yield();
            on->stop();
        };
        spawn(doomed, stops(&doomed));
        doomed.run();
    }
    guarded.unlock();
    EXPECT_TRUE(guarded.try_lock());
    guarded.unlock();
}

}  // namespace
}  // namespace corro::io
