// SPDX-License-Identifier: Apache-2.0
// Synchronisation between tasks of one thread, and between threads.
#include <chrono>
#include <iostream>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/context_group.hpp"
#include "io/loop/timer.hpp"
#include "io/sync/channel.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/sync/semaphore.hpp"
#include "io/task/block_on.hpp"
#include "io/task/resume_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "io/task/when_all.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

// [mutex]
struct account {
    io::mutex guard;
    int balance = 100;
};

/// Reads, waits, writes: without the lock another withdrawal could come in between.
io::task<> withdraw(account* from, int amount) {
    const auto held = co_await from->guard.scoped_lock();
    if (!held) co_return;  // asked to stop while waiting; the lock is not held
    const int before = from->balance;
    co_await io::sleep_for(5ms);
    from->balance = before - amount;
}

io::task<> withdraw_twice() {
    account shared;
    co_await io::when_all(withdraw(&shared, 30), withdraw(&shared, 20));
    std::cout << "balance: " << shared.balance << std::endl;
}
// [/mutex]

// [channel]
io::task<> produce(io::channel<int>* into) {
    for (int number = 1; number <= 5; ++number) {
        const std::error_code failed = co_await into->send(number);
        if (failed) co_return;
    }
    into->close();
}

io::task<> consume(io::channel<int>* from) {
    int sum = 0;
    for (;;) {
        const auto number = co_await from->receive();
        if (!number) {
            std::cout << "sum " << sum << ", then: " << number.error().message() << std::endl;
            co_return;
        }
        sum += *number;
    }
}

io::task<> produce_and_consume() {
    io::channel<int> belt(2);  // holds two; who sends a third waits
    co_await io::when_all(produce(&belt), consume(&belt));
}
// [/channel]

// [semaphore]
struct kitchen {
    io::semaphore stoves{2};
    int busy = 0;
    int busy_most = 0;
};

io::task<> cook(kitchen* in) {
    if (const std::error_code stopped = co_await in->stoves.acquire()) co_return;
    ++in->busy;
    if (in->busy > in->busy_most) in->busy_most = in->busy;
    co_await io::sleep_for(2ms);
    --in->busy;
    in->stoves.release();
}

io::task<> cook_five() {
    kitchen shared;
    co_await io::when_all(cook(&shared), cook(&shared), cook(&shared), cook(&shared), cook(&shared));
    std::cout << "at most " << shared.busy_most << " at a time" << std::endl;
}
// [/semaphore]

// [elsewhere]
/// Runs on another thread; nothing of the caller is touched there.
io::task<long> fibonacci(int n) {
    long a = 0;
    long b = 1;
    for (; n > 0; --n) b = std::exchange(a, b) + b;
    co_return a;
}

io::task<> compute_elsewhere(io::context* there) {
    const std::thread::id before = std::this_thread::get_id();
    const long value = co_await io::resume_on(*there, fibonacci(80));
    const bool same = before == std::this_thread::get_id();
    std::cout << "fibonacci: " << value << (same ? ", and back on the same thread" : ", on another thread")
              << std::endl;
}

void use_two_contexts() {
    io::context here;
    io::context there;
    std::thread second([&] {
        const io::work_guard hold(there);  // runs although it has no task yet
        there.run();
    });
    io::block_on(here, compute_elsewhere(&there));
    there.stop();
    second.join();
}
// [/elsewhere]

// [threads]
/// Tasks on different threads share objects of the `shared_` kind.
io::task<> add(io::shared_mutex* guard, long* total, int times) {
    for (int i = 0; i < times; ++i) {
        const auto held = co_await guard->scoped_lock();
        if (!held) co_return;
        ++*total;
    }
}

void use_a_pool() {
    io::shared_mutex guard;
    long total = 0;
    io::context_pool pool(2);  // two threads, one context each
    for (int i = 0; i < 8; ++i) pool.spawn(add(&guard, &total, 1000));
    pool.join();
    std::cout << "total: " << total << std::endl;
}
// [/threads]

// [outside]
/// A thread that knows nothing of coroutines hands values in.
io::task<> print_what_comes(io::shared_channel<std::string>* lines) {
    for (;;) {
        const auto line = co_await lines->receive();
        if (!line) co_return;
        std::cout << "from the thread: " << *line << std::endl;
    }
}

void listen_to_a_thread() {
    io::context ctx;
    io::shared_channel<std::string> lines(16);
    std::thread speaker([&] {
        for (std::string line : {"one", "two"}) {
            if (!lines.try_send(line)) break;  // full or closed
        }
        lines.close();
    });
    io::block_on(ctx, print_what_comes(&lines));
    speaker.join();
}
// [/outside]

int main() {
    {
        io::context ctx;
        io::block_on(ctx, withdraw_twice());
        io::block_on(ctx, produce_and_consume());
        io::block_on(ctx, cook_five());
    }
    use_two_contexts();
    use_a_pool();
    listen_to_a_thread();
}
