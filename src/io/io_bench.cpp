// SPDX-License-Identifier: Apache-2.0
// Measures the cost of the primitives: nanoseconds per operation, amortised over a batch, minimum over batches.
//
//     corro_io_bench [--smoke] [--uring] [ROW]
//
// --smoke: run one short batch per row, to check that the rows work. --uring: use io_uring instead of epoll. ROW:
// run only rows whose name contains it.
//
// Scale other machines by the first row, `new` and `delete` of 64 bytes.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "io/loop/machine.hpp"
#include "io/loop/timer.hpp"
#include "io/loop/yield.hpp"
#include "io/net/tcp.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

struct settings {
    int batches_count = 300;
    int operations_count = 2000;
    platform* backend = &epoll_platform();
    std::string_view only;
};

double now_ns() {
    return static_cast<double>(
        std::chrono::duration_cast<nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

void report(const char* row, double best_ns) {
    std::printf("%-52s %10.1f ns\n", row, best_ns);
}

/// Runs `batch(operations)` as a task repeatedly and prints the best time per operation.
template <class Batch>
void measure(const settings& how, const char* row, context& ctx, Batch batch) {
    if (!how.only.empty() && std::string_view(row).find(how.only) == std::string_view::npos) return;
    double best = 1e18;
    for (int i = 0; i < how.batches_count; ++i) {
        const double start = now_ns();
        batch(ctx, how.operations_count);
        best = std::min(best, (now_ns() - start) / how.operations_count);
    }
    report(row, best);
}

template <class T>
void keep(T& value) {
    asm volatile("" : : "g"(&value) : "memory");
}

[[gnu::noinline]] task<int> one(int value) {
    co_return value;
}
[[gnu::noinline]] task<> nothing() {
    co_return;
}
[[gnu::noinline]] task<int> chain(int depth) {
    if (depth <= 1) co_return depth;
    co_return 1 + co_await chain(depth - 1);
}
[[gnu::noinline]] task<int> waits(manual_event* on) {
    const std::error_code error = co_await on->wait();
    co_return error ? 1 : 0;
}
[[gnu::noinline]] task<> waits_silently(manual_event* on) {
    co_await on->wait();
}
[[gnu::noinline]] task<int> yields_once() {
    co_await yield();
    co_return 1;
}

task<> create_and_await(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += co_await one(i);
    keep(sum);
}
task<> chains(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += co_await chain(10);
    keep(sum);
}
task<> yields(int count) {
    for (int i = 0; i < count; ++i) co_await yield();
}
task<> set_event(int count) {
    manual_event happened(true);
    for (int i = 0; i < count; ++i) {
        const std::error_code error = co_await happened.wait();
        keep(error);
    }
}
task<> locks(int count) {
    mutex lock;
    for (int i = 0; i < count; ++i) {
        const std::error_code error = co_await lock.lock();
        keep(error);
        lock.unlock();
    }
}
task<> locks_across_threads(int count) {
    shared_mutex lock;
    for (int i = 0; i < count; ++i) {
        const std::error_code error = co_await lock.lock();
        keep(error);
        lock.unlock();
    }
}
[[gnu::noinline]] task<> locks_and_unlocks(mutex* lock) {
    const std::error_code error = co_await lock->lock();
    if (!error) lock->unlock();
}
task<> hand_overs(int count) {
    task_scope children(co_await this_context());
    mutex lock;
    for (int i = 0; i < count; ++i) {
        const std::error_code error = co_await lock.lock();
        keep(error);
        children.spawn(locks_and_unlocks(&lock));
        co_await yield();
        lock.unlock();
        co_await children.join();
    }
}
task<> suspend_on_event(int count) {
    task_scope children(co_await this_context());
    for (int i = 0; i < count; ++i) {
        manual_event happened;
        children.spawn(waits_silently(&happened));
        co_await yield();
        happened.set();
        co_await children.join();
    }
}
task<> all_of_three(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        const auto [a, b, c] = co_await when_all(one(i), one(2), one(3));
        sum += a + b + c;
    }
    keep(sum);
}
task<> any_of_two(int count) {
    manual_event never;
    std::size_t sum = 0;
    for (int i = 0; i < count; ++i) {
        const auto result = co_await when_any(waits(&never), one(2));
        sum += result.index;
    }
    keep(sum);
}
task<> timeout_at_once(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += *co_await with_timeout(1h, one(1));
    keep(sum);
}
task<> timeout_armed(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += *co_await with_timeout(1h, yields_once());
    keep(sum);
}
task<> timeout_fires(int count) {
    manual_event never;
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        const auto result = co_await with_timeout(0ns, waits(&never));
        sum += result ? 1 : 0;
    }
    keep(sum);
}
task<> timer_armed_and_cancelled(int count) {
    steady_timer timer(co_await this_context());
    for (int i = 0; i < count; ++i) {
        timer.expires_after(1h);
        timer.cancel();
    }
}
task<> sleeps_of_zero(int count) {
    for (int i = 0; i < count; ++i) co_await sleep_for(0ns);
}
task<> spawned(int count) {
    task_scope children(co_await this_context());
    for (int i = 0; i < count; ++i) children.spawn(nothing());
    co_await children.join();
}

task<> echo(tcp_stream* on) {
    std::array<std::byte, 64> buffer;
    for (;;) {
        const io_result got = co_await on->read_some(buffer);
        if (!got) co_return;
        co_await on->write_some(std::span(buffer).first(got.bytes));
    }
}

struct connection {
    connection() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
    tcp_stream client;
    tcp_stream server;
};

