// SPDX-License-Identifier: Apache-2.0
// Faults of other libraries of this kind. Each test checks that this library does not have one of them.
#include <gtest/gtest.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "io/loop/machine.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/resolver.hpp"
#include "io/net/udp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/process/signals.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/system_calls_fixture.hpp"
#include "io/testing/tcp_pair_fixture.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class faults : public on_backend {};

constexpr std::array<std::byte, 4> four_bytes{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};

/// Does not let the loop run until `until` has passed.
void stall(context& on, steady_time until) {
    while (on.now() < until) continue;
}

TEST_P(faults, timeout_around_a_read_that_had_data_returns_the_data) {
    const auto body = [](context* on) -> task<> {
        tcp_pair pair = co_await make_tcp_pair(on);
        std::array<std::byte, 8> buffer{};
        for (int round = 0; round < 20; ++round) {
            // The data arrived before the read, and the timeout expired before it began.
            co_await pair.client.write_all(four_bytes);
            const auto past = co_await with_deadline(on->now() - 1s, pair.server.read_some(buffer));
            EXPECT_TRUE(past.has_value() && past->bytes == 4U);
            // The read waits. Data and timeout come in one turn of the loop.
            const auto late = [](context* here, tcp_stream* from) -> task<> {
                co_await yield();
                const steady_time due = here->now() + 1ms;
                co_await from->write_all(four_bytes);
                stall(*here, due + 1ms);
            };
            const auto reads = [](tcp_stream* from, std::span<std::byte> into) -> task<std::size_t> {
                const auto got = co_await with_timeout(1ms, from->read_some(into));
                co_return got ? got->bytes : 0;
            };
            const auto [bytes, done] = co_await when_all(reads(&pair.server, buffer), late(on, &pair.client));
            EXPECT_EQ(done, std::monostate());
            // On a machine so slow that the timeout expired before the write, the bytes are still in the stream.
            if (bytes == 0) {
                const io_result kept = co_await pair.server.read_exact(std::span(buffer).first(4));
                EXPECT_TRUE(kept.ok());
            } else {
                EXPECT_EQ(bytes, 4U);
            }
        }
    };
    block_on(ctx, body(&ctx));
}

TEST_P(faults, data_and_timeout_in_one_turn_give_the_data) {
    // As above, but deterministic: the timer is armed while the loop is blocked, and is due together with the data.
    const auto body = [](context* on) -> task<> {
        tcp_pair pair = co_await make_tcp_pair(on);
        for (int round = 0; round < 20; ++round) {
            std::array<std::byte, 8> buffer{};
            const auto writes = [](context* here, tcp_stream* to, const steady_time* due) -> task<> {
                const io_result sent = co_await to->write_all(four_bytes);
                EXPECT_TRUE(sent.ok());
                stall(*here, *due + 100us);
            };
            const steady_time due = on->now() + 200us;
            const auto [got, done] =
                co_await when_all(with_deadline(due, pair.server.read_some(buffer)), writes(on, &pair.client, &due));
            EXPECT_EQ(done, std::monostate());
            EXPECT_TRUE(got.has_value()) << "round " << round;
            if (got) {
                EXPECT_EQ(got->bytes, 4U);
            }
        }
    };
    block_on(ctx, body(&ctx));
}

TEST_P(faults, destroyed_acceptor_swallows_no_completion_of_other_sockets) {
    const auto body = [](context* on) -> task<> {
        constexpr std::size_t pairs_count = 8;
        std::vector<tcp_pair> pairs;
        for (std::size_t i = 0; i < pairs_count; ++i) pairs.push_back(co_await make_tcp_pair(on));
        const auto reads = [](tcp_stream* from, int* count) -> task<> {
            std::array<std::byte, 4> buffer{};
            const io_result got = co_await from->read_exact(buffer);
            EXPECT_TRUE(got.ok());
            ++*count;
        };
        const auto accepts = [](tcp_acceptor* from) -> task<> {
            const auto ended = co_await from->accept();
            EXPECT_FALSE(ended);
        };
        for (int round = 0; round < 20; ++round) {
            auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
            EXPECT_TRUE(acceptor);
            task_scope children(*on);
            int received_count = 0;
            for (auto& each : pairs) children.spawn(reads(&each.server, &received_count));
            children.spawn(accepts(&*acceptor));
            co_await yield();
            co_await yield();
            // Half of the data comes before the acceptor closes, half after it, all within one turn.
            for (std::size_t i = 0; i < pairs_count; ++i) {
                if (i == pairs_count / 2) acceptor->close();
                const io_result sent = co_await pairs[i].client.write_some(four_bytes);
                EXPECT_EQ(sent.bytes, 4U);
            }
            co_await children.join();
            EXPECT_EQ(received_count, static_cast<int>(pairs_count));
        }
    };
    block_on(ctx, body(&ctx));
}

