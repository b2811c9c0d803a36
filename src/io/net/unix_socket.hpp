// SPDX-License-Identifier: Apache-2.0
// Unix domain sockets: streams, acceptors, datagrams.
//
// Threads: one context.
// Cost:    as tcp.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <system_error>
#include <utility>

#include "io/net/datagram_socket.hpp"
#include "io/net/socket.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// The effective user id of this process; the other end of a stream reads it as `peer_user`.
[[nodiscard]] std::uint32_t current_user() noexcept;

/// A connection between two processes of one machine.
class unix_stream : public stream_socket {
 public:
    /// A closed stream.
    unix_stream() noexcept = default;

    /// Connects to `peer`. Otherwise as `tcp_stream::connect`; `no_such_file_or_directory` if there is no such path.
    [[nodiscard]] static task<std::expected<unix_stream, std::error_code>> connect(context& on, unix_endpoint peer) {
        return connect_on(&on, peer);
    }
    /// Two streams connected to each other.
    [[nodiscard]] static std::expected<std::pair<unix_stream, unix_stream>, std::error_code> pair(context& on) noexcept;
    /// As `tcp_stream::adopt`.
    [[nodiscard]] static std::expected<unix_stream, std::error_code> adopt(context& on, int file) noexcept;

 private:
    friend class unix_acceptor;
    explicit unix_stream(descriptor& owned) noexcept : stream_socket(owned) {}
    static task<std::expected<unix_stream, std::error_code>> connect_on(context* on, unix_endpoint peer);
};

/// Listens for Unix domain connections.
class unix_acceptor : public socket_base {
 public:
    /// A closed acceptor.
    unix_acceptor() noexcept = default;

    /// Listens at `local`. A path must not exist yet, and is not removed when the acceptor is closed.
    /// @error address_in_use, permission_denied and other errors of the system.
    [[nodiscard]] static std::expected<unix_acceptor, std::error_code> open(context& on, unix_endpoint local,
                                                                            int backlog = 4096) noexcept;

    /// As `tcp_acceptor::accept`.
    [[nodiscard]] task<std::expected<unix_stream, std::error_code>> accept();

 private:
    explicit unix_acceptor(descriptor& owned) noexcept : socket_base(owned) {}
};

/// Datagrams between processes of one machine; none is lost, a full receiver makes the sender wait.
class unix_datagram : public datagram_socket {
 public:
    unix_datagram() noexcept = default;

    /// Opens a socket without a name: it can send but not receive.
    [[nodiscard]] static std::expected<unix_datagram, std::error_code> open(context& on) noexcept;
    /// Opens a socket that receives at `local`. A path must not exist yet, and is not removed later.
    [[nodiscard]] static std::expected<unix_datagram, std::error_code> open(context& on, unix_endpoint local) noexcept;
    /// Two sockets connected to each other.
    [[nodiscard]] static std::expected<std::pair<unix_datagram, unix_datagram>, std::error_code> pair(
        context& on) noexcept;

 private:
    explicit unix_datagram(descriptor& owned) noexcept : datagram_socket(owned) {}
};

}  // namespace corro::io