task<connection> connected() {
    context& on = co_await this_context();
    auto acceptor = tcp_acceptor::open(on, endpoint::loopback(0));
    auto [client, server] = co_await when_all(tcp_stream::connect(on, *acceptor->local_endpoint()), acceptor->accept());
    connection made;
    made.client = std::move(*client);
    made.server = std::move(*server);
    (void)made.client.set_option(no_delay(true));
    (void)made.server.set_option(no_delay(true));
    co_return made;
}

task<> ping_pong(tcp_stream* client, int count) {
    std::array<std::byte, 64> buffer{};
    for (int i = 0; i < count; ++i) {
        co_await client->write_some(buffer);
        co_await client->read_exact(buffer);
    }
}
task<> ping_pong_with_timeouts(tcp_stream* client, int count) {
    std::array<std::byte, 64> buffer{};
    for (int i = 0; i < count; ++i) {
        co_await client->write_some(buffer);
        co_await with_timeout(1s, client->read_exact(buffer));
    }
}
task<> ping_pong_alone(connection* both, int count) {
    std::array<std::byte, 64> buffer{};
    for (int i = 0; i < count; ++i) {
        co_await both->client.write_some(buffer);
        co_await both->server.read_some(buffer);
        co_await both->server.write_some(buffer);
        co_await both->client.read_some(buffer);
    }
}

void sockets(const settings& how, context& ctx) {
    settings slow = how;
    slow.batches_count = std::min(how.batches_count, 20);
    connection pair = block_on(ctx, connected());
    measure(slow, "TCP round trip, both ends in one task", ctx,
            [&pair](context& on, int count) { block_on(on, ping_pong_alone(&pair, count)); });
    spawn(ctx, echo(&pair.server));
    measure(slow, "TCP round trip, separate tasks", ctx,
            [&pair](context& on, int count) { block_on(on, ping_pong(&pair.client, count)); });
    measure(slow, "TCP round trip, a timeout around every read", ctx,
            [&pair](context& on, int count) { block_on(on, ping_pong_with_timeouts(&pair.client, count)); });
    pair.client.close();
    ctx.run();
}

int run(const settings& how) {
    context ctx{context_options(*how.backend)};
    std::printf("%.*s\n", static_cast<int>(ctx.backend_name().size()), ctx.backend_name().data());
    measure(how, "new and delete of 64 bytes", ctx, [](context&, int count) {
        for (int i = 0; i < count; ++i) {
            void* block = ::operator new(64);
            keep(block);
            ::operator delete(block);
        }
    });
    measure(how, "task<int> created and awaited", ctx,
            [](context& on, int count) { block_on(on, create_and_await(count)); });
    measure(how, "task<int> created and run from plain code", ctx, [](context& on, int count) {
        int sum = 0;
        for (int i = 0; i < count; ++i) sum += block_on(on, one(i));
        keep(sum);
    });
    measure(how, "chain of ten awaits", ctx, [](context& on, int count) { block_on(on, chains(count)); });
    measure(how, "mutex, one context, uncontended", ctx, [](context& on, int count) { block_on(on, locks(count)); });
    measure(how, "mutex across threads, uncontended", ctx,
            [](context& on, int count) { block_on(on, locks_across_threads(count)); });
    measure(how, "mutex hand-over to a waiter, with its task", ctx,
            [](context& on, int count) { block_on(on, hand_overs(count)); });
    measure(how, "event already set", ctx, [](context& on, int count) { block_on(on, set_event(count)); });
    measure(how, "task suspends on an event, is set, ends", ctx, [](context& on, int count) {
        manual_event happened;
        for (int i = 0; i < count; ++i) {
            happened.reset();
            task<int> waiting = waits(&happened);
            detail::promise_base& promise = waiting.promise();
            promise.started_by(std::noop_coroutine(), environment(&on, stop_token()));
            on.enter();
            waiting.coroutine().resume();
            happened.set();
            on.run_until_done(waiting.coroutine());
            on.leave();
        }
    });
    measure(how, "the same in a scope, joined", ctx,
            [](context& on, int count) { block_on(on, suspend_on_event(count)); });
    measure(how, "yield through the ready queue", ctx, [](context& on, int count) { block_on(on, yields(count)); });
    measure(how, "when_all of 3", ctx, [](context& on, int count) { block_on(on, all_of_three(count)); });
    measure(how, "when_any of 2, loser stopped and joined", ctx,
            [](context& on, int count) { block_on(on, any_of_two(count)); });
    measure(how, "with_timeout, completes at once", ctx,
            [](context& on, int count) { block_on(on, timeout_at_once(count)); });
    measure(how, "with_timeout, armed and disarmed (and a yield)", ctx,
            [](context& on, int count) { block_on(on, timeout_armed(count)); });
    measure(how, "with_timeout, fires: stop and join", ctx,
            [](context& on, int count) { block_on(on, timeout_fires(count)); });
    measure(how, "timer armed and cancelled, nobody waiting", ctx,
            [](context& on, int count) { block_on(on, timer_armed_and_cancelled(count)); });
    measure(how, "timer of zero delay fires", ctx, [](context& on, int count) { block_on(on, sleeps_of_zero(count)); });
    measure(how, "task spawned and run", ctx, [](context& on, int count) { block_on(on, spawned(count)); });
    measure(how, "task posted to an idle context and run", ctx, [](context& on, int count) {
        for (int i = 0; i < count; ++i) {
            spawn(on, nothing());
            on.run();
        }
    });
    sockets(how, ctx);
    return 0;
}

}  // namespace
}  // namespace corro::io

int main(int argc, char** argv) {
    corro::io::settings how;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--smoke") == 0) {
            how.batches_count = 1;
            how.operations_count = 50;
        } else if (std::strcmp(argv[i], "--uring") == 0) {
            how.backend = &corro::io::uring_platform();
        } else {
            how.only = argv[i];
        }
    }
    return corro::io::run(how);
}
