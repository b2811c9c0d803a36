// SPDX-License-Identifier: Apache-2.0
// A user's web program: a server that echoes WebSocket messages, and its client, in one process.
#include <chrono>
#include <cstdio>
#include <system_error>
#include <tuple>
#include <utility>

#include "http/server.hpp"
#include "io/loop/context.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_any.hpp"
#include "io/task/with_timeout.hpp"
#include "websocket/connection.hpp"

namespace http = corro::http;
namespace io = corro::io;
namespace websocket = corro::websocket;

namespace {

io::task<> echo(http::exchange* on) {
    const websocket::connection_options options;
    auto opened = co_await websocket::accept(on, options);
    if (!opened) co_return;
    const auto message = co_await (*opened)->receive();
    if (message) co_await (*opened)->send_text(message->text());
    co_await (*opened)->close();
}

io::task<bool> ask(io::context* on, io::endpoint where) {
    auto stream = co_await io::tcp_stream::connect(*on, where);
    if (!stream) co_return false;
    const websocket::connection_options options;
    auto opened = co_await websocket::connect(io::any_stream(std::move(*stream)), where.to_string(), "/", options);
    if (!opened) co_return false;
    const std::error_code sent = co_await (*opened)->send_text("are you there?");
    if (sent) co_return false;
    const auto message = co_await (*opened)->receive();
    co_return message && message->text() == "are you there?";
}

}  // namespace

int main() {
    io::context on;
    auto acceptor = io::tcp_acceptor::open(on, io::endpoint::loopback(0));
    if (!acceptor) return 1;
    http::server server(on, &echo);
    auto asked = io::with_timeout(std::chrono::seconds(10), ask(&on, *acceptor->local_endpoint()));
    const auto first = io::block_on(on, io::when_any(std::move(asked), server.serve(&*acceptor)));
    const auto& answered = std::get<0>(first.values);
    const bool well = first.index == 0 && answered && answered->value_or(false);
    std::printf("websocket: %s\n", well ? "well" : "failed");
    return well ? 0 : 1;
}
