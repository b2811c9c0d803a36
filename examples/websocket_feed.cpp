// SPDX-License-Identifier: Apache-2.0
// Prices for browsers: a page at `/`, and at `/feed` a WebSocket on which every new price is sent.
//
//     websocket_feed ADDRESS:PORT
#include <chrono>
#include <csignal>
#include <cstdint>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include "http/router.hpp"
#include "http/server.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/sync/event.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_all.hpp"
#include "io/task/when_any.hpp"
#include "websocket/connection.hpp"

namespace io = corro::io;
namespace http = corro::http;
namespace websocket = corro::websocket;

constexpr std::string_view page = R"(<!doctype html><title>Feed</title><h1 id="price"></h1><script>
new WebSocket(`ws://${location.host}/feed`).onmessage = (m) => { price.textContent = m.data; };
</script>
)";

// [feed]
/// The latest price, and a signal for those who wait for the next.
struct feed {
    std::uint64_t number = 0;
    int price = 100;
    io::manual_event changed;
};

io::task<std::error_code> publish(feed* out) {
    for (;;) {
        const std::error_code stopped = co_await io::sleep_for(std::chrono::milliseconds(20));
        if (stopped) co_return stopped;
        ++out->number;
        out->price += out->number % 3 == 0 ? -1 : 1;
        out->changed.set();  // wakes everybody who waits now
        out->changed.reset();
    }
}
// [/feed]

// [subscriber]
/// Sends the latest price whenever there is a newer one. A slow reader misses some, and never gets an old one.
io::task<> send_prices(websocket::connection* peer, feed* from) {
    std::uint64_t sent = 0;
    for (;;) {
        while (sent == from->number) {
            const std::error_code stopped = co_await from->changed.wait();
            if (stopped) co_return;
        }
        sent = from->number;
        const std::string text =
            "{\"number\": " + std::to_string(sent) + ", \"price\": " + std::to_string(from->price) + "}";
        const std::error_code failed = co_await peer->send_text(text);
        if (failed) co_return;
    }
}

/// Receiving answers pings and notices the end; what a subscriber says does not interest us.
io::task<> wait_for_the_end(websocket::connection* peer) {
    for (;;) {
        const auto message = co_await peer->receive();
        if (!message) co_return;
    }
}

io::task<> serve_subscriber(http::exchange* on, feed* from) {
    const websocket::connection_options options;
    auto opened = co_await websocket::accept(on, options);
    if (!opened) co_return;  // refused, and told why
    websocket::connection* peer = opened->get();
    co_await io::when_any(send_prices(peer, from), wait_for_the_end(peer));
}
// [/subscriber]

io::task<> show_page(http::exchange* on) {
    on->respond(200, "text/html; charset=utf-8", page);
    co_return;
}

// [main]
int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 2 ? argv[1] : "");
    if (!where) return std::cerr << "usage: websocket_feed ADDRESS:PORT\n", 2;

    io::context ctx;
    auto acceptor = io::tcp_acceptor::open(ctx, *where);
    if (!acceptor) return std::cerr << argv[1] << ": " << acceptor.error().message() << '\n', 1;

    feed prices;
    http::router routes;
    routes.get("/", &show_page);
    routes.get("/feed", [&](http::exchange* on) { return serve_subscriber(on, &prices); });
    http::server server(ctx, routes.as_handler());
    std::cout << "listening on " << acceptor->local_endpoint()->to_string() << std::endl;

    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    auto service = io::when_all(server.serve(&*acceptor), publish(&prices));
    io::block_on(ctx, io::when_any(std::move(service), interrupt.wait()));
    std::cout << "stopped" << std::endl;
}
// [/main]
