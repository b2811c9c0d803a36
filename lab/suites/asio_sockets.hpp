// SPDX-License-Identifier: Apache-2.0
// Connected sockets of Asio for the suites.
//
// Threads: one context.
#pragma once

#include <deque>

#include "lab/suites/asio.hpp"
#include "lab/suites/raw_sockets.hpp"

namespace corro::lab::CORRO_LAB_ASIO {

template <class Socket>
struct asio_pair {
    explicit asio_pair(net::io_context& on) : client(on.get_executor()), server(on.get_executor()) {}
    Socket client;
    Socket server;
};

template <class Socket>
inline constexpr wire wire_of = wire::tcp;
template <>
inline constexpr wire wire_of<unix_socket> = wire::unix_stream;

template <class Socket>
[[nodiscard]] typename Socket::protocol_type protocol_of() {
    if constexpr (wire_of<Socket> == wire::tcp) {
        return net::ip::tcp::v4();
    } else {
        return {};
    }
}

template <class Socket>
[[nodiscard]] std::deque<asio_pair<Socket>> connected_pairs(net::io_context& on, int count) {
    std::deque<asio_pair<Socket>> made;
    for (raw_pair& raw : lab::connected_pairs(wire_of<Socket>, count)) {
        asio_pair<Socket>& one = made.emplace_back(on);
        one.client.assign(protocol_of<Socket>(), raw.client.release());
        one.server.assign(protocol_of<Socket>(), raw.server.release());
        // The descriptors are non-blocking already; Asio need not find that out in its first operation.
        one.client.native_non_blocking(true);
        one.server.native_non_blocking(true);
    }
    return made;
}

[[nodiscard]] inline bool is_end(const error_code& outcome) {
    return outcome == net::error::eof;
}

}  // namespace corro::lab::CORRO_LAB_ASIO
