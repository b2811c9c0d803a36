// SPDX-License-Identifier: Apache-2.0
// Connected sockets of Corro for the suites.
//
// Threads: one context.
#pragma once

#include <deque>

#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "lab/measurement.hpp"

namespace corro::lab {

/// @throws wrong_result if `outcome` is no success.
void verify_io(std::error_code outcome, const char* what);

template <class Stream>
struct corro_pair {
    corro_pair() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
    Stream client;
    Stream server;
};
using tcp_pair = corro_pair<io::tcp_stream>;
using unix_pair = corro_pair<io::unix_stream>;

/// A connection of the task's context with itself, without Nagle's algorithm.
[[nodiscard]] io::task<tcp_pair> connect_tcp();

/// Such connections, over TCP or a Unix socket. Runs the context.
template <class Stream>
[[nodiscard]] std::deque<corro_pair<Stream>> connected_pairs(io::context& on, int count);
template <>
std::deque<tcp_pair> connected_pairs<io::tcp_stream>(io::context& on, int count);
template <>
std::deque<unix_pair> connected_pairs<io::unix_stream>(io::context& on, int count);

/// Sends back what arrives, until the client ends.
io::task<> echo(io::stream_socket* with, std::size_t bytes_max);

}  // namespace corro::lab
