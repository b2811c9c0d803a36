// SPDX-License-Identifier: Apache-2.0
#include "io/loop/context_group.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>
#include <thread>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

#if defined(CORRO_SANITIZED)
constexpr int tasks_count = 20'000;
#else
constexpr int tasks_count = 200'000;
#endif

class group : public on_backend {
 protected:
    context_options options{*GetParam()};
};

task<> counts(std::atomic<int>* counter, bool yields) {
    if (yields) co_await yield();
    counter->fetch_add(1, std::memory_order_relaxed);
}

TEST_P(group, runners_share_what_was_spawned_before_and_return_when_all_has_ended) {
    context_group four(4, options);
    std::atomic<int> counter{0};
    for (int i = 0; i < tasks_count; ++i) four.spawn(counts(&counter, i % 2 == 0));
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([&four] { four.run(); });
    four.run();
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(counter.load(), tasks_count);
    four.run();
}

TEST_P(group, fewer_runners_than_contexts_do_everything_too) {
    context_group four(4, options);
    std::atomic<int> counter{0};
    for (int i = 0; i < 1000; ++i) four.spawn(counts(&counter, true));
    four.run();
    EXPECT_EQ(counter.load(), 1000);
}

TEST_P(group, tasks_posted_while_it_runs_are_all_run) {
    context_group two(2, options);
    std::atomic<int> counter{0};
    two.hold();
    std::thread runner([&two] { two.run(); });
    std::thread poster([&] {
        for (int i = 0; i < tasks_count; ++i) two.spawn(counts(&counter, false));
        two.release();
    });
    two.run();
    runner.join();
    poster.join();
    EXPECT_EQ(counter.load(), tasks_count);
}

TEST_P(group, tasks_may_make_tasks_while_runners_come_and_go) {
    context_group three(3, options);
    std::atomic<int> counter{0};
    const auto makes = [](context_group* in, std::atomic<int>* counted) -> task<> {
        for (int i = 0; i < 10; ++i) {
            in->spawn(counts(counted, i % 3 == 0));
            co_await yield();
        }
        counted->fetch_add(1, std::memory_order_relaxed);
    };
    for (int i = 0; i < tasks_count / 20; ++i) three.spawn(makes(&three, &counter));
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back([&three] { three.run(); });
    three.run();
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(counter.load(), tasks_count / 20 * 11);
}

TEST_P(group, threads_that_spawn_and_poll_do_everything_between_them) {
    context_group three(3, options);
    std::atomic<int> counter{0};
    const auto work = [&] {
        for (int i = 0; i < tasks_count / 1000; ++i) {
            for (int each = 0; each < 100; ++each) three.spawn(counts(&counter, each == 0));
            three.poll();
        }
    };
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) threads.emplace_back(work);
    work();
    for (std::thread& each : threads) each.join();
    // Tasks that had yielded may be on any of the three contexts.
    threads.clear();
    for (int i = 0; i < 2; ++i) threads.emplace_back([&three] { three.run(); });
    three.run();
    for (std::thread& each : threads) each.join();
    EXPECT_EQ(counter.load(), tasks_count / 10 * 3);
}

TEST_P(group, an_idle_runner_takes_what_a_busy_one_cannot) {
    context_group two(2, options);
    std::atomic<bool> other_ran{false};
    const auto sets = [](std::atomic<bool>* flag) -> task<> {
        flag->store(true);
        co_return;
    };
    const auto waits_without_leaving_its_thread = [](context_group* in, std::atomic<bool>* flag, auto make) -> task<> {
        in->spawn(make(flag));
        while (!flag->load()) std::this_thread::yield();
        co_return;
    };
    std::thread runner;
    two.hold();
    runner = std::thread([&two] { two.run(); });
    two.spawn(waits_without_leaving_its_thread(&two, &other_ran, sets));
    two.release();
    two.run();
    runner.join();
    EXPECT_TRUE(other_ran.load());
}

TEST_P(group, parked_tasks_are_destroyed_with_the_group) {
    auto held = std::make_shared<int>(0);
    const auto waits = [](std::shared_ptr<int> kept) -> task<> {
        co_await sleep_for(1h);
        ++*kept;
    };
    {
        context_group two(2, options);
        for (int i = 0; i < 10; ++i) two.spawn(waits(held));
        two.poll();
        EXPECT_EQ(held.use_count(), 11);
    }
    EXPECT_EQ(held.use_count(), 1);
}