TEST_P(faults, signal_handler_that_interrupts_a_lock_of_its_own_library_does_not_wait_for_it) {
    // Alarms interrupt this thread while it opens and closes sets and posts to the loop. A handler that took a lock of
    // those calls would deadlock.
    auto watched = signal_set::open(ctx, {SIGALRM});
    ASSERT_TRUE(watched);
    itimerval storm{};
    storm.it_interval.tv_usec = 50;
    storm.it_value.tv_usec = 50;
    itimerval quiet{};
    ASSERT_EQ(::setitimer(ITIMER_REAL, &storm, nullptr), 0);
    for (int i = 0; i < 5000; ++i) {
        auto other = signal_set::open(ctx, {SIGALRM, SIGUSR1});
        EXPECT_TRUE(other);
        ctx.stop();
        ctx.run();
    }
    EXPECT_EQ(::setitimer(ITIMER_REAL, &quiet, nullptr), 0);
    std::raise(SIGALRM);
    EXPECT_EQ(block_on(ctx, watched->wait()), SIGALRM);
}

TEST_P(faults, a_context_of_one_thread_looks_up_names) {
    const auto found = block_on(ctx, resolve("localhost", 80));
    ASSERT_TRUE(found) << found.error().message();
    EXPECT_FALSE(found->empty());
}

/// Exits with 0 if a stop reaches a thousand tasks, each at one of four kinds of wait, without a system call.
void stop_a_thousand_waiters_without_the_kernel(platform* kind) {
    context own{context_options(*kind)};
    const auto body = [](context* on) -> task<> {
        manual_event never;
        mutex locked;
        (void)locked.try_lock();
        channel<int> empty(1);
        const auto on_event = [](manual_event* waited) -> task<> { co_await waited->wait(); };
        const auto on_mutex = [](mutex* waited) -> task<> { co_await waited->lock(); };
        const auto on_channel = [](channel<int>* waited) -> task<> { co_await waited->receive(); };
        const auto on_time = []() -> task<> { co_await sleep_for(1h); };
        task_scope children(*on);
        for (int i = 0; i < 250; ++i) {
            children.spawn(on_event(&never));
            children.spawn(on_mutex(&locked));
            children.spawn(on_channel(&empty));
            children.spawn(on_time());
        }
        co_await yield();
        co_await yield();
        if (children.size() != 1000 || !forbid_system_calls()) ::_exit(2);
        children.request_stop();
        while (children.size() != 0) co_await yield();
        ::_exit(0);
    };
    block_on(own, body(&own));
}

TEST_P(faults, request_stop_makes_no_system_call_for_its_waiters) {
#if defined(CORRO_SANITIZED)
    GTEST_SKIP() << "a sanitizer makes system calls of its own";
#endif
    EXPECT_EXIT(stop_a_thousand_waiters_without_the_kernel(GetParam()), testing::ExitedWithCode(0), "");
    // The rule catches a violation.
    EXPECT_EXIT(
        {
            if (!forbid_system_calls()) ::_exit(2);
            ::getppid();
            ::_exit(0);
        },
        testing::KilledBySignal(SIGSYS), "");
}

constexpr std::size_t large_transfer_bytes = std::size_t{64} << 20U;

