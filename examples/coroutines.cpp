// SPDX-License-Identifier: Apache-2.0
// The first page of the guide: what a coroutine is, what suspends it, who resumes it.
#include <chrono>
#include <iostream>
#include <string>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/task/block_on.hpp"
#include "io/task/task.hpp"
#include "io/task/when_all.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

// [lazy]
io::task<int> measure() {
    std::cout << "measuring" << std::endl;
    co_await io::sleep_for(10ms);
    co_return 42;
}

io::task<> report() {
    io::task<int> later = measure();
    std::cout << "nothing has been measured yet" << std::endl;
    const int value = co_await std::move(later);
    std::cout << "measured " << value << std::endl;
}
// [/lazy]

// [two]
io::task<> count(std::string name) {
    for (int number = 1; number <= 2; ++number) {
        std::cout << name << ' ' << number << std::endl;
        co_await io::yield();
    }
}

io::task<> count_side_by_side() {
    co_await io::when_all(count("left"), count("right"));
}
// [/two]

// [main]
int main() {
    io::context ctx;
    io::block_on(ctx, report());
    io::block_on(ctx, count_side_by_side());
}
// [/main]
