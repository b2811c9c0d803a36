// SPDX-License-Identifier: Apache-2.0
// Counts calls of the general allocator. In steady state there are none.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <numeric>
#include <thread>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

// The sanitizers replace the allocator, which cannot be replaced a second time.
#if defined(CORRO_SANITIZED)
constexpr bool counts_allocations = false;
#else
constexpr bool counts_allocations = true;
#endif

namespace {
std::atomic<long> allocations_count{0};
}

#if !defined(CORRO_SANITIZED)
// Not inlined: g++ would see `free` of memory from `new`, and warn.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    allocations_count.fetch_add(1, std::memory_order_relaxed);
    if (void* block = std::malloc(bytes); block != nullptr) return block;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
    std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}

#endif

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class steady_state : public on_backend {
 protected:
    void SetUp() override {
        on_backend::SetUp();
        if (!counts_allocations) GTEST_SKIP() << "a sanitizer's allocator cannot be replaced, so nothing is counted";
    }
    /// Runs `round` often enough to warm up, then counts.
    template <class Round>
    void expect_no_allocation(Round round) {
        const auto repeated = [](Round repeat) -> task<long> {
            for (int i = 0; i < 200; ++i) co_await repeat();
            const long before = allocations_count.load();
            for (int i = 0; i < 2000; ++i) co_await repeat();
            co_return allocations_count.load() - before;
        };
        EXPECT_EQ(block_on(ctx, repeated(round)), 0);
    }
};

task<int> one() {
    co_return 1;
}
task<> until_stopped() {
    co_await sleep_for(1h);
}

TEST_P(steady_state, counting_sees_an_allocation) {
    const long before = allocations_count.load();
    ::operator delete(::operator new(1));  // the compiler might remove a new-expression
    EXPECT_EQ(allocations_count.load() - before, 1);
}

TEST_P(steady_state, tasks_and_combinators_do_not_allocate) {
    expect_no_allocation([]() -> task<> {
        co_await one();
        co_await when_all(one(), one(), one());
        co_await when_any(until_stopped(), one());
        co_await with_timeout(1h, one());
        co_await with_timeout(0ns, until_stopped());
        co_await sleep_for(1us);
        co_await yield();
    });
}

TEST_P(steady_state, scopes_and_synchronisation_do_not_allocate) {
    expect_no_allocation([]() -> task<> {
        task_scope children(co_await this_context());
        manual_event happened;
        const auto waits = [](manual_event* on) -> task<> { co_await on->wait(); };
        for (int i = 0; i < 10; ++i) children.spawn(waits(&happened));
        co_await yield();
        happened.set();
        co_await children.join();
    });
}

TEST_P(steady_state, tcp_round_trips_do_not_allocate) {
    const auto connect = [](context* on) -> task<std::pair<tcp_stream, tcp_stream>> {
        auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
        auto [client, server] =
            co_await when_all(tcp_stream::connect(*on, *acceptor->local_endpoint()), acceptor->accept());
        co_return std::pair(std::move(*client), std::move(*server));
    };
    auto [client, server] = block_on(ctx, connect(&ctx));
    const auto echo = [](tcp_stream* on) -> task<> {
        std::array<std::byte, 64> buffer{};
        for (;;) {
            const io_result got = co_await on->read_some(buffer);
            if (!got) co_return;
            co_await on->write_all(std::span(buffer).first(got.bytes));
        }
    };
    spawn(ctx, echo(&server));
    expect_no_allocation([stream = &client]() {
        return [](tcp_stream* on) -> task<> {
            std::array<std::byte, 64> buffer{};
            co_await on->write_all(buffer);
            co_await with_timeout(1s, on->read_exact(buffer));
        }(stream);
    });
    client.close();
    ctx.run();
}

TEST_P(steady_state, connections_that_come_and_go_do_not_allocate) {
    auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0));
    ASSERT_TRUE(acceptor);
    expect_no_allocation([from = &*acceptor, on = &ctx]() {
        return [](context* here, tcp_acceptor* accepting) -> task<> {
            auto [client, server] =
                co_await when_all(tcp_stream::connect(*here, *accepting->local_endpoint()), accepting->accept());
            // Reset, so that thousands of short connections do not use up the ports.
            EXPECT_FALSE(client->set_option(linger_seconds(0)));
        }(on, from);
    });
}

CORRO_ON_EVERY_BACKEND(steady_state);

/// Rounds in which one thread makes blocks for frames and another one frees them.
/// @return Calls of the general allocator in each round.
template <std::size_t Count>
std::vector<long> make_here_and_free_there(std::size_t bytes, int rounds) {
    const auto blocks = std::make_unique<std::array<void*, Count>>();
    std::vector<long> calls(static_cast<std::size_t>(rounds));
    std::barrier both(2);
    std::thread ender([&] {
        for (int round = 0; round < rounds; ++round) {
            both.arrive_and_wait();
            for (void* each : *blocks) detail::free_frame(each, bytes);
            both.arrive_and_wait();
        }
    });
    std::thread maker([&] {
        for (long& of_round : calls) {
            const long before = allocations_count.load();
            for (void*& each : *blocks) each = detail::allocate_frame<detail::frame_use::task>(bytes);
            of_round = allocations_count.load() - before;
            both.arrive_and_wait();
            both.arrive_and_wait();
        }
    });
    maker.join();
    ender.join();
    return calls;
}

TEST(frames, that_one_thread_makes_and_another_ends_return_without_the_general_allocator) {
    if (!counts_allocations) GTEST_SKIP() << "nothing is counted";
    constexpr std::size_t bytes = 192;
    const std::vector<long> calls = make_here_and_free_there<1'000>(bytes, 40);
    EXPECT_EQ(calls.front(), 1'000);
    // Behind the first rounds at most what a thread keeps until a batch is full.
    const long later = std::accumulate(calls.begin() + 10, calls.end(), 0L);
    EXPECT_LT(later, static_cast<long>(16 * 1024 / bytes)) << "of " << (calls.size() - 10) * 1'000;
}

TEST(frames, are_kept_for_other_threads_up_to_a_limit) {
    if (!counts_allocations) GTEST_SKIP() << "nothing is counted";
    constexpr std::size_t bytes = 320;
    constexpr long kept_blocks_max = 32 * (16 * 1024 / 320);  // batches of 16 KiB
    const std::vector<long> calls = make_here_and_free_there<20'000>(bytes, 5);
    for (std::size_t round = 1; round < calls.size(); ++round) EXPECT_EQ(calls[round], 20'000 - kept_blocks_max);
}

}  // namespace
}  // namespace corro::io
