// SPDX-License-Identifier: Apache-2.0
// Two hosts, a link of 10 ms and a cut of three seconds, in one thread and in no time.
//
//     simulated_hosts
#include <array>
#include <chrono>
#include <cstddef>
#include <expected>
#include <iostream>
#include <span>
#include <system_error>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "sim/world.hpp"

namespace io = corro::io;
namespace sim = corro::sim;
using namespace std::chrono_literals;

// [server]
/// Sends back what a client sends, one client after the other.
io::task<> serve(io::tcp_acceptor* acceptor) {
    for (;;) {
        std::expected<io::tcp_stream, std::error_code> peer = co_await acceptor->accept();
        if (!peer) co_return;  // we are asked to stop
        std::array<std::byte, 64> buffer;
        for (;;) {
            const io::io_result got = co_await peer->read_some(buffer);
            if (got.error) break;
            const io::io_result put = co_await peer->write_all(std::span(buffer).first(got.bytes));
            if (put.error) break;
        }
    }
}
// [/server]

// [client]
/// Asks once a second, and prints how long each answer takes.
io::task<> ask(io::endpoint server) {
    io::context& here = co_await io::this_context();
    std::expected<io::tcp_stream, std::error_code> stream = co_await io::tcp_stream::connect(here, server);
    if (!stream) co_return;
    for (int number = 1; number <= 5; ++number) {
        const io::steady_time asked = here.now();
        std::array<std::byte, 4> word{};
        const io::io_result put = co_await stream->write_all(word);
        const io::io_result got = co_await stream->read_exact(word);
        if (put.error || got.error) co_return;
        const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(here.now() - asked);
        std::cout << "answer " << number << " after " << took.count() << " ms\n";
        static_cast<void>(co_await io::sleep_for(1s));
    }
}
// [/client]

// [main]
int main() {
    sim::world world(1);  // the seed
    sim::host& north = world.add_host("north", {io::endpoint::ipv4({10, 0, 0, 1}, 0)});
    sim::host& south = world.add_host("south", {io::endpoint::ipv4({10, 0, 0, 2}, 0)});
    for (sim::link* way : {&world.link_between(north, south), &world.link_between(south, north)}) {
        way->options().latency_min = way->options().latency_max = 10ms;
    }
    io::context client{io::context_options(north.start_process("client"))};
    io::context server{io::context_options(south.start_process("server"))};

    std::expected<io::tcp_acceptor, std::error_code> acceptor =
        io::tcp_acceptor::open(server, io::endpoint::any(7'000));
    if (!acceptor) return 1;
    io::task_scope serving(server);
    serving.spawn(serve(&*acceptor));

    world.plan_after(2'500ms, [&] {
        std::cout << "the link is cut\n";
        world.set_isolated(south, true);
    });
    world.plan_after(5'500ms, [&] {
        std::cout << "the link is whole again\n";
        world.set_isolated(south, false);
    });
    io::block_on(client, ask(io::endpoint::ipv4({10, 0, 0, 2}, 7'000)));  // steps the server too

    serving.request_stop();
    io::block_on(server, serving.join());
}
// [/main]
