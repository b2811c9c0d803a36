// SPDX-License-Identifier: Apache-2.0
// A Boost.Beast server for an external load generator, as a peer of corro-echo. A GET of any path returns
// BYTES bytes.
//
//     beast_server PORT BYTES
#include <cstdlib>
#include <iostream>

#include "lab/suites/beast_sessions.hpp"

namespace {

using namespace corro::lab::beast_sessions;
using acceptor = net::basic_socket_acceptor<net::ip::tcp, net::io_context::executor_type>;

void accept_next(acceptor& from, std::size_t bytes) {
    from.async_accept([&from, bytes](error_code error, auto socket) {
        if (!error) {
            socket.set_option(net::ip::tcp::no_delay(true), error);
            plain_stream stream(from.get_executor());
            stream.socket().assign(net::ip::tcp::v4(), socket.release());
            std::make_shared<http_session<plain_stream>>(std::move(stream), bytes)->start();
        }
        accept_next(from, bytes);
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) return std::cerr << "usage: beast_server PORT BYTES\n", 2;
    net::io_context ctx(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE);
    const auto port = static_cast<unsigned short>(std::atoi(argv[1]));
    acceptor listening(ctx.get_executor(), net::ip::tcp::endpoint(net::ip::address_v4::loopback(), port));
    accept_next(listening, static_cast<std::size_t>(std::atol(argv[2])));
    ctx.run();
}
