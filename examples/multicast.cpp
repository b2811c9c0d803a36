// SPDX-License-Identifier: Apache-2.0
// Sends to a multicast group, or listens to it, on this machine.
//
//     multicast listen GROUP:PORT
//     multicast send GROUP:PORT TEXT...
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

#include "io/loop/context.hpp"
#include "io/net/udp.hpp"
#include "io/process/signals.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_any.hpp"

namespace io = corro::io;

/// The loopback interface: nothing leaves this machine. 0 would let the system choose.
constexpr std::uint32_t interface_index = 1;

// [listen]
io::task<std::error_code> listen(io::context* on, io::endpoint group) {
    io::udp_options options;
    options.reuse_address = true;  // other listeners on this machine bind the same port
    auto socket = io::udp_socket::open(*on, io::endpoint::any(group.port()), options);
    if (!socket) co_return socket.error();
    if (const std::error_code refused = socket->join_group(group, interface_index)) co_return refused;
    std::cout << "listening to " << group.to_string() << std::endl;

    std::array<char, 1500> buffer;
    for (;;) {
        const auto got = co_await socket->receive_from(std::as_writable_bytes(std::span(buffer)));
        if (!got) co_return got.error();
        std::cout << std::string_view(buffer.data(), got->bytes) << (got->truncated ? " ..." : "") << std::endl;
    }
}
// [/listen]

// [send]
io::task<std::error_code> send(io::context* on, io::endpoint group, std::vector<std::string> texts) {
    auto socket = io::udp_socket::open(*on, io::endpoint::loopback(0));
    if (!socket) co_return socket.error();
    if (const auto refused = socket->set_option(io::multicast_interface(interface_index))) co_return refused;
    if (const auto refused = socket->set_option(io::multicast_loop(true))) co_return refused;
    const io::socket_address to = group;
    for (const std::string& text : texts) {
        const std::error_code failed = co_await socket->send_to(std::as_bytes(std::span(text)), to);
        if (failed) co_return failed;
    }
    std::cout << "sent " << texts.size() << std::endl;
    co_return std::error_code();
}
// [/send]

// [main]
int main(int argc, char** argv) {
    const std::string_view what = argc > 2 ? argv[1] : "";
    const auto group = io::endpoint::parse(argc > 2 ? argv[2] : "");
    if (!group || !group->is_multicast() || (what != "listen" && what != "send")) {
        std::cerr << "usage: multicast listen GROUP:PORT\n       multicast send GROUP:PORT TEXT...\n";
        return 2;
    }

    io::context ctx;
    io::signal_set interrupt(ctx, {SIGINT, SIGTERM});
    auto work = what == "listen" ? listen(&ctx, *group) : send(&ctx, *group, {argv + 3, argv + argc});
    const auto first = io::block_on(ctx, io::when_any(std::move(work), interrupt.wait()));
    if (first.index == 1) return 0;
    const std::error_code error = *std::get<0>(first.values);
    if (error) return std::cerr << argv[2] << ": " << error.message() << '\n', 1;
}
// [/main]
