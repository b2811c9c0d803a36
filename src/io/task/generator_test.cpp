// SPDX-License-Identifier: Apache-2.0
#include "io/task/generator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/loop/timer.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/tcp_pair_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class generators : public on_backend {};

/// Counts the live local variables of bodies.
class counted {
 public:
    explicit counted(int* live) noexcept : live_(live) { ++*live_; }
    counted(const counted&) = delete;
    counted& operator=(const counted&) = delete;
    ~counted() { --*live_; }

 private:
    int* live_;
};

/// 0, 1, 2 and so on below `end`; waits before each.
generator<int> count(int end, std::chrono::nanoseconds pause, int* live) {
    const counted here(live);
    for (int i = 0; i < end; ++i) {
        const std::error_code stopped = co_await sleep_for(pause);
        if (stopped) co_return;
        co_yield i;
    }
}

task<std::vector<int>> collect(generator<int> from) {
    std::vector<int> all;
    for (;;) {
        const auto value = co_await from.next();
        if (!value) break;
        all.push_back(*value);
    }
    EXPECT_TRUE(from.has_ended());
    const auto again = co_await from.next();
    EXPECT_FALSE(again) << "and it stays the end";
    co_return all;
}

TEST_P(generators, yields_its_values_in_order_and_ends) {
    int live = 0;
    EXPECT_EQ(block_on(ctx, collect(count(4, 100us, &live))), (std::vector{0, 1, 2, 3}));
    EXPECT_EQ(live, 0);
    EXPECT_EQ(block_on(ctx, collect(count(0, 0us, &live))), std::vector<int>());
    EXPECT_EQ(block_on(ctx, collect(generator<int>())), std::vector<int>()) << "none at all";
}

TEST_P(generators, the_body_runs_only_while_a_value_is_asked_for) {
    int live = 0;
    const auto body = [](int* alive) -> task<> {
        generator<int> few = count(2, 0us, alive);
        co_await sleep_for(1ms);
        EXPECT_EQ(*alive, 0) << "not begun";
        const auto first = co_await few.next();
        EXPECT_EQ(first, 0);
        EXPECT_EQ(*alive, 1);
        const auto second = co_await few.next();
        EXPECT_EQ(second, 1);
        EXPECT_FALSE(few.has_ended()) << "it has yielded and not returned yet";
        const auto none = co_await few.next();
        EXPECT_FALSE(none);
        EXPECT_EQ(*alive, 0);
    };
    block_on(ctx, body(&live));
}

TEST_P(generators, is_destroyed_at_any_place_where_it_has_yielded) {
    int live = 0;
    const auto body = [](int* alive) -> task<> {
        for (int asked = 0; asked < 3; ++asked) {
            generator<int> some = count(5, 0us, alive);
            for (int i = 0; i < asked; ++i) co_await some.next();
            EXPECT_EQ(*alive, asked == 0 ? 0 : 1);
            generator<int> moved = std::move(some);
            EXPECT_TRUE(some.has_ended());
            if (asked == 2) moved = count(1, 0us, alive);
        }
    };
    block_on(ctx, body(&live));
    EXPECT_EQ(live, 0);
}

generator<std::unique_ptr<int>> own(int end) {
    for (int i = 0; i < end; ++i) co_yield std::make_unique<int>(i);
}
generator<std::string> double_each(generator<std::unique_ptr<int>> from) {
    for (;;) {
        const auto value = co_await from.next();
        if (!value) break;
        const std::string text = std::to_string(**value);
        co_yield text;
        co_yield text + "!";
    }
}

TEST_P(generators, are_joined_like_functions_and_carry_values_that_only_move) {
    const auto body = []() -> task<std::string> {
        std::string all;
        generator<std::string> twice = double_each(own(3));
        for (;;) {
            const auto text = co_await twice.next();
            if (!text) break;
            all += *text;
        }
        co_return all;
    };
    EXPECT_EQ(block_on(ctx, body()), "00!11!22!");
}

