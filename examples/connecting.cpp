// Connects to a name, sends a text and prints the answer.
//
//     connecting HOST:PORT TEXT
#include <charconv>
#include <chrono>
#include <cstdint>
#include <expected>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/net/connect.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;

using connection = std::expected<io::tcp_stream, std::error_code>;

// [name]
/// Connects to the address that answers first. If none does, prints every address and why.
io::task<connection> connect(std::string host, std::uint16_t port) {
    std::vector<io::failed_attempt> failures;
    io::connect_options options;
    options.failures = &failures;
    connection made = co_await io::connect_by_name(std::move(host), port, options);
    if (made) co_return made;
    for (const io::failed_attempt& each : failures) {
        std::cout << each.address.to_string() << ": " << each.error.message() << std::endl;
    }
    co_return made;
}
// [/name]

io::task<std::error_code> ask(std::string host, std::uint16_t port, std::string text) {
    connection server = co_await connect(std::move(host), port);
    if (!server) co_return server.error();
    const auto peer = server->remote_endpoint();
    if (peer) std::cout << "connected to " << peer->to_string() << std::endl;
    const io::io_result put = co_await server->write_all(std::as_bytes(std::span(text)));
    if (put.error) co_return put.error;
    const io::io_result got = co_await server->read_exact(std::as_writable_bytes(std::span(text)));
    if (got.error) co_return got.error;
    std::cout << text << std::endl;
    co_return std::error_code();
}

std::optional<std::uint16_t> port_of(std::string_view text) {
    std::uint16_t port = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), port);
    if (text.empty() || read.ec != std::errc() || read.ptr != text.data() + text.size()) return {};
    return port;
}

int main(int argc, char** argv) {
    const std::string_view where = argc == 3 ? argv[1] : "";
    const std::size_t colon = where.rfind(':');
    const auto port = port_of(colon == where.npos ? "" : where.substr(colon + 1));
    if (!port) return std::cerr << "usage: connecting HOST:PORT TEXT\n", 2;

    io::context ctx;
    // [limit]
    // The limit covers the lookup, all attempts and the conversation.
    const auto ended = io::block_on(
        ctx, io::with_timeout(std::chrono::seconds(20), ask(std::string(where.substr(0, colon)), *port, argv[2])));
    // [/limit]
    const std::error_code error = ended ? *ended : ended.error();
    if (error) return std::cerr << where << ": " << error.message() << '\n', 1;
}