TEST_P(faults, large_writes_are_not_rationed_by_the_number_of_operations) {
    // The budget of a task without a turn of the loop counts bytes. A large transfer resumes a few times per megabyte,
    // not once per small part, and other tasks get as many turns.
    const auto body = [](context* on) -> task<> {
        auto pair = unix_stream::pair(*on);
        EXPECT_TRUE(pair);
        bool over = false;
        const auto writes = [](unix_stream* to) -> task<> {
            const std::vector<std::byte> block(std::size_t{256} << 10U);
            for (std::size_t sent = 0; sent < large_transfer_bytes; sent += block.size()) {
                const io_result result = co_await to->write_all(block);
                EXPECT_TRUE(result.ok());
            }
            to->close();
        };
        const auto reads = [](unix_stream* from, bool* done) -> task<> {
            std::vector<std::byte> room(std::size_t{256} << 10U);
            std::size_t received = 0;
            for (;;) {
                const io_result result = co_await from->read_some(room);
                received += result.bytes;
                if (!result.ok()) break;
            }
            EXPECT_EQ(received, large_transfer_bytes);
            *done = true;
        };
        const auto bystander = [](const bool* done) -> task<int> {
            int turns_count = 0;
            for (; !*done; ++turns_count) co_await yield();
            co_return turns_count;
        };
        const auto [a, b, turns_count] =
            co_await when_all(writes(&pair->first), reads(&pair->second, &over), bystander(&over));
        EXPECT_EQ(a, b);
        EXPECT_GT(turns_count, 64) << "somebody else had a turn at least once per megabyte";
    };
    block_on(ctx, body(&ctx));
}

TEST_P(faults, small_operations_that_never_wait_still_let_the_others_in) {
    const auto body = [](context* on) -> task<> {
        auto pair = unix_stream::pair(*on);
        EXPECT_TRUE(pair);
        int turns_count = 0;
        bool over = false;
        const auto bystander = [](const bool* done, int* turns) -> task<> {
            while (!*done) {
                ++*turns;
                co_await yield();
            }
        };
        const auto busy = [](std::pair<unix_stream, unix_stream>* both, bool* done, const int* turns) -> task<> {
            std::array<std::byte, 1> one{};
            int longest = 0;
            int before = *turns;
            for (int i = 0, alone = 0; i < 10'000; ++i) {
                const io_result sent = co_await both->first.write_some(one);
                const io_result got = co_await both->second.read_some(one);
                EXPECT_TRUE(sent.ok() && got.ok());
                alone = *turns == before ? alone + 1 : 0;
                before = *turns;
                longest = std::max(longest, alone);
            }
            *done = true;
            // Two operations per round. Each except the first changes socket and direction.
            EXPECT_LE(longest, 3);
        };
        // The bystander starts first: a task may run longer while no other task is ready.
        const auto [a, b] = co_await when_all(bystander(&over, &turns_count), busy(&*pair, &over, &turns_count));
        EXPECT_EQ(a, b);
    };
    block_on(ctx, body(&ctx));
}

TEST_P(faults, none_of_sixteen_connections_waits_many_times_longer_than_the_others) {
    // Counts waiting in replies to other tasks, which does not depend on the speed of the machine.
    constexpr std::size_t pairs_count = 16;
    const auto body = [](context* on) -> task<> {
        std::vector<tcp_pair> pairs;
        for (std::size_t i = 0; i < pairs_count; ++i) pairs.push_back(co_await make_tcp_pair(on));
        const auto echo = [](tcp_stream* stream) -> task<> {
            std::array<std::byte, 64> buffer{};
            for (;;) {
                const io_result got = co_await stream->read_some(buffer);
                if (!got) co_return;
                co_await stream->write_all(std::span(buffer).first(got.bytes));
            }
        };
        const auto ask = [](tcp_stream* stream, int* answers_count, int* longest) -> task<> {
            std::array<std::byte, 64> buffer{};
            for (int i = 0; i < 1000; ++i) {
                const int before = *answers_count;
                co_await stream->write_all(buffer);
                co_await stream->read_exact(buffer);
                ++*answers_count;
                *longest = std::max(*longest, *answers_count - before);
            }
            stream->close();
        };
        int answers_count = 0;
        std::array<int, pairs_count> longest{};
        std::vector<task<>> work;
        for (std::size_t i = 0; i < pairs_count; ++i) {
            work.push_back(echo(&pairs[i].server));
            work.push_back(ask(&pairs[i].client, &answers_count, &longest[i]));
        }
        co_await when_all(std::move(work));
        for (const int wait : longest) EXPECT_LE(wait, static_cast<int>(4 * pairs_count));
    };
    block_on(ctx, body(&ctx));
}

