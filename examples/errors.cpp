// SPDX-License-Identifier: Apache-2.0
// Errors: what operations report, what to compare with, where exceptions have their place.
#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <expected>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/net/resolver.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/block_on.hpp"
#include "io/task/task.hpp"
#include "io/task/with_timeout.hpp"

namespace io = corro::io;
using namespace std::chrono_literals;

// [expected]
io::task<> connect_to_nobody() {
    io::context& here = co_await io::this_context();
    auto free = io::tcp_acceptor::open(here, io::endpoint::loopback(0));
    if (!free) co_return;
    const io::endpoint nobody = *free->local_endpoint();
    free->close();

    const auto stream = co_await io::tcp_stream::connect(here, nobody);
    if (stream) co_return;
    if (stream.error() == std::errc::connection_refused) std::cout << "nobody listens there" << std::endl;
}
// [/expected]

// [partial]
io::task<> read_too_much(io::unix_stream* here, io::unix_stream* there) {
    const std::string_view text = "three";
    co_await here->write_all(std::as_bytes(std::span(text)));
    here->close();

    std::array<std::byte, 8> buffer;
    const io::io_result got = co_await there->read_exact(buffer);
    std::cout << got.bytes << " of 8 bytes, then: " << got.error.message() << std::endl;
}
// [/partial]

// [conditions]
std::string_view judge(std::error_code error) {
    if (!error) return "well";
    if (error == io::condition::canceled) return "we stopped it ourselves";
    if (error == io::condition::end_of_stream) return "the peer has finished";
    if (error == io::condition::timed_out) return "too late: ours or the transport's limit";
    return "a failure";
}

io::task<> judge_some(io::unix_stream* silent) {
    std::array<std::byte, 8> buffer;
    const auto late = co_await io::with_timeout(10ms, silent->read_some(buffer));
    std::cout << judge(late ? late->error : late.error()) << std::endl;
    const io::io_result empty;
    std::cout << judge(empty.error) << std::endl;
    std::cout << judge(std::make_error_code(std::errc::connection_reset)) << std::endl;
}
// [/conditions]

// [options]
io::task<> set_options() {
    io::context& here = co_await io::this_context();
    auto acceptor = io::tcp_acceptor::open(here, io::endpoint::loopback(0));
    if (!acceptor) co_return;
    if (const std::error_code refused = acceptor->set_option(io::keep_alive(true))) {
        std::cout << "no keep-alive: " << refused.message() << std::endl;
    }
    acceptor->close();
    const std::error_code refused = acceptor->set_option(io::keep_alive(true));
    std::cout << "after closing: " << refused.message() << std::endl;
}
// [/options]

// [exceptions]
io::task<int> parse(std::string_view text) {
    if (text.empty()) throw std::invalid_argument("no text");
    co_return static_cast<int>(text.size());
}

io::task<> catch_as_usual() {
    try {
        const int size = co_await parse("");
        std::cout << size << std::endl;
    } catch (const std::exception& failure) {
        std::cout << "caught: " << failure.what() << std::endl;
    }
}
// [/exceptions]

io::task<> all_of_it() {
    io::context& here = co_await io::this_context();
    co_await connect_to_nobody();
    auto pair = io::unix_stream::pair(here);
    auto silent = io::unix_stream::pair(here);
    if (!pair || !silent) co_return;
    co_await read_too_much(&pair->first, &pair->second);
    co_await judge_some(&silent->first);
    co_await set_options();
    co_await catch_as_usual();
}

int main() {
    io::context ctx;
    io::block_on(ctx, all_of_it());
}
