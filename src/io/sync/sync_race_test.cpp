// SPDX-License-Identifier: Apache-2.0
// Tests the shared forms, and work on other contexts, across threads. The thread sanitizer runs it too.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/sync/semaphore.hpp"
#include "io/task/resume_on.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

#if defined(CORRO_SANITIZED)
constexpr int rounds = 2'000;
constexpr int posts_count = 100'000;
#else
constexpr int rounds = 20'000;
constexpr int posts_count = 1'000'000;
#endif

class across : public on_backend {
 protected:
    /// Runs `make(thread index)` on `threads_count` contexts, each on its own thread.
    template <class Make>
    void on_threads(int threads_count, Make make) {
        std::vector<std::thread> threads;
        for (int i = 0; i < threads_count; ++i) {
            threads.emplace_back([i, make] {
                context own{context_options(*GetParam())};
                block_on(own, make(i));
            });
        }
        for (std::thread& each : threads) each.join();
    }
};

TEST_P(across, shared_mutex_lets_one_in_at_a_time) {
    shared_mutex guarded;
    long counter = 0;  // not atomic: the mutex guards it
    on_threads(4, [&guarded, &counter](int) {
        return [](shared_mutex* mutex, long* count) -> task<> {
            for (int i = 0; i < rounds; ++i) {
                const auto guard = co_await mutex->scoped_lock();
                ++*count;
                if (i % 16 == 0) co_await yield();
            }
        }(&guarded, &counter);
    });
    EXPECT_EQ(counter, 4L * rounds);
}

TEST_P(across, shared_mutex_waits_that_are_stopped_never_hold_the_lock) {
    shared_mutex guarded;
    std::atomic<long> acquired{0};
    long counter = 0;
    on_threads(3, [&](int) {
        return [](shared_mutex* mutex, long* count, std::atomic<long>* successes) -> task<> {
            for (int i = 0; i < rounds / 10; ++i) {
                const auto got = co_await with_timeout(std::chrono::microseconds(i % 20), mutex->lock());
                if (!got.has_value() || *got) continue;
                ++*count;
                successes->fetch_add(1);
                if (i % 4 == 0) co_await sleep_for(10us);
                mutex->unlock();
            }
        }(&guarded, &counter, &acquired);
    });
    EXPECT_EQ(counter, acquired.load());
    EXPECT_TRUE(guarded.try_lock());
    guarded.unlock();
}

TEST_P(across, shared_channel_passes_every_value_once) {
    shared_channel<int> queue(16);
    std::atomic<long> sum{0};
    std::atomic<int> senders_left{2};
    on_threads(4, [&](int index) {
        if (index < 2) {
            return [](shared_channel<int>* to, std::atomic<int>* left) -> task<> {
                for (int i = 1; i <= rounds; ++i) EXPECT_FALSE(co_await to->send(i));
                if (left->fetch_sub(1) == 1) to->close();
            }(&queue, &senders_left);
        }
        return [](shared_channel<int>* from, std::atomic<long>* total) -> task<> {
            for (;;) {
                const auto value = co_await from->receive();
                if (!value) co_return;
                total->fetch_add(*value);
            }
        }(&queue, &sum);
    });
    EXPECT_EQ(sum.load(), 2L * rounds * (rounds + 1) / 2);
}

TEST_P(across, shared_semaphore_and_latch_count_across_threads) {
    shared_semaphore units(2);
    shared_latch finished(4);
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
    on_threads(4, [&](int) {
        return [](shared_semaphore* on, shared_latch* end, std::atomic<int>* now, std::atomic<int>* peak) -> task<> {
            for (int i = 0; i < rounds / 4; ++i) {
                EXPECT_FALSE(co_await on->acquire());
                const int seen = now->fetch_add(1) + 1;
                int before = peak->load();
                while (before < seen && !peak->compare_exchange_weak(before, seen)) {
                }
                now->fetch_sub(1);
                on->release();
            }
            end->count_down();
            EXPECT_FALSE(co_await end->wait());
        }(&units, &finished, &inside, &most);
    });
    EXPECT_LE(most.load(), 2);
    EXPECT_EQ(units.available(), 2U);
}

