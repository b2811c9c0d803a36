// SPDX-License-Identifier: Apache-2.0
#include "io/process/signals.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <csignal>
#include <thread>

#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class signals : public on_backend {};

TEST_P(signals, raised_before_the_wait_is_pending) {
    signal_set set(ctx, {SIGUSR1, SIGUSR2});
    std::raise(SIGUSR2);
    std::raise(SIGUSR1);
    std::raise(SIGUSR1);
    EXPECT_EQ(block_on(ctx, set.wait()), SIGUSR1);
    EXPECT_EQ(block_on(ctx, set.wait()), SIGUSR2);
    const auto none = block_on(ctx, with_timeout(1ms, set.wait()));
    ASSERT_FALSE(none.has_value());
    EXPECT_EQ(none.error(), condition::timed_out);
}

TEST_P(signals, sent_to_another_thread_wakes_a_sleeping_loop) {
    signal_set set(ctx, {SIGUSR1});
    std::thread other([] {
        std::this_thread::sleep_for(5ms);
        ::pthread_kill(::pthread_self(), SIGUSR1);
    });
    EXPECT_EQ(block_on(ctx, set.wait()), SIGUSR1);
    other.join();
}

TEST_P(signals, several_sets_each_get_the_signal) {
    signal_set first(ctx, {SIGUSR1});
    {
        signal_set second(ctx, {SIGUSR1, SIGUSR2});
        std::raise(SIGUSR1);
        EXPECT_EQ(block_on(ctx, second.wait()), SIGUSR1);
    }
    EXPECT_EQ(block_on(ctx, first.wait()), SIGUSR1);
    std::raise(SIGUSR1);
    EXPECT_EQ(block_on(ctx, first.wait()), SIGUSR1) << "still taken over after the other set has gone";
}

TEST_P(signals, earlier_effect_comes_back_with_the_last_set) {
    static volatile std::sig_atomic_t seen_count = 0;
    struct sigaction action{};
    struct sigaction before{};
    action.sa_handler = [](int) { seen_count = seen_count + 1; };
    ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
    seen_count = 0;
    {
        signal_set set(ctx, {SIGUSR1});
        std::raise(SIGUSR1);
        EXPECT_EQ(seen_count, 0);
    }
    std::raise(SIGUSR1);
    EXPECT_EQ(seen_count, 1);
    ASSERT_EQ(::sigaction(SIGUSR1, &before, nullptr), 0);
}

TEST_P(signals, numbers_that_cannot_be_taken_over_are_refused) {
    EXPECT_THROW(signal_set(ctx, {SIGKILL}), std::system_error);
    EXPECT_THROW(signal_set(ctx, {SIGUSR1, SIGSTOP}), std::system_error);
    EXPECT_THROW(signal_set(ctx, {0}), std::system_error);
    EXPECT_THROW(signal_set(ctx, {65}), std::system_error);
}

CORRO_ON_EVERY_BACKEND(signals);

}  // namespace
}  // namespace corro::io
