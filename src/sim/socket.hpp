// SPDX-License-Identifier: Apache-2.0
// A socket of a simulated process: what the kernel of its host knows of it.
//
// Statuses are errno numbers.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "io/loop/backend.hpp"
#include "sim/byte_queue.hpp"

namespace corro::sim {

class backend;
class connection;

/// Datagrams that a socket holds; further ones are lost, as in a kernel.
inline constexpr std::size_t datagrams_max = 4'096;

[[nodiscard]] constexpr bool is_stream(io::transport kind) noexcept {
    return kind == io::transport::tcp_ipv4 || kind == io::transport::tcp_ipv6 || kind == io::transport::unix_stream;
}
[[nodiscard]] constexpr bool is_internet(io::transport kind) noexcept {
    return kind != io::transport::unix_stream && kind != io::transport::unix_datagram;
}

struct stored_datagram {
    std::vector<std::byte> data;
    io::socket_address from;
};

/// Owned by its backend; a connection that nobody has accepted yet, by its acceptor.
struct socket final : io::descriptor {
    socket(io::context& on, backend& at, io::transport what) noexcept : descriptor(on), home(&at), kind(what) {}
    ~socket() = default;
    socket(const socket&) = delete;
    socket& operator=(const socket&) = delete;

    [[nodiscard]] bool has_option(io::socket_option option) const {
        const auto found = options.find(option);
        return found != options.end() && found->second != 0;
    }
    /// Returns the error that waits to be reported, once.
    [[nodiscard]] int take_error() noexcept { return std::exchange(error, 0); }

    backend* home;
    io::transport kind;
    std::uint64_t number = 0;  ///< of the sockets of its world, in the order in which they were made
    io::socket_address local;
    io::socket_address remote;
    std::map<io::socket_option, int> options;

    bool is_bound = false;
    bool is_connected = false;
    bool is_listening = false;
    bool has_news = false;  ///< in its backend's queue of events
    int error = 0;          ///< to be reported by the next call

    // Of a stream.
    std::shared_ptr<connection> stream;  ///< null when not connecting or connected
    std::size_t end = 0;                 ///< of the connection: 0 for the one that asked for it
    bool peer_has_ended = false;         ///< no more bytes come behind `inbox`
    bool send_is_over = false;           ///< the sending direction was ended
    bool is_broken = false;              ///< reset, timed out, or its process has ended
    byte_queue inbox;

    // Of an acceptor.
    std::size_t backlog = 0;
    std::deque<std::unique_ptr<socket>> arrived;  ///< connections to be accepted

    // Of a datagram socket.
    socket* pair = nullptr;  ///< the other one of a pair
    std::deque<stored_datagram> datagrams;
    std::set<io::endpoint> groups;

    io::operation* reader = nullptr;
    io::operation* writer = nullptr;
};

}  // namespace corro::sim
