// SPDX-License-Identifier: Apache-2.0
// Sends COUNT ticks to the first client that comes, one every tenth of a second, and ends.
//
//     tick_server ADDRESS:PORT COUNT
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_any.hpp"

namespace io = corro::io;

// [tick]
io::task<std::error_code> tick(io::tcp_acceptor* acceptor, int count) {
    auto peer = co_await acceptor->accept();
    if (!peer) co_return peer.error();
    for (int number = 1; number <= count; ++number) {
        const std::string text = "tick " + std::to_string(number) + '\n';
        const io::io_result put = co_await peer->write_all(std::as_bytes(std::span(text)));
        if (put.error) co_return put.error;
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(100));
        if (stopped) co_return stopped;
    }
    co_return std::error_code();
}
// [/tick]

int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 3 ? argv[1] : "");
    if (!where) return std::cerr << "usage: tick_server ADDRESS:PORT COUNT\n", 2;

    io::context ctx;
    auto acceptor = io::tcp_acceptor::open(ctx, *where);
    if (!acceptor) return std::cerr << argv[1] << ": " << acceptor.error().message() << '\n', 1;
    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    const auto first = io::block_on(ctx, io::when_any(tick(&*acceptor, std::atoi(argv[2])), interrupt.wait()));
    if (first.index == 1) return 0;
    const std::error_code error = *std::get<0>(first.values);
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
    std::cout << "sent " << argv[2] << " ticks" << std::endl;
}
