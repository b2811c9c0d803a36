// SPDX-License-Identifier: Apache-2.0
// Tasks and structure: children that are joined, failures that stop siblings, results of several tasks.
#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

// [scope]
io::task<> work(int number) {
    co_await io::sleep_for(number * 10ms);
    std::cout << "worker " << number << " has ended" << std::endl;
}

io::task<> start_three(io::task_scope* workers) {
    for (int number = 1; number <= 3; ++number) workers->spawn(work(number));
    std::cout << "three are started" << std::endl;
    co_return;
}

io::task<> run_three() {
    co_await io::with_scope([](io::task_scope& workers) { return start_three(&workers); });
    std::cout << "all have ended" << std::endl;
}
// [/scope]

// [failure]
io::task<> fail() {
    co_await io::sleep_for(10ms);
    throw std::runtime_error("out of paper");
}

io::task<> wait_long() {
    const std::error_code stopped = co_await io::sleep_for(1h);
    std::cout << "the other one: " << stopped.message() << std::endl;
}

io::task<> fail_together() {
    try {
        co_await io::when_all(wait_long(), fail());
    } catch (const std::exception& failure) {
        std::cout << "failed: " << failure.what() << std::endl;
    }
}
// [/failure]

// [all]
io::task<int> price(int base, std::chrono::milliseconds delay) {
    co_await io::sleep_for(delay);
    co_return base * 2;
}

io::task<> ask_everybody() {
    const auto [first, second] = co_await io::when_all(price(10, 20ms), price(20, 10ms));
    std::cout << "two prices: " << first << ' ' << second << std::endl;

    std::vector<io::task<int>> asked;
    for (int base = 1; base <= 4; ++base) asked.push_back(price(base, 5ms));
    int sum = 0;
    for (const int value : co_await io::when_all(std::move(asked))) sum += value;
    std::cout << "four prices: " << sum << " in all" << std::endl;
}
// [/all]

// [any]
io::task<> ask_the_fastest() {
    const auto first = co_await io::when_any(price(10, 500ms), price(20, 10ms));
    std::cout << "number " << first.index << " was first";
    if (const auto& value = std::get<1>(first.values)) std::cout << " with " << *value;
    std::cout << std::endl;
}
// [/any]

int main() {
    io::context ctx;
    io::block_on(ctx, run_three());
    io::block_on(ctx, fail_together());
    io::block_on(ctx, ask_everybody());
    io::block_on(ctx, ask_the_fastest());
}
