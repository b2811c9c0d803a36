// SPDX-License-Identifier: Apache-2.0
#include "gateway/transport/handshake_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/testing/tested_platform.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;

handshake_budget_options budget_of(std::uint32_t steps, std::chrono::milliseconds window) {
    handshake_budget_options options;
    options.steps_max = steps;
    options.window = window;
    options.apart = 0ms;
    return options;
}

/// Takes turns for ever, and leaves a letter for each.
io::task<void> take_turns(handshake_budget* budget, handshake_rank rank, char letter, std::string* taken) {
    while (true) {
        const std::error_code stopped = co_await budget->wait_for_turn(rank);
        if (stopped) co_return;
        *taken += letter;
    }
}

/// Takes turns for ever, and writes a byte for each.
io::task<void> write_turns(handshake_budget* budget, io::unix_stream* to) {
    while (true) {
        const std::error_code stopped = co_await budget->wait_for_turn(handshake_rank::newcomer);
        if (stopped) co_return;
        static_cast<void>(to->try_write(std::as_bytes(std::span("s", 1))));
    }
}

/// How many turns there were, at most, between two of a session, which reads what arrives.
io::task<std::size_t> most_between_reads(io::context* context, handshake_budget* budget, int strangers,
                                         std::size_t turns) {
    auto pair = io::unix_stream::pair(*context);
    EXPECT_TRUE(pair);
    io::task_scope all(*context);
    for (int i = 0; i < strangers; ++i) all.spawn(write_turns(budget, &pair->first));
    co_await io::yield();
    all.spawn(budget->run());
    std::size_t most = 0;
    std::array<std::byte, 1'024> bytes;
    for (std::size_t count = 0; count < turns;) {
        const io::io_result read = co_await pair->second.read_some(bytes);
        EXPECT_FALSE(read.error);
        count += read.bytes;
        most = std::max(most, read.bytes);
    }
    all.request_stop();
    co_await all.join();
    co_return most;
}

