// SPDX-License-Identifier: Apache-2.0
// A service of the third tutorial: counts how often each path was asked for, for any number of clients, until Ctrl-C.
//
//     first_server ADDRESS:PORT
#include <chrono>
#include <csignal>
#include <cstddef>
#include <iostream>
#include <map>
#include <string>

#include "http/router.hpp"
#include "http/server.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_any.hpp"

namespace io = corro::io;
namespace http = corro::http;

// [handlers]
using counts = std::map<std::string, std::size_t>;

/// Counts the request and answers with the count.
io::task<> count(http::exchange* on, counts* seen) {
    const std::size_t times = ++(*seen)[std::string(on->request().path)];
    on->respond(200, "text/plain", "request " + std::to_string(times) + " for this path\n");
    co_return;
}

/// Answers after a tenth of a second; other requests go on meanwhile.
io::task<> wait(http::exchange* on) {
    const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(100));
    if (stopped) co_return;  // the server closes: no answer is owed
    on->respond(200, "text/plain", "waited\n");
}
// [/handlers]

// [main]
int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 2 ? argv[1] : "");
    if (!where) return std::cerr << "usage: first_server ADDRESS:PORT\n", 2;

    io::context ctx;
    auto acceptor = io::tcp_acceptor::open(ctx, *where);
    if (!acceptor) return std::cerr << argv[1] << ": " << acceptor.error().message() << '\n', 1;
    std::cout << "listening on " << acceptor->local_endpoint()->to_string() << std::endl;

    counts seen;
    http::router routes;
    routes.get("/slow", [](http::exchange* on) { return wait(on); });
    routes.get("/*", [&](http::exchange* on) { return count(on, &seen); });
    http::server server(ctx, routes.as_handler());

    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    io::block_on(ctx, io::when_any(server.serve(&*acceptor), interrupt.wait()));
    std::cout << "stopped after " << server.requests_count() << " requests, " << seen.size() << " paths" << std::endl;
}
// [/main]
