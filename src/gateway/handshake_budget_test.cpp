#include "gateway/handshake_budget.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>

#include "io/block_on.hpp"
#include "io/scope.hpp"
#include "io/timer.hpp"
#include "io/yield.hpp"

namespace corro::gateway {
namespace {

using namespace std::chrono_literals;

handshake_budget_options budget_of(std::uint32_t steps, std::chrono::milliseconds window) {
    handshake_budget_options options;
    options.steps_max = steps;
    options.window = window;
    return options;
}

/// Takes turns for ever, and leaves a letter for each.
io::task<void> take_turns(handshake_budget* budget, bool goes_first, char letter, std::string* taken) {
    while (true) {
        const std::error_code stopped = co_await budget->wait_for_turn(goes_first);
        if (stopped) co_return;
        *taken += letter;
    }
}

/// The most turns between two of a task that is always ready.
io::task<std::uint64_t> most_in_a_turn(const handshake_budget* budget, int turns) {
    std::uint64_t most = 0;
    std::uint64_t before = budget->steps_count();
    for (int i = 0; i < turns; ++i) {
        co_await io::yield();
        most = std::max(most, budget->steps_count() - before);
        before = budget->steps_count();
    }
    co_return most;
}

io::task<std::string> crowd_of(io::context* context, handshake_budget* budget, int strangers, int known) {
    std::string taken;
    io::task_scope all(*context);
    for (int i = 0; i < strangers; ++i) all.spawn(take_turns(budget, false, 's', &taken));
    for (int i = 0; i < known; ++i) all.spawn(take_turns(budget, true, 'k', &taken));
    co_await io::yield();
    all.spawn(budget->run());
    const std::uint64_t most = co_await most_in_a_turn(budget, 1'000);
    EXPECT_EQ(most, 1U) << "one step in a turn of the loop";
    all.request_stop();
    co_await all.join();
    EXPECT_EQ(budget->waiting_count(), 0U);
    co_return taken;
}

TEST(handshake_budget, N6_gives_no_more_turns_in_a_window_however_many_wait) {
    for (const int strangers : {50, 100, 200}) {
        io::context context;
        handshake_budget budget(context, budget_of(20, 1h));
        EXPECT_EQ(io::block_on(context, crowd_of(&context, &budget, strangers, 0)), std::string(20, 's'));
    }
}

TEST(handshake_budget, lets_those_go_first_whose_address_has_proven_a_key) {
    io::context context;
    handshake_budget budget(context, budget_of(20, 1h));
    EXPECT_EQ(io::block_on(context, crowd_of(&context, &budget, 100, 2)), std::string(20, 'k'));
}

TEST(handshake_budget, goes_on_in_the_next_window) {
    io::context context;
    handshake_budget budget(context, budget_of(1, 0ms));  // each turn begins one
    EXPECT_GT(io::block_on(context, crowd_of(&context, &budget, 3, 0)).size(), 100U);
}

}  // namespace
}  // namespace corro::gateway
