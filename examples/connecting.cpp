// SPDX-License-Identifier: Apache-2.0
// Connects to a name, sends a text and prints the answer.
//
//     connecting HOST:PORT TEXT                          directly
//     connecting HOST:PORT TEXT socks PROXY_HOST:PORT    through a SOCKS5 proxy
//     connecting HOST:PORT TEXT http PROXY_HOST:PORT     through an HTTP proxy
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

#include "http/tunnel.hpp"
#include "io/loop/context.hpp"
#include "io/net/connect.hpp"
#include "io/net/socks.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/with_timeout.hpp"

namespace http = corro::http;
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

struct address {
    std::string host;
    std::uint16_t port = 0;
};

// [proxy]
/// Connects through a proxy, which looks the name up. From then on the stream is one to the target.
io::task<connection> connect_through(std::string kind, address proxy, address target) {
    connection made = co_await connect(proxy.host, proxy.port);
    if (!made) co_return made;
    std::error_code refused;
    if (kind == "socks") {
        refused = co_await io::socks_connect(*made, target.host, target.port);
    } else {
        refused = co_await http::open_tunnel(*made, target.host, target.port);
    }
    if (refused) co_return std::unexpected(refused);
    co_return made;
}
// [/proxy]

io::task<std::error_code> talk(connection server, std::string text) {
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

io::task<std::error_code> ask(address target, std::string text) {
    connection server = co_await connect(target.host, target.port);
    co_return co_await talk(std::move(server), std::move(text));
}
io::task<std::error_code> ask_through(std::string kind, address proxy, address target, std::string text) {
    connection server = co_await connect_through(std::move(kind), std::move(proxy), std::move(target));
    co_return co_await talk(std::move(server), std::move(text));
}

std::optional<address> parse(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string_view::npos) return {};
    address read;
    read.host = text.substr(0, colon);
    const char* const end = text.data() + text.size();
    const auto number = std::from_chars(text.data() + colon + 1, end, read.port);
    if (number.ec != std::errc() || number.ptr != end) return {};
    return read;
}

int main(int argc, char** argv) {
    const std::string kind = argc == 5 ? argv[3] : "";
    const auto target = parse(argc >= 3 ? argv[1] : "");
    const auto proxy = parse(argc == 5 ? argv[4] : "");
    const bool is_direct = argc == 3;
    if (!target || !(is_direct || ((kind == "socks" || kind == "http") && proxy))) {
        return std::cerr << "usage: connecting HOST:PORT TEXT [socks|http PROXY_HOST:PORT]\n", 2;
    }

    io::context ctx;
    auto work = is_direct ? ask(*target, argv[2]) : ask_through(kind, *proxy, *target, argv[2]);
    // [limit]
    // The limit covers the lookup, all attempts, the proxy's answer and the conversation.
    const auto ended = io::block_on(ctx, io::with_timeout(std::chrono::seconds(20), std::move(work)));
    // [/limit]
    const std::error_code error = ended ? *ended : ended.error();
    if (error) return std::cerr << argv[1] << ": " << error.message() << '\n', 1;
}