TEST_P(generators, a_hundred_thousand_values_that_are_there_at_once_use_no_stack) {
    const auto body = []() -> task<int> {
        int values_count = 0;
        generator<std::unique_ptr<int>> many = own(100'000);
        for (;;) {
            const auto value = co_await many.next();
            if (!value) co_return values_count;
            ++values_count;
        }
    };
    EXPECT_EQ(block_on(ctx, body()), 100'000);
}

generator<int> fail_after(int values_count, bool after_a_wait, int* live) {
    const counted here(live);
    for (int i = 0; i < values_count; ++i) co_yield i;
    if (after_a_wait) co_await sleep_for(100us);
    throw std::runtime_error("as expected");
}

TEST_P(generators, an_exception_reaches_the_one_who_asked_and_ends_the_sequence) {
    int live = 0;
    const auto body = [](int values_count, bool after_a_wait, int* alive) -> task<> {
        generator<int> failing = fail_after(values_count, after_a_wait, alive);
        for (int i = 0; i < values_count; ++i) co_await failing.next();
        bool is_caught = false;
        try {
            co_await failing.next();
        } catch (const std::runtime_error& failure) {
            is_caught = std::string_view(failure.what()) == "as expected";
        }
        EXPECT_TRUE(is_caught);
        EXPECT_EQ(*alive, 0) << "its local variables are destroyed";
        EXPECT_TRUE(failing.has_ended());
        const auto none = co_await failing.next();
        EXPECT_FALSE(none) << "thrown once";
    };
    for (const int values_count : {0, 2}) {
        for (const bool after_a_wait : {false, true}) block_on(ctx, body(values_count, after_a_wait, &live));
    }
}

TEST_P(generators, a_stop_ends_the_wait_of_the_body) {
    int live = 0;
    const auto values = block_on(ctx, with_timeout(2ms, collect(count(1000, 1h, &live))));
    EXPECT_TRUE(!values || values->empty());
    EXPECT_EQ(live, 0);
}

/// A value for each signal; goes on after a wait that was stopped.
generator<int> signals_of(auto_event* bell) {
    for (int i = 0;; ++i) {
        const std::error_code stopped = co_await bell->wait();
        co_yield stopped ? -1 : i;
    }
}

TEST_P(generators, each_value_is_awaited_under_the_stop_token_of_its_own_task) {
    const auto body = []() -> task<> {
        auto_event bell;
        generator<int> rings = signals_of(&bell);
        const auto stopped = co_await with_timeout(1ms, rings.next());
        EXPECT_FALSE(stopped) << "its time limit was over";
        bell.set();
        const auto rung = co_await rings.next();
        EXPECT_EQ(rung, 1) << "the stop was that of the first wait";
    };
    block_on(ctx, body());
}

TEST_P(generators, tasks_may_take_turns) {
    int live = 0;
    const auto one = [](generator<int>* from, int expected) -> task<> {
        const auto value = co_await from->next();
        EXPECT_EQ(value, expected);
    };
    const auto in_turn = [](auto take, int* alive) -> task<> {
        generator<int> shared = count(3, 100us, alive);
        task_scope first(co_await this_context());
        first.spawn(take(&shared, 0));
        co_await first.join();
        task_scope second(co_await this_context());
        second.spawn(take(&shared, 1));
        co_await second.join();
        co_await take(&shared, 2);
    };
    block_on(ctx, in_turn(one, &live));
    EXPECT_EQ(live, 0);
}

/// The lines of a stream, without their ends; a last one without an end counts too.
generator<std::string> lines_of(tcp_stream* from) {
    std::string text;
    std::array<char, 16> room{};
    for (;;) {
        const io_result got = co_await from->read_some(std::as_writable_bytes(std::span(room)));
        if (!got) break;
        text.append(room.data(), got.bytes);
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
            co_yield text.substr(0, end);
            text.erase(0, end + 1);
        }
    }
    if (!text.empty()) co_yield std::move(text);
}

task<> send_lines(tcp_stream* to) {
    const std::array<std::string_view, 3> parts{"one\ntwo\nthr", "ee\n", "\nand the last one is a long line"};
    for (const std::string_view text : parts) {
        co_await to->write_all(std::as_bytes(std::span(text)));
        co_await sleep_for(100us);
    }
    static_cast<void>(to->shutdown_send());
}
task<std::vector<std::string>> read_lines(tcp_stream* from) {
    std::vector<std::string> all;
    generator<std::string> lines = lines_of(from);
    for (;;) {
        auto line = co_await lines.next();
        if (!line) co_return all;
        all.push_back(std::move(*line));
    }
}

TEST_P(generators, the_lines_of_a_stream) {
    const auto body = [](context* on) -> task<> {
        tcp_pair pair = co_await make_tcp_pair(on);
        const auto [sent, lines] = co_await when_all(send_lines(&pair.client), read_lines(&pair.server));
        EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three", "", "and the last one is a long line"}));
    };
    block_on(ctx, body(&ctx));
}

task<> wait_for_a_value(generator<int> from) {
    co_await from.next();
    ADD_FAILURE() << "there is none";
}

TEST_P(generators, a_context_goes_while_a_body_waits) {
    int live = 0;
    {
        context own{context_options(*GetParam())};
        spawn(own, wait_for_a_value(count(1, 1h, &live)));
        block_on(own, sleep_for(1ms));
        EXPECT_EQ(live, 1);
    }
    EXPECT_EQ(live, 0);
}

CORRO_ON_EVERY_BACKEND(generators);

}  // namespace
}  // namespace corro::io