TEST_P(across, shared_event_may_be_destroyed_by_the_first_waiter_that_wakes) {
    const int events_count = rounds / 10;
    std::vector<std::unique_ptr<shared_manual_event>> events;
    for (int i = 0; i < events_count; ++i) events.push_back(std::make_unique<shared_manual_event>());
    std::atomic<shared_manual_event*> current{nullptr};
    std::thread setter([&] {
        for (int i = 0; i < events_count; ++i) {
            shared_manual_event* next = nullptr;
            while ((next = current.exchange(nullptr)) == nullptr) std::this_thread::yield();
            next->set();
        }
    });
    const auto waiter = [](std::vector<std::unique_ptr<shared_manual_event>>* all,
                           std::atomic<shared_manual_event*>* shown) -> task<> {
        for (auto& each : *all) {
            shown->store(each.get());
            EXPECT_FALSE(co_await each->wait());
            each.reset();
        }
    };
    block_on(ctx, waiter(&events, &current));
    setter.join();
}

TEST_P(across, a_million_tasks_posted_from_another_thread_all_run) {
    const work_guard guard(ctx);
    int counter = 0;
    const auto counts = [](context* on, int* count) -> task<> {
        if (++*count == posts_count) on->stop();
        co_return;
    };
    std::thread other([&] {
        for (int i = 0; i < posts_count; ++i) remote_spawn(ctx, counts(&ctx, &counter));
    });
    ctx.run();
    other.join();
    EXPECT_EQ(counter, posts_count);
}

TEST_P(across, tasks_delivered_to_a_context_that_is_destroyed_are_destroyed_with_it) {
    auto held = std::make_shared<int>(0);
    const auto never = [](std::shared_ptr<int> kept) -> task<> {
        ++*kept;
        co_return;
    };
    {
        context doomed{context_options(*GetParam())};
        for (int i = 0; i < 10; ++i) remote_spawn(doomed, never(held));
        EXPECT_EQ(held.use_count(), 11);
    }
    EXPECT_EQ(held.use_count(), 1);
    EXPECT_EQ(*held, 0);
}

struct other_context {
    explicit other_context(platform* kind) : ctx(context_options(*kind)), guard(ctx), thread([this] { ctx.run(); }) {}
    other_context(const other_context&) = delete;
    other_context& operator=(const other_context&) = delete;
    ~other_context() {
        ctx.stop();
        thread.join();
    }
    context ctx;
    work_guard guard;
    std::thread thread;
};

task<std::thread::id> which_thread() {
    co_return std::this_thread::get_id();
}
task<> broken() {
    co_await yield();
    throw std::runtime_error("elsewhere");
}
task<std::error_code> sleeps() {
    co_return co_await sleep_for(1h);
}

TEST_P(across, resume_on_runs_there_and_comes_back_here) {
    other_context there(GetParam());
    const auto body = [](context* elsewhere) -> task<> {
        const std::thread::id here = std::this_thread::get_id();
        for (int i = 0; i < 100; ++i) {
            const std::thread::id seen = co_await resume_on(*elsewhere, which_thread());
            EXPECT_NE(seen, here);
            EXPECT_EQ(std::this_thread::get_id(), here);
        }
        EXPECT_THROW(co_await resume_on(*elsewhere, broken()), std::runtime_error);
    };
    block_on(ctx, body(&there.ctx));
}

TEST_P(across, stop_follows_the_work_to_the_other_context) {
    other_context there(GetParam());
    const auto body = [](context* elsewhere) -> task<> {
        for (int i = 0; i < 200; ++i) {
            const auto result = co_await with_timeout(std::chrono::microseconds(i), resume_on(*elsewhere, sleeps()));
            EXPECT_FALSE(result.has_value());
            EXPECT_EQ(result.error(), condition::timed_out);
        }
    };
    block_on(ctx, body(&there.ctx));
}

CORRO_ON_EVERY_BACKEND(across);

}  // namespace
}  // namespace corro::io
