// SPDX-License-Identifier: Apache-2.0
// The bridges between coroutines and callback code: await_callback and the callback bridge.
#include <gtest/gtest.h>

#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/sync/event.hpp"
#include "io/task/await_callback.hpp"
#include "io/task/callback_bridge.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

task<int> twice(int number) {
    co_await sleep_for(1ms);
    co_return 2 * number;
}
task<int> fails() {
    co_await sleep_for(1ms);
    throw std::runtime_error("on purpose");
}
task<std::string> until_stopped() {
    const std::error_code stopped = co_await sleep_for(1h);
    co_return stopped == condition::canceled ? "stopped" : "slept for an hour";
}

class bridges : public on_backend {
 protected:
    /// Runs the context on another thread while `body` runs here.
    template <class Body>
    void beside_a_running_context(Body body) {
        std::optional<work_guard> held(std::in_place, ctx);
        std::thread runner([this] { ctx.run(); });
        body();
        ctx.stop();
        runner.join();
    }
};

TEST_P(bridges, callbacks_from_other_threads_and_on_the_spot_are_awaited) {
    const auto body = []() -> task<> {
        std::vector<std::thread> threads;
        const auto elsewhere = [&threads](callback<int, std::string> done) {
            threads.emplace_back([done] { done(7, "seven"); });
        };
        const auto both = co_await await_callback<int, std::string>(elsewhere);
        CORRO_REQUIRE(both.has_value());
        EXPECT_EQ(*both, std::tuple(7, std::string("seven")));
        const auto at_once = [](callback<int> done) {
            done(1);
            done(2);
        };
        const auto one = co_await await_callback<int>(at_once);
        EXPECT_EQ(one, 1) << "the first call counts";
        const auto nothing = [](callback<> done) { done(); };
        const auto none = co_await await_callback<>(nothing);
        EXPECT_TRUE(none.has_value());
        for (std::thread& each : threads) each.join();
    };
    block_on(ctx, body());
}

TEST_P(bridges, what_the_library_throws_comes_out_of_the_await_and_a_dropped_callback_ends_it) {
    const auto body = []() -> task<> {
        const auto throwing = [](callback<int>) { throw std::runtime_error("refused"); };
        std::string what;
        try {
            const auto never = co_await await_callback<int>(throwing);
            EXPECT_FALSE(never.has_value());
        } catch (const std::runtime_error& refused) {
            what = refused.what();
        }
        EXPECT_EQ(what, "refused");
        const auto dropping = [](callback<int>) {};
        const auto dropped = co_await await_callback<int>(dropping);
        CORRO_REQUIRE(!dropped.has_value());
        EXPECT_EQ(dropped.error(), condition::canceled);
    };
    block_on(ctx, body());
}

TEST_P(bridges, a_stop_asks_the_library_and_waits_for_its_answer) {
    const auto body = []() -> task<> {
        std::optional<callback<int>> kept;
        const auto keep = [&kept](callback<int> done) { kept = done; };
        int cancels_count = 0;
        const auto cancel = [&kept, &cancels_count] {
            ++cancels_count;
            (*kept)(-1);
        };
        const auto got = co_await with_timeout(2ms, await_callback<int>(keep, cancel));
        EXPECT_EQ(cancels_count, 1);
        CORRO_REQUIRE(got.has_value() && got->has_value());
        EXPECT_EQ(**got, -1) << "the library's answer counts";
        const auto late = co_await with_timeout(2ms, await_callback<int>(keep));
        CORRO_REQUIRE(!late.has_value());
        EXPECT_EQ(late.error(), condition::timed_out);
        (*kept)(5);  // no task waits any more
    };
    block_on(ctx, body());
}

TEST_P(bridges, a_callback_may_come_after_the_context_has_gone) {
    std::optional<callback<int>> kept;
    {
        context short_lived{context_options(*GetParam())};
        const auto body = [](std::optional<callback<int>>* into) -> task<> {
            const auto keep = [into](callback<int> done) { *into = done; };
            const auto never = co_await await_callback<int>(keep);
            ADD_FAILURE() << never.has_value();
        };
        spawn(short_lived, body(&kept));
        block_on(short_lived, sleep_for(1ms));
    }
    ASSERT_TRUE(kept.has_value());
    (*kept)(1);
}

TEST_P(bridges, the_springboard_brings_results_and_exceptions_to_a_future_and_to_a_blocking_call) {
    beside_a_running_context([this] {
        std::future<int> later = start_with_future(ctx, twice(21));
        EXPECT_EQ(later.get(), 42);
        EXPECT_EQ(start_and_wait(ctx, twice(4)), 8);
        std::future<int> failed = start_with_future(ctx, fails());
        EXPECT_THROW(failed.get(), std::runtime_error);
        EXPECT_THROW(start_and_wait(ctx, fails()), std::runtime_error);
        EXPECT_EQ(start_and_wait(ctx, twice(1)), 2) << "and the context goes on";
    });
}

TEST_P(bridges, the_springboard_calls_back_on_the_contexts_thread) {
    beside_a_running_context([this] {
        std::promise<std::thread::id> where;
        std::promise<bool> failed;
        start_with_callback(ctx, twice(1), [&where](const task_outcome<int>& got) {
            EXPECT_EQ(got.value_or(0), 2);
            where.set_value(std::this_thread::get_id());
        });
        start_with_callback(ctx, fails(), [&failed](const task_outcome<int>& got) { failed.set_value(!got); });
        EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
        EXPECT_TRUE(failed.get_future().get());
    });
}

TEST_P(bridges, what_the_callback_throws_comes_out_of_run) {
    start_with_callback(ctx, twice(1), [](const task_outcome<int>&) { throw std::runtime_error("from the callback"); });
    EXPECT_THROW(ctx.run(), std::runtime_error);
}

TEST_P(bridges, a_task_that_was_started_from_outside_is_stopped_from_outside) {
    beside_a_running_context([this] {
        std::promise<std::string> ended;
        const started_task running =
            start_with_callback(ctx, until_stopped(),
                                [&ended](const task_outcome<std::string>& got) { ended.set_value(got.value_or("")); });
        running.request_stop();
        EXPECT_EQ(ended.get_future().get(), "stopped");
        running.request_stop();  // harmless
    });
}

TEST_P(bridges, a_context_that_goes_tells_whoever_waits) {
    std::future<std::string> orphan;
    int calls_count = 0;
    bool canceled = false;
    {
        context short_lived{context_options(*GetParam())};
        orphan = start_with_future(short_lived, until_stopped());
        start_with_callback(short_lived, until_stopped(), [&](const task_outcome<std::string>& got) {
            ++calls_count;
            canceled = !got.has_value();
        });
        block_on(short_lived, sleep_for(1ms));
        EXPECT_EQ(calls_count, 0);
    }
    EXPECT_THROW(orphan.get(), std::system_error);
    EXPECT_EQ(calls_count, 1);
    EXPECT_TRUE(canceled);
}

CORRO_ON_EVERY_BACKEND(bridges);

}  // namespace
}  // namespace corro::io
