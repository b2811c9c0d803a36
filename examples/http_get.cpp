// SPDX-License-Identifier: Apache-2.0
// Asks for one thing by HTTP, and prints the status and the body.
//
//     http_get ADDRESS:PORT PATH
#include <chrono>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>

#include "http/client.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;
namespace http = corro::http;

io::task<std::error_code> get(io::context* on, io::endpoint where, std::string path) {
    auto stream = co_await io::tcp_stream::connect(*on, where);
    if (!stream) co_return stream.error();
    http::client server(io::any_stream(std::move(*stream)), where.to_string());
    const std::error_code failed = co_await server.send(http::method::get, path);
    if (failed) co_return failed;
    const auto head = co_await server.receive();
    if (!head) co_return head.error();
    const unsigned status = head->status;
    const auto body = co_await server.read_body();
    if (!body) co_return body.error();
    std::cout << status << '\n' << *body << std::flush;
    co_return std::error_code();
}

int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 3 ? argv[1] : "");
    if (!where) return std::cerr << "usage: http_get ADDRESS:PORT PATH\n", 2;

    io::context ctx;
    const auto ended = io::block_on(ctx, io::with_timeout(std::chrono::seconds(20), get(&ctx, *where, argv[2])));
    const std::error_code error = ended ? *ended : ended.error();
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
}
