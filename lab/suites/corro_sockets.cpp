// SPDX-License-Identifier: Apache-2.0
#include "lab/suites/corro_sockets.hpp"

#include <fmt/format.h>

#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "io/task/block_on.hpp"
#include "io/task/when_all.hpp"

namespace corro::lab {

void verify_io(std::error_code outcome, const char* what) {
    if (outcome) throw wrong_result(fmt::format("{}: {}", what, outcome.message()));
}

io::task<tcp_pair> connect_tcp() {
    io::context& on = co_await io::this_context();
    auto acceptor = io::tcp_acceptor::open(on, io::endpoint::loopback(0));
    verify(acceptor.has_value(), "listening failed");
    auto both = co_await io::when_all(io::tcp_stream::connect(on, *acceptor->local_endpoint()), acceptor->accept());
    verify(std::get<0>(both).has_value() && std::get<1>(both).has_value(), "connecting failed");
    tcp_pair made;
    made.client = std::move(*std::get<0>(both));
    made.server = std::move(*std::get<1>(both));
    verify_io(made.client.set_option(io::no_delay(true)), "no_delay");
    verify_io(made.server.set_option(io::no_delay(true)), "no_delay");
    co_return made;
}

template <>
std::deque<tcp_pair> connected_pairs<io::tcp_stream>(io::context& on, int count) {
    std::deque<tcp_pair> made;
    for (int i = 0; i < count; ++i) made.push_back(io::block_on(on, connect_tcp()));
    return made;
}

template <>
std::deque<unix_pair> connected_pairs<io::unix_stream>(io::context& on, int count) {
    std::deque<unix_pair> made;
    for (int i = 0; i < count; ++i) {
        auto both = io::unix_stream::pair(on);
        verify(both.has_value(), "no pair of Unix sockets");
        unix_pair& one = made.emplace_back();
        one.client = std::move(both->first);
        one.server = std::move(both->second);
    }
    return made;
}

io::task<> echo(io::stream_socket* with, std::size_t bytes_max) {
    std::vector<std::byte> buffer(bytes_max);
    for (;;) {
        const io::io_result got = co_await with->read_some(buffer);
        if (got.error == io::condition::end_of_stream) co_return;
        verify_io(got.error, "reading");
        const io::io_result sent = co_await with->write_all(std::span(buffer).first(got.bytes));
        verify_io(sent.error, "writing");
    }
}

}  // namespace corro::lab
