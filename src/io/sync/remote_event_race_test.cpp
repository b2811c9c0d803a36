// SPDX-License-Identifier: Apache-2.0
#include "io/sync/remote_event.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class remote : public on_backend {};

#if defined(CORRO_SANITIZED)
constexpr int signals_count = 100'000;
#else
constexpr int signals_count = 1'000'000;
#endif

TEST_P(remote, set_before_the_wait_is_remembered_once) {
    remote_event rung(ctx);
    rung.set();
    rung.set();
    EXPECT_FALSE(block_on(ctx, rung.wait()));
    const auto again = block_on(ctx, with_timeout(1ms, rung.wait()));
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error(), condition::timed_out);
}

TEST_P(remote, wakes_a_sleeping_loop) {
    remote_event rung(ctx);
    std::thread other([&rung] {
        std::this_thread::sleep_for(5ms);
        rung.set();
    });
    EXPECT_FALSE(block_on(ctx, rung.wait()));
    other.join();
}

TEST_P(remote, nothing_written_before_a_set_is_missed_over_a_million_signals) {
    remote_event rung(ctx);
    std::atomic<int> produced{0};
    std::thread other([&] {
        for (int i = 1; i <= signals_count; ++i) {
            produced.store(i, std::memory_order_relaxed);
            rung.set();
        }
    });
    const auto consumer = [](remote_event* on, std::atomic<int>* counter) -> task<int> {
        int wakes_count = 0;
        // The producer may end before the first check; then its last signal is still set.
        do {
            EXPECT_FALSE(co_await on->wait());
            ++wakes_count;
        } while (counter->load(std::memory_order_relaxed) < signals_count);
        co_return wakes_count;
    };
    EXPECT_LE(block_on(ctx, consumer(&rung, &produced)), signals_count);
    other.join();
    EXPECT_EQ(produced.load(), signals_count);
}

TEST_P(remote, two_contexts_bounce_a_signal) {
    context there{context_options(*GetParam())};
    remote_event ping(ctx);
    remote_event pong(there);
    constexpr int rounds = signals_count / 100;
    const auto player = [](remote_event* mine, remote_event* theirs, bool serves) -> task<> {
        for (int i = 0; i < rounds; ++i) {
            if (serves || i != 0) theirs->set();
            EXPECT_FALSE(co_await mine->wait());
        }
        theirs->set();
    };
    std::thread other([&] { block_on(there, player(&pong, &ping, false)); });
    block_on(ctx, player(&ping, &pong, true));
    other.join();
}

TEST_P(remote, stop_races_with_set_and_no_signal_is_lost) {
    remote_event rung(ctx);
    // Each round is a hand-over between two threads. On a busy machine it may take a time slice.
    constexpr int rounds = signals_count / 1000;
    std::atomic<int> go{0};
    std::thread other([&] {
        for (int i = 1; i <= rounds; ++i) {
            while (go.load(std::memory_order_acquire) < i) std::this_thread::yield();
            rung.set();
        }
    });
    const auto body = [](context* on, remote_event* awaited, std::atomic<int>* turn) -> task<> {
        for (int i = 1; i <= rounds; ++i) {
            std::error_code end;
            const auto waits = [](remote_event* event, std::error_code* into) -> task<> {
                *into = co_await event->wait();
            };
            task_scope children(*on);
            children.spawn(waits(awaited, &end));
            co_await yield();
            turn->store(i, std::memory_order_release);
            children.request_stop();
            co_await children.join();
            // Either this wait got the signal, or the next one gets it.
            if (end) {
                EXPECT_FALSE(co_await awaited->wait());
            }
        }
    };
    block_on(ctx, body(&ctx, &rung, &go));
    other.join();
}

CORRO_ON_EVERY_BACKEND(remote);

}  // namespace
}  // namespace corro::io
