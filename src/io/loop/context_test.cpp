// SPDX-License-Identifier: Apache-2.0
#include "io/loop/context.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "io/loop/after_events.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/sync/event.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class context_on : public on_backend {};

TEST_P(context_on, run_returns_when_no_task_is_left) {
    ctx.run();
    const auto body = []() -> task<> { co_await sleep_for(1ms); };
    spawn(ctx, body());
    ctx.run();
    EXPECT_EQ(ctx.roots().size(), 0U);
}

TEST_P(context_on, stop_ends_run_and_a_later_run_goes_on) {
    int turns_count = 0;
    const auto body = [](int* count) -> task<> {
        for (; *count < 100'000; ++*count) co_await yield();
    };
    const auto stopper = [](context* on) -> task<> {
        co_await yield();
        on->stop();
    };
    spawn(ctx, body(&turns_count));
    spawn(ctx, stopper(&ctx));
    ctx.run();
    EXPECT_LT(turns_count, 100'000);
    ctx.run();
    EXPECT_EQ(turns_count, 100'000);
}

TEST_P(context_on, stop_from_another_thread_wakes_a_sleeping_loop) {
    const work_guard guard(ctx);
    // A stop that does not arrive is noticed here, and not by the time limit of the whole program.
    bool was_late = false;
    const auto give_up = [](context* on, bool* late) -> task<> {
        const std::error_code stopped = co_await sleep_for(test_patience);
        if (stopped) co_return;
        *late = true;
        on->stop();
    };
    spawn(ctx, give_up(&ctx, &was_late));
    std::atomic<bool> has_asked{false};
    std::thread other([this, &has_asked] {
        std::this_thread::sleep_for(5ms);
        has_asked = true;
        ctx.stop();
    });
    ctx.run();
    EXPECT_TRUE(has_asked) << "with work left, only a stop ends a run";
    EXPECT_FALSE(was_late) << "the loop sleeps on";
    other.join();
}

TEST_P(context_on, stop_before_run_makes_run_return_at_once) {
    int turns_count = 0;
    const auto body = [](int* count) -> task<> {
        for (; *count < 3; ++*count) co_await yield();
    };
    spawn(ctx, body(&turns_count));
    const int before = turns_count;
    ctx.stop();
    ctx.run();
    EXPECT_EQ(turns_count, before) << "no turn";
    EXPECT_EQ(ctx.roots().size(), 1U);
    ctx.run();
    EXPECT_EQ(turns_count, 3) << "one stop ends one run";
}

TEST_P(context_on, busy_polling_context_still_sleeps_fires_and_wakes) {
    context_options options(*GetParam());
    options.busy_poll = 200us;
    context busy(options);
    remote_event rung(busy);
    std::thread other([&rung] {
        std::this_thread::sleep_for(5ms);
        rung.set();
    });
    EXPECT_FALSE(block_on(busy, rung.wait()));
    EXPECT_FALSE(block_on(busy, sleep_for(1ms)));
    other.join();
}

TEST_P(context_on, after_events_lets_everybody_go_first_whose_event_was_collected) {
    if (GetParam()->name() == "asio") GTEST_SKIP() << "Asio keeps what is ready to itself and gives one at a time";
    constexpr std::size_t readers_count = 3;
    std::vector<unix_stream> readers;
    std::vector<int> writers;
    for (std::size_t i = 0; i < readers_count; ++i) {
        std::array<int, 2> files{};
        ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, files.data()), 0);
        auto adopted = unix_stream::adopt(ctx, files[0]);
        ASSERT_TRUE(adopted);
        readers.push_back(std::move(*adopted));
        writers.push_back(files[1]);
    }
    auto_event news;
    std::size_t read_count = 0;
    std::size_t seen_count = 0;
    const auto reader = [](unix_stream* from, auto_event* on, std::size_t* count) -> task<> {
        std::array<std::byte, 1> letter{};
        const io_result got = co_await from->read_some(letter);
        EXPECT_FALSE(got.error);
        ++*count;
        on->set();
    };
    const auto collector = [](auto_event* on, const std::size_t* count, std::size_t* seen) -> task<> {
        const std::error_code stopped = co_await on->wait();
        EXPECT_FALSE(stopped);
        co_await after_events();
        *seen = *count;
    };
    // Writes at once and without the backend, so that the loop finds all data together.
    const auto writer = [](const std::vector<int>* to) -> task<> {
        co_await yield();  // the readers wait by now
        for (const int each : *to) EXPECT_EQ(::write(each, "x", 1), 1);
    };
    spawn(ctx, collector(&news, &read_count, &seen_count));
    for (unix_stream& each : readers) spawn(ctx, reader(&each, &news, &read_count));
    spawn(ctx, writer(&writers));
    ctx.run();
    EXPECT_EQ(seen_count, readers_count);
    for (const int each : writers) ::close(each);
}

TEST_P(context_on, after_events_does_not_wait_when_there_are_none) {
    const auto body = []() -> task<> {
        for (int i = 0; i < 3; ++i) co_await after_events();
    };
    spawn(ctx, body());
    ctx.run();
    EXPECT_EQ(ctx.roots().size(), 0U);
}

struct counted {
    explicit counted(int* alive) noexcept : alive_count(alive) { ++*alive_count; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*alive_count; }
    int* alive_count;
};

TEST_P(context_on, destroyed_with_work_parked_destroys_every_frame) {
    int alive_count = 0;
    {
        manual_event never;
        auto doomed = std::make_unique<context>(context_options(*GetParam()));
        remote_event silence(*doomed);
        const auto sleeper = [](int* alive) -> task<> {
            const counted mark(alive);
            co_await sleep_for(1h);
        };
        const auto waiter = [](int* alive, manual_event* on) -> task<> {
            const counted mark(alive);
            co_await on->wait();
        };
        const auto remote_waiter = [](int* alive, remote_event* on) -> task<> {
            const counted mark(alive);
            co_await on->wait();
        };
        const auto reader = [](int* alive, context* on) -> task<> {
            const counted mark(alive);
            auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
            EXPECT_TRUE(acceptor);
            auto client = co_await tcp_stream::connect(*on, *acceptor->local_endpoint());
            auto server = co_await acceptor->accept();
            std::array<std::byte, 8> bytes{};
            co_await server->read_some(bytes);
        };
        const auto parent = [](int* alive, context* on, auto make) -> task<> {
            task_scope children(*on);
            children.spawn(make(alive));
            children.spawn(make(alive));
            co_await children.join();
        };
        const auto combined = [](int* alive, manual_event* on, auto make) -> task<> {
            co_await when_any(make(alive, on), with_timeout(1h, make(alive, on)));
        };
        const auto never_started = [](std::unique_ptr<counted> held) -> task<> {
            EXPECT_EQ(held, nullptr) << "this task is destroyed before it starts";
            co_return;
        };
        spawn(*doomed, sleeper(&alive_count));
        spawn(*doomed, waiter(&alive_count, &never));
        spawn(*doomed, remote_waiter(&alive_count, &silence));
        spawn(*doomed, reader(&alive_count, doomed.get()));
        spawn(*doomed, parent(&alive_count, doomed.get(), sleeper));
        spawn(*doomed, combined(&alive_count, &never, waiter));
        const auto stopper = [](context* on) -> task<> {
            co_await sleep_for(5ms);
            on->stop();
        };
        spawn(*doomed, stopper(doomed.get()));
        doomed->run();
        EXPECT_EQ(alive_count, 8);
        spawn(*doomed, never_started(std::make_unique<counted>(&alive_count)));
        doomed.reset();
        EXPECT_EQ(alive_count, 0);
    }
}

TEST_P(context_on, wake_ups_during_the_tear_down_are_harmless) {
    auto doomed = std::make_unique<context>(context_options(*GetParam()));
    manual_event happened;
    struct setter {
        explicit setter(manual_event* on) noexcept : event(on) {}
        setter(const setter&) = delete;
        setter& operator=(const setter&) = delete;
        ~setter() { event->set(); }
        manual_event* event;
    };
    const auto waits = [](manual_event* on) -> task<> { co_await on->wait(); };
    const auto sets_when_destroyed = [](manual_event* on) -> task<> {
        const setter last_word(on);
        co_await sleep_for(1h);
    };
    spawn(*doomed, waits(&happened));
    spawn(*doomed, sets_when_destroyed(&happened));
    spawn(*doomed, waits(&happened));
    const auto stopper = [](context* on) -> task<> {
        co_await yield();
        on->stop();
    };
    spawn(*doomed, stopper(doomed.get()));
    doomed->run();
    doomed.reset();
    EXPECT_TRUE(happened.is_set());
}

CORRO_ON_EVERY_BACKEND(context_on);

}  // namespace
}  // namespace corro::io
