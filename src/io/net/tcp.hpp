// SPDX-License-Identifier: Apache-2.0
// TCP: a connected stream, and the acceptor that listens for connections.
//
// Threads: one context; a stream and an acceptor belong to the context that they were opened on.
// Cost:    a stream is one pointer, its descriptor one recycled block. Reads and writes take no frame and no
// allocation.
#pragma once

#include <expected>
#include <system_error>

#include "io/net/endpoint.hpp"
#include "io/net/socket.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// A TCP connection.
class tcp_stream : public stream_socket {
 public:
    /// A closed stream.
    tcp_stream() noexcept = default;

    /// Connects to `peer`. Never connects a socket to itself, which the system can do when it chooses the
    /// destination's port as the source port.
    ///
    /// @error   connection_refused, also in that case; other errors of the system; operation_canceled on stop.
    /// @suspend Until the connection is established or has failed; resumes on `on`, which must be the task's own
    ///         context.
    /// @cancel  Observes the task's stop token; the half-made connection is closed.
    [[nodiscard]] static task<std::expected<tcp_stream, std::error_code>> connect(context& on, endpoint peer) {
        return connect_on(&on, peer);
    }

    /// Takes over a connected, non-blocking file, such as one that another context's stream returned from `detach`. On
    /// success the stream owns it.
    [[nodiscard]] static std::expected<tcp_stream, std::error_code> adopt(context& on, int file) noexcept;

    [[nodiscard]] std::expected<endpoint, std::error_code> local_endpoint() const noexcept;
    [[nodiscard]] std::expected<endpoint, std::error_code> remote_endpoint() const noexcept;

 private:
    friend class tcp_acceptor;
    explicit tcp_stream(descriptor& owned) noexcept : stream_socket(owned) {}
    static task<std::expected<tcp_stream, std::error_code>> connect_on(context* on, endpoint peer);
};

/// Options of an acceptor.
struct listen_options {
    listen_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Connections that may wait to be accepted; the system may have a lower limit of its own.
    int backlog = 4096;
    /// Bind even if connections of an earlier listener linger.
    bool reuse_address = true;
    /// Let several acceptors share the port; the kernel spreads connections over them.
    bool reuse_port = false;
    /// For an IPv6 endpoint: refuse IPv4 peers.
    bool ipv6_only = true;
};

/// Listens for TCP connections.
class tcp_acceptor : public socket_base {
 public:
    /// A closed acceptor.
    tcp_acceptor() noexcept = default;

    /// Listens at `local`; port 0 lets the system choose (see `local_endpoint`). Never throws.
    /// @error address_in_use, permission_denied and other errors of the system.
    [[nodiscard]] static std::expected<tcp_acceptor, std::error_code> open(context& on, endpoint local,
                                                                           listen_options options = {}) noexcept;

    /// Takes the next connection. When descriptors have run out, it waits until one is free.
    ///
    /// @error   operation_canceled on stop and on `close`.
    /// @suspend Until a connection arrives; resumes on the acceptor's context.
    /// @overlap One accept at a time (asserted).
    /// @cancel  Observes the task's stop token; no connection is lost.
    [[nodiscard]] task<std::expected<tcp_stream, std::error_code>> accept();

    [[nodiscard]] std::expected<endpoint, std::error_code> local_endpoint() const noexcept;

 private:
    explicit tcp_acceptor(descriptor& owned) noexcept : socket_base(owned) {}
};

}  // namespace corro::io