TEST_P(faults, sixteen_conversations_that_never_wait_take_turns) {
    constexpr std::size_t pairs_count = 16;
    const auto body = [](context* on) -> task<> {
        const auto converse = [](context* where, int* rounds_count, int* longest) -> task<> {
            auto pair = unix_stream::pair(*where);
            EXPECT_TRUE(pair);
            std::array<std::byte, 64> buffer{};
            for (int i = 0; i < 1000; ++i) {
                const int before = *rounds_count;
                co_await pair->first.write_all(buffer);
                co_await pair->second.read_exact(buffer);
                co_await pair->second.write_all(buffer);
                co_await pair->first.read_exact(buffer);
                ++*rounds_count;
                *longest = std::max(*longest, *rounds_count - before);
            }
        };
        int rounds_count = 0;
        std::array<int, pairs_count> longest{};
        std::vector<task<>> work;
        for (std::size_t i = 0; i < pairs_count; ++i) work.push_back(converse(on, &rounds_count, &longest[i]));
        co_await when_all(std::move(work));
        for (const int wait : longest) EXPECT_LE(wait, static_cast<int>(2 * pairs_count));
    };
    block_on(ctx, body(&ctx));
}

std::size_t threads_count() {
    std::size_t count = 0;
    for ([[maybe_unused]] const auto& each : std::filesystem::directory_iterator("/proc/self/task")) ++count;
    return count;
}

TEST_P(faults, no_thread_exists_that_nobody_needs) {
    const std::size_t before = threads_count();
    context own{context_options(*GetParam())};
    const auto body = [](context* on) -> task<> {
        tcp_pair pair = co_await make_tcp_pair(on);
        co_await pair.client.write_all(four_bytes);
        std::array<std::byte, 4> buffer{};
        co_await pair.server.read_exact(buffer);
        co_await sleep_for(1ms);
        auto socket = udp_socket::open(*on, endpoint::loopback(0));
        EXPECT_TRUE(socket);
        const auto figures = co_await resolve("127.0.0.1", 80);
        EXPECT_TRUE(figures);
        auto signals = signal_set::open(*on, {SIGUSR2});
        EXPECT_TRUE(signals);
    };
    block_on(own, body(&own));
    EXPECT_EQ(threads_count(), before);
}

// A socket is one pointer. Each backend bounds the object behind it (`socket_bytes_max`).
static_assert(sizeof(tcp_stream) == sizeof(void*));
static_assert(sizeof(tcp_acceptor) == sizeof(void*));
static_assert(sizeof(udp_socket) == sizeof(void*));

TEST_P(faults, a_tcp_socket_is_small) {
    if (GetParam()->name() == "asio") GTEST_SKIP() << "on Asio each socket holds a descriptor of Asio's as well";
    RecordProperty("tcp_stream_bytes", static_cast<int>(sizeof(tcp_stream)));
    RecordProperty("socket_bytes_max", static_cast<int>(backend::socket_bytes_max));
    EXPECT_LE(sizeof(tcp_stream) + backend::socket_bytes_max, 136U);
}

/// Exits with 0 if a context behaves as specified on a system that forbids io_uring.
void use_contexts_without_io_uring() {
    if (!forbid_io_uring()) ::_exit(2);
    try {
        const context refused{context_options(uring_platform())};
        ::_exit(3);
    } catch (const std::system_error& error) {
        if (std::string_view(error.what()).find("this system forbids io_uring") == std::string_view::npos) ::_exit(4);
    }
    context second_best{context_options(uring_if_possible_platform())};
    if (second_best.backend_name() != "epoll") ::_exit(5);
    if (second_best.backend_notice().find("this system forbids io_uring") == std::string::npos) ::_exit(6);
    if (second_best.backend_notice().find("using epoll instead") == std::string::npos) ::_exit(7);
    const bool canceled = static_cast<bool>(block_on(second_best, sleep_for(1ms)));
    ::_exit(canceled ? 8 : 0);
}

TEST(forbidden_io_uring, is_said_clearly_and_epoll_takes_its_place_where_that_was_asked_for) {
    EXPECT_EXIT(use_contexts_without_io_uring(), testing::ExitedWithCode(0), "");
}

CORRO_ON_EVERY_BACKEND(faults);

}  // namespace
}  // namespace corro::io
