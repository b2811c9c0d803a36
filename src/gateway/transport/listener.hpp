// SPDX-License-Identifier: Apache-2.0
// Where connections for order entry are accepted.
//
// A listener only accepts. TLS handshakes and WebSocket upgrades run in a task per connection (transport/acceptor.hpp),
// so that no client waits for a slow connection of another one.
//
// Threads: one context.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <system_error>
#include <variant>

#include "gateway/transport/transport.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/net/unix_socket.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/task.hpp"
#include "io/tls/tls_context.hpp"

namespace corro::gateway {

/// A connection as it was accepted, before its transport's own greeting.
using accepted_stream = std::variant<io::tcp_stream, io::unix_stream, io::shm_stream>;

class listener {
 public:
    /// @param tls  The server's certificate; given for the kinds tls and secure_websocket, and for no others
    /// (asserted).
    listener(transport_kind kind, io::tcp_acceptor acceptor, std::optional<io::tls_context> tls = std::nullopt);
    explicit listener(io::unix_acceptor acceptor);
    explicit listener(io::shm_acceptor acceptor);

    [[nodiscard]] transport_kind kind() const noexcept { return kind_; }
    /// nullptr when connections are not encrypted.
    [[nodiscard]] const io::tls_context* tls() const noexcept { return tls_ ? &*tls_ : nullptr; }
    /// Where a TCP listener listens.
    [[nodiscard]] std::optional<io::endpoint> local_endpoint() const noexcept;

    /// Takes the next connection. Otherwise as io::tcp_acceptor::accept.
    [[nodiscard]] io::task<std::expected<accepted_stream, std::error_code>> accept();
    void close() noexcept;

 private:
    transport_kind kind_;
    std::variant<io::tcp_acceptor, io::unix_acceptor, io::shm_acceptor> acceptor_;
    std::optional<io::tls_context> tls_;
};

}  // namespace corro::gateway