TEST(handshake_budget, N5_gives_one_turn_between_two_looks_for_what_sessions_have_sent) {
    io::context context(io::on_tested_platform());
    handshake_budget budget(context, budget_of(1'000, 1h));
    EXPECT_EQ(io::block_on(context, most_between_reads(&context, &budget, 100, 500)), 1U);
}

TEST(handshake_budget, leaves_the_thread_to_others_after_each_turn) {
    io::context context(io::on_tested_platform());
    handshake_budget_options options = budget_of(1'000, 1h);
    options.apart = 1ms;
    handshake_budget budget(context, options);
    const io::steady_time begin = context.now();
    static_cast<void>(io::block_on(context, most_between_reads(&context, &budget, 10, 20)));
    EXPECT_GE(context.now() - begin, 19ms);
}

io::task<std::string> crowd_of(io::context* context, handshake_budget* budget, int strangers, int known,
                               std::uint64_t turns) {
    std::string taken;
    io::task_scope all(*context);
    for (int i = 0; i < strangers; ++i) all.spawn(take_turns(budget, handshake_rank::newcomer, 's', &taken));
    for (int i = 0; i < known; ++i) all.spawn(take_turns(budget, handshake_rank::proven, 'k', &taken));
    co_await io::yield();
    all.spawn(budget->run());
    while (budget->steps_count() < turns) {
        const std::error_code stopped = co_await io::sleep_for(1ms);
        if (stopped) break;
    }
    const std::error_code stopped = co_await io::sleep_for(5ms);  // in which no more may come
    EXPECT_FALSE(stopped);
    all.request_stop();
    co_await all.join();
    EXPECT_EQ(budget->waiting_count(), 0U);
    co_return taken;
}

TEST(handshake_budget, N6_gives_no_more_turns_in_a_window_however_many_wait) {
    for (const int strangers : {50, 100, 200}) {
        io::context context(io::on_tested_platform());
        handshake_budget budget(context, budget_of(20, 1h));
        EXPECT_EQ(io::block_on(context, crowd_of(&context, &budget, strangers, 0, 20)), std::string(20, 's'));
    }
}

TEST(handshake_budget, N5_gives_two_of_three_turns_to_addresses_that_have_proven_a_key_when_they_want_them) {
    io::context context(io::on_tested_platform());
    handshake_budget budget(context, budget_of(21, 1h));
    std::string taken = io::block_on(context, crowd_of(&context, &budget, 100, 2, 21));
    EXPECT_EQ(std::ranges::count(taken, 'k'), 14) << taken;
    EXPECT_EQ(std::ranges::count(taken, 's'), 7) << "and newcomers are not kept out by them";
}

TEST(handshake_budget, N5_gives_a_part_to_those_that_have_begun_and_a_part_to_newcomers) {
    io::context context(io::on_tested_platform());
    handshake_budget budget(context, budget_of(40, 1h));
    const auto body = [](io::context* on, handshake_budget* from) -> io::task<std::string> {
        std::string taken;
        io::task_scope all(*on);
        using enum handshake_rank;
        for (const auto& [rank, letter] : {std::pair(proven, 'p'), std::pair(begun, 'b'), std::pair(newcomer, 'n')}) {
            for (int i = 0; i < 100; ++i) all.spawn(take_turns(from, rank, letter, &taken));
        }
        co_await io::yield();
        all.spawn(from->run());
        // Not a yield: virtual time stands still while a task polls.
        while (from->steps_count() < 40) static_cast<void>(co_await io::sleep_for(1ms));
        static_cast<void>(co_await io::sleep_for(5ms));  // in which no more may come
        all.request_stop();
        co_await all.join();
        co_return taken;
    };
    std::string expected;
    for (int i = 0; i < 10; ++i) expected += "pbpn";
    EXPECT_EQ(io::block_on(context, body(&context, &budget)), expected);
}

/// Takes one turn, and leaves its letter.
io::task<void> take_turn(handshake_budget* budget, char letter, std::string* taken) {
    const std::error_code stopped = co_await budget->wait_for_turn(handshake_rank::newcomer);
    if (!stopped) *taken += letter;
}

TEST(handshake_budget, N5_serves_the_newest_newcomer_first) {
    io::context context(io::on_tested_platform());
    handshake_budget budget(context, budget_of(3, 1h));
    const auto body = [](io::context* on, handshake_budget* from) -> io::task<std::string> {
        std::string taken;
        io::task_scope all(*on);
        for (char letter = 'a'; letter <= 'h'; ++letter) all.spawn(take_turn(from, letter, &taken));
        co_await io::yield();
        all.spawn(from->run());
        // Not a yield: virtual time stands still while a task polls.
        while (from->steps_count() < 3) static_cast<void>(co_await io::sleep_for(1ms));
        static_cast<void>(co_await io::sleep_for(5ms));  // in which no more may come
        all.request_stop();
        co_await all.join();
        co_return taken;
    };
    EXPECT_EQ(io::block_on(context, body(&context, &budget)), "hgf");
}

// A stop that comes in the same turn of the loop as the end of a window: the handshake is stopped first, and then the
// next turn is given.
TEST(handshake_budget, N6_counts_right_when_a_handshake_is_stopped_while_it_is_given_its_turn) {
    io::context context(io::on_tested_platform());
    handshake_budget budget(context, budget_of(1'000, 1h));
    const auto body = [](io::context* on, handshake_budget* from) -> io::task<std::string> {
        std::string taken;
        io::task_scope first(*on);
        io::task_scope running(*on);
        io::task_scope stopped(*on);
        stopped.spawn(take_turn(from, 'x', &taken));
        co_await io::yield();
        EXPECT_EQ(from->waiting_count(), 1U);
        running.spawn(from->run());
        stopped.request_stop();  // its task is ready now, behind the one that gives the turns
        co_await stopped.join();
        EXPECT_EQ(from->waiting_count(), 0U);
        for (const char letter : {'a', 'b', 'c'}) first.spawn(take_turn(from, letter, &taken));
        co_await first.join();
        EXPECT_EQ(from->waiting_count(), 0U);
        running.request_stop();
        co_await running.join();
        std::ranges::sort(taken);
        co_return taken;
    };
    EXPECT_EQ(io::block_on(context, body(&context, &budget)), "abc");
}

TEST(handshake_budget, goes_on_in_the_next_window) {
    io::context context(io::on_tested_platform());
    handshake_budget budget(context, budget_of(1, 1ms));  // each turn has one of its own
    EXPECT_GT(io::block_on(context, crowd_of(&context, &budget, 3, 0, 100)).size(), 99U);
}

}  // namespace
}  // namespace corro::gateway
