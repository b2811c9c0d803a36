// SPDX-License-Identifier: Apache-2.0
// Says what it is given, and prints what comes back.
//
//     echo_client ADDRESS:PORT TEXT...
#include <chrono>
#include <cstddef>
#include <expected>
#include <iostream>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;

// [talk]
/// Sends each text and reads as many bytes back.
io::task<std::error_code> talk(io::context* on, io::endpoint where, std::vector<std::string> texts) {
    auto peer = co_await io::tcp_stream::connect(*on, where);
    if (!peer) co_return peer.error();
    for (std::string& text : texts) {
        const io::io_result put = co_await peer->write_all(std::as_bytes(std::span(text)));
        if (put.error) co_return put.error;
        const io::io_result got = co_await peer->read_exact(std::as_writable_bytes(std::span(text)));
        if (got.error) co_return got.error;
        std::cout << text << std::endl;
    }
    co_return std::error_code();
}
// [/talk]

// [main]
int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc > 2 ? argv[1] : "");
    if (!where) return std::cerr << "usage: echo_client ADDRESS:PORT TEXT...\n", 2;

    io::context ctx;
    auto conversation = talk(&ctx, *where, {argv + 2, argv + argc});
    const auto ended = io::block_on(ctx, io::with_timeout(std::chrono::seconds(5), std::move(conversation)));
    const std::error_code error = ended ? *ended : ended.error();
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
}
// [/main]
