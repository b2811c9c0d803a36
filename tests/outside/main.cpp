// SPDX-License-Identifier: Apache-2.0
// An outside project that uses the installed library: messages over TCP, with a timeout, on each backend.
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <expected>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/machine.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;

namespace {

constexpr std::string_view greeting = "hello from outside";

io::task<std::error_code> answer(io::tcp_acceptor* acceptor) {
    std::expected<io::tcp_stream, std::error_code> peer = co_await acceptor->accept();
    if (!peer) co_return peer.error();
    std::array<std::byte, greeting.size()> heard{};
    io::io_result moved = co_await peer->read_exact(heard);
    if (!moved) co_return moved.error;
    moved = co_await peer->write_all(heard);
    co_return moved.error;
}

io::task<std::error_code> ask(io::context* on, io::endpoint where) {
    std::expected<io::tcp_stream, std::error_code> peer = co_await io::tcp_stream::connect(*on, where);
    if (!peer) co_return peer.error();
    std::array<std::byte, greeting.size()> heard{};
    io::io_result moved = co_await peer->write_all(std::as_bytes(std::span(greeting)));
    if (!moved) co_return moved.error;
    moved = co_await peer->read_exact(heard);
    if (!moved) co_return moved.error;
    const std::string_view text(reinterpret_cast<const char*>(heard.data()), heard.size());
    co_return text == greeting ? std::error_code() : std::make_error_code(std::errc::bad_message);
}

io::task<bool> converse(io::context* on) {
    std::expected<io::tcp_acceptor, std::error_code> acceptor = io::tcp_acceptor::open(*on, io::endpoint::loopback(0));
    if (!acceptor) co_return false;
    const io::endpoint where = *acceptor->local_endpoint();
    const auto ended =
        co_await io::with_timeout(std::chrono::seconds(10), io::when_all(answer(&*acceptor), ask(on, where)));
    co_return ended && !std::get<0>(*ended) && !std::get<1>(*ended);
}

}  // namespace

int main() {
    for (io::platform* const kind : {&io::epoll_platform(), &io::default_platform()}) {
        io::context on{io::context_options(*kind)};
        const bool well = io::block_on(on, converse(&on));
        const std::string_view name = on.backend_name();
        std::printf("%.*s: %s\n", static_cast<int>(name.size()), name.data(), well ? "well" : "failed");
        if (!well) return 1;
    }
    return 0;
}
