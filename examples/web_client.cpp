// SPDX-License-Identifier: Apache-2.0
// Asks a server one thing by HTTP, then sends it messages over a WebSocket and prints what comes back.
//
//     web_client ADDRESS:PORT PATH MESSAGE...
#include <expected>
#include <iostream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "http/client.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "websocket/connection.hpp"

namespace io = corro::io;
namespace http = corro::http;
namespace websocket = corro::websocket;

io::task<std::error_code> get(io::tcp_stream stream, std::string host, std::string path) {
    // [get]
    http::client server(io::any_stream(std::move(stream)), host);
    const std::error_code error = co_await server.send(http::method::get, path);
    if (error) co_return error;
    const auto head = co_await server.receive();
    if (!head) co_return head.error();
    const auto body = co_await server.read_body();
    if (!body) co_return body.error();
    std::cout << head->status << ' ' << *body << std::flush;
    // [/get]
    co_return std::error_code();
}

io::task<std::error_code> talk(io::tcp_stream stream, std::string host, std::vector<std::string> messages) {
    // [talk]
    const websocket::connection_options options;
    auto opened = co_await websocket::connect(io::any_stream(std::move(stream)), host, "/", options);
    if (!opened) co_return opened.error();
    websocket::connection& server = **opened;
    for (const std::string& text : messages) {
        const std::error_code error = co_await server.send_text(text);
        if (error) co_return error;
        const auto answer = co_await server.receive();
        if (!answer) co_return answer.error();
        std::cout << answer->text() << std::endl;
    }
    co_return co_await server.close();
    // [/talk]
}

io::task<std::error_code> ask(io::context* on, io::endpoint where, std::string path,
                              std::vector<std::string> messages) {
    const std::string host = where.to_string();
    auto first = co_await io::tcp_stream::connect(*on, where);
    if (!first) co_return first.error();
    const std::error_code error = co_await get(std::move(*first), host, path);
    if (error) co_return error;
    auto second = co_await io::tcp_stream::connect(*on, where);
    if (!second) co_return second.error();
    co_return co_await talk(std::move(*second), host, std::move(messages));
}

int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc >= 3 ? argv[1] : "");
    if (!where) return std::cerr << "usage: web_client ADDRESS:PORT PATH MESSAGE...\n", 2;
    io::context ctx;
    const std::error_code error =
        io::block_on(ctx, ask(&ctx, *where, argv[2], std::vector<std::string>(argv + 3, argv + argc)));
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
}
