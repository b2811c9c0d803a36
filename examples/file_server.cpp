// SPDX-License-Identifier: Apache-2.0
// Serves the files of a folder over HTTP, until Ctrl-C.
//
//     file_server ADDRESS:PORT FOLDER
#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "http/router.hpp"
#include "http/server.hpp"
#include "io/file/file.hpp"
#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_any.hpp"

namespace io = corro::io;
namespace http = corro::http;

// [path]
/// The file that a path stands for; empty if it would lead out of the folder or to a hidden file.
std::string file_of(std::string_view folder, std::string_view path) {
    std::string decoded;
    if (!http::percent_decode(path, decoded) || decoded.find("/.") != std::string::npos) return std::string();
    if (decoded.ends_with('/')) decoded += "index.html";
    return std::string(folder) + decoded;
}

std::string_view type_of(std::string_view path) {
    if (path.ends_with(".html")) return "text/html; charset=utf-8";
    if (path.ends_with(".txt")) return "text/plain; charset=utf-8";
    if (path.ends_with(".css")) return "text/css";
    if (path.ends_with(".js")) return "text/javascript";
    return "application/octet-stream";
}
// [/path]

// [send]
/// One request: opens the file, says how long it is, and sends it piece by piece.
io::task<> send_file(http::exchange* on, io::file_system* disk, std::string_view folder) {
    const std::string path = file_of(folder, on->request().path);
    if (path.empty()) {
        on->respond(404, "text/plain", "not here\n");
        co_return;
    }
    auto file = co_await disk->open(path, io::file_mode::read);
    const auto size = file ? file->size() : std::unexpected(file.error());
    if (!size) {
        on->respond(404, "text/plain", "not here\n");
        co_return;
    }
    const std::array<http::field, 1> fields{http::field("Content-Type", type_of(path))};
    on->begin(200, fields, *size);

    std::vector<char> piece(std::min<std::uint64_t>(*size, 64 * 1024));
    for (std::uint64_t sent = 0; sent < *size;) {
        const std::size_t want = std::min<std::uint64_t>(*size - sent, piece.size());
        const io::io_result got = co_await file->read_at(sent, std::as_writable_bytes(std::span(piece).first(want)));
        if (got.error) {
            on->close_after();  // the length was promised; an early end tells the client that it is not kept
            co_return;
        }
        const std::error_code failed = co_await on->write(std::string_view(piece.data(), got.bytes));
        if (failed) co_return;
        sent += got.bytes;
    }
}
// [/send]

// [main]
int main(int argc, char** argv) {
    const auto where = io::endpoint::parse(argc == 3 ? argv[1] : "");
    if (!where) return std::cerr << "usage: file_server ADDRESS:PORT FOLDER\n", 2;

    io::context ctx;
    auto acceptor = io::tcp_acceptor::open(ctx, *where);
    if (!acceptor) return std::cerr << argv[1] << ": " << acceptor.error().message() << '\n', 1;

    io::file_system disk(ctx);
    const std::string_view folder = argv[2];
    http::router routes;
    routes.get("/*", [&](http::exchange* on) { return send_file(on, &disk, folder); });
    http::server server(ctx, routes.as_handler());
    std::cout << "listening on " << acceptor->local_endpoint()->to_string() << std::endl;

    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    io::block_on(ctx, io::when_any(server.serve(&*acceptor), interrupt.wait()));
    std::cout << "stopped after " << server.requests_count() << " requests" << std::endl;
}
// [/main]