TEST_P(group, a_task_stays_on_the_thread_that_started_it) {
    context_group two(2, options);
    std::atomic<int> moved_count{0};
    const auto stays = [](std::atomic<int>* moved) -> task<> {
        const std::thread::id home = std::this_thread::get_id();
        for (int i = 0; i < 10; ++i) {
            co_await sleep_for(100us);
            if (std::this_thread::get_id() != home) moved->fetch_add(1);
        }
    };
    for (int i = 0; i < 50; ++i) two.spawn(stays(&moved_count));
    std::thread runner([&two] { two.run(); });
    two.run();
    runner.join();
    EXPECT_EQ(moved_count.load(), 0);
}

TEST_P(group, failure_of_a_task_stops_the_group_and_is_rethrown_once) {
    context_group two(2, options);
    const auto waits = []() -> task<> { co_await sleep_for(1h); };
    const auto fails = []() -> task<> {
        co_await yield();
        throw std::runtime_error("task");
    };
    for (int i = 0; i < 10; ++i) two.spawn(waits());
    two.spawn(fails());
    std::atomic<int> failures_count{0};
    const auto run = [&] {
        try {
            two.run();
        } catch (const std::runtime_error&) {
            failures_count.fetch_add(1);
        }
    };
    std::thread runner(run);
    run();
    runner.join();
    EXPECT_EQ(failures_count.load(), 1);
}

TEST_P(group, tasks_that_never_started_are_destroyed_with_the_group) {
    auto held = std::make_shared<int>(0);
    const auto never = [](std::shared_ptr<int> kept) -> task<> {
        ++*kept;
        co_return;
    };
    {
        context_group two(2, options);
        for (int i = 0; i < 10; ++i) two.spawn(never(held));
        EXPECT_EQ(held.use_count(), 11);
    }
    EXPECT_EQ(held.use_count(), 1);
}

TEST_P(group, pool_serves_connections_evenly_on_every_context) {
    constexpr int connections_count = 40;
    std::atomic<int> port{0};
    std::array<std::atomic<int>, 2> served{};
    {
        context_pool pool(2, options);
        context_group& both = pool.group();
        const auto serve = [&served, &both](tcp_stream stream) -> task<> {
            return [](tcp_stream on, std::array<std::atomic<int>, 2>* counts_by_context, context_group* all) -> task<> {
                const context& here = co_await this_context();
                (*counts_by_context)[&here == &all->at(0) ? 0 : 1].fetch_add(1);
                std::array<std::byte, 16> buffer{};
                const io_result got = co_await on.read_exact(std::span(buffer).first(4));
                EXPECT_TRUE(got.ok());
                co_await on.write_all(std::span(buffer).first(4));
            }(std::move(stream), &served, &both);
        };
        const auto opened = [&port](endpoint at) { port.store(at.port()); };
        const auto accepts = [](context_group* group_of, auto handler, auto tell) -> task<> {
            co_await serve_balanced(group_of, endpoint::loopback(0), handler, tell);
        };
        pool.spawn(accepts(&both, serve, opened));
        while (port.load() == 0) std::this_thread::yield();
        const auto asks = [](context* on, endpoint to) -> task<> {
            auto stream = co_await tcp_stream::connect(*on, to);
            EXPECT_TRUE(stream);
            std::array<std::byte, 4> buffer{};
            co_await stream->write_all(buffer);
            const io_result got = co_await stream->read_exact(buffer);
            EXPECT_TRUE(got.ok());
        };
        for (int i = 0; i < connections_count; ++i) {
            block_on(ctx, asks(&ctx, endpoint::loopback(static_cast<std::uint16_t>(port.load()))));
        }
    }
    EXPECT_EQ(served[0].load(), connections_count / 2);
    EXPECT_EQ(served[1].load(), connections_count / 2);
}

TEST_P(group, pool_joins_when_every_task_has_ended) {
    std::atomic<int> counter{0};
    context_pool pool(3, options);
    for (int i = 0; i < 1000; ++i) pool.spawn(counts(&counter, true));
    pool.join();
    EXPECT_EQ(counter.load(), 1000);
}

CORRO_ON_EVERY_BACKEND(group);

}  // namespace
}  // namespace corro::io
