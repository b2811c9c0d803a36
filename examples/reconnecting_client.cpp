// SPDX-License-Identifier: Apache-2.0
// Prints the lines that a server sends, and comes back whenever the connection is lost, until Ctrl-C.
//
//     reconnecting_client ADDRESS:PORT
#include <chrono>
#include <csignal>
#include <expected>
#include <iostream>
#include <limits>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/retry.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "line_reader.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

using connection = std::expected<io::tcp_stream, std::error_code>;

// [attempt]
/// One attempt, which takes a second at most.
io::task<connection> attempt(io::context* on, io::endpoint where) {
    auto tried = co_await io::with_timeout(1s, io::tcp_stream::connect(*on, where));
    if (!tried) co_return std::unexpected(tried.error());
    co_return std::move(*tried);
}
// [/attempt]

// [stay]
/// Connects, listens, and starts again. Ends when it is asked to stop.
io::task<> stay_connected(io::context* on, io::endpoint where) {
    io::retry_options patience;
    patience.attempts_max = std::numeric_limits<unsigned>::max();
    patience.first_pause = 20ms;
    patience.longest_pause = 200ms;
    bool served = true;
    for (;;) {
        if (served) std::cout << "waiting for " << where.to_string() << std::endl;
        connection peer = co_await io::retry(patience, [=] { return attempt(on, where); });
        if (!peer) co_return;
        line_reader lines(&*peer);
        auto line = co_await lines.next();
        // A server on its way out may take a connection that it never serves: that one does not count.
        served = line.has_value();
        if (served) std::cout << "connected" << std::endl;
        for (; line; line = co_await lines.next()) std::cout << *line << std::endl;
        if (line.error() == io::condition::canceled) co_return;
        if (served) std::cout << "lost: " << line.error().message() << std::endl;
    }
}
// [/stay]

int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 2 ? argv[1] : "");
    if (!where) return std::cerr << "usage: reconnecting_client ADDRESS:PORT\n", 2;

    io::context ctx;
    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    io::block_on(ctx, io::when_any(stay_connected(&ctx, *where), interrupt.wait()));
    std::cout << "stopped" << std::endl;
}
