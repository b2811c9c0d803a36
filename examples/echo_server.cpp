// SPDX-License-Identifier: Apache-2.0
// Sends back what it gets, to any number of clients at a time, until Ctrl-C.
//
//     echo_server ADDRESS:PORT
#include <array>
#include <csignal>
#include <cstddef>
#include <expected>
#include <iostream>
#include <span>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "io/task/when_any.hpp"

namespace io = corro::io;

// [serve]
/// One connection, from its beginning to its end.
io::task<> serve(io::tcp_stream peer) {
    std::array<std::byte, 4096> buffer;
    for (;;) {
        const io::io_result got = co_await peer.read_some(buffer);
        if (got.error) co_return;  // the client has left, or we are asked to stop
        const io::io_result put = co_await peer.write_all(std::span(buffer).first(got.bytes));
        if (put.error) co_return;
    }
}
// [/serve]

// [accept]
/// Gives each connection a task of its own.
io::task<> accept_all(io::tcp_acceptor* acceptor, io::task_scope* connections) {
    for (;;) {
        std::expected<io::tcp_stream, std::error_code> peer = co_await acceptor->accept();
        if (!peer) co_return;  // we are asked to stop
        connections->spawn(serve(std::move(*peer)));
    }
}
// [/accept]

// [main]
int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 2 ? argv[1] : "");
    if (!where) return std::cerr << "usage: echo_server ADDRESS:PORT\n", 2;

    io::context ctx;
    auto acceptor = io::tcp_acceptor::open(ctx, *where);
    if (!acceptor) return std::cerr << argv[1] << ": " << acceptor.error().message() << '\n', 1;
    std::cout << "listening on " << acceptor->local_endpoint()->to_string() << std::endl;

    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    auto service = io::with_scope([&](io::task_scope& connections) { return accept_all(&*acceptor, &connections); });
    io::block_on(ctx, io::when_any(std::move(service), interrupt.wait()));
    std::cout << "stopped" << std::endl;
}
// [/main]
