// SPDX-License-Identifier: Apache-2.0
// Subscribes to websocket_feed, and leaves after COUNT prices.
//
//     feed_client ADDRESS:PORT COUNT
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"
#include "websocket/connection.hpp"

namespace io = corro::io;
namespace websocket = corro::websocket;

// [subscribe]
io::task<std::error_code> subscribe(io::context* on, io::endpoint where, int count) {
    auto stream = co_await io::tcp_stream::connect(*on, where);
    if (!stream) co_return stream.error();
    const websocket::connection_options options;
    auto opened = co_await websocket::connect(io::any_stream(std::move(*stream)), where.to_string(), "/feed", options);
    if (!opened) co_return opened.error();
    websocket::connection& server = **opened;

    std::string last;
    for (int received = 0; received < count; ++received) {
        const auto message = co_await server.receive();
        if (!message) co_return message.error();
        if (message->text() == last) co_return std::make_error_code(std::errc::bad_message);
        last = message->text();
    }
    std::cout << count << " prices, each another than the one before" << std::endl;
    co_return co_await server.close();
}
// [/subscribe]

int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 3 ? argv[1] : "");
    if (!where) return std::cerr << "usage: feed_client ADDRESS:PORT COUNT\n", 2;

    io::context ctx;
    auto work = subscribe(&ctx, *where, std::atoi(argv[2]));
    const auto ended = io::block_on(ctx, io::with_timeout(std::chrono::seconds(20), std::move(work)));
    const std::error_code error = ended ? *ended : ended.error();
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
}
