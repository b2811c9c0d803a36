// SPDX-License-Identifier: Apache-2.0
// Where a venue listens, and what a client's connection to it consists of: TCP, TLS, a Unix socket, shared memory, a
// WebSocket.
//
//     client::venue_endpoint venue = *io::endpoint::parse("127.0.0.1:7001");                           // TCP
//     venue = *io::unix_endpoint::parse("/run/corro/orders");
//     venue = client::venue_endpoint::shared_memory(*io::unix_endpoint::parse("/run/corro/orders_shm"));
//     venue = client::venue_endpoint::tls(where, *io::tls_context::client(), "venue.example.com");
//     venue = client::venue_endpoint::websocket(where);
//     auto session = co_await client::order_session::log_on(venue, who);
//
// A client of TLS checks the certificate against the server's name. The context has the issuers that are trusted
// (io::tls_client_options) and the sessions that a reconnection resumes; use one for all connections.
//
// Threads: a value.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <variant>

#include "io/net/endpoint.hpp"
#include "io/net/transport_stream.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/task/task.hpp"
#include "io/tls/tls_context.hpp"

namespace corro::client {

/// The address of a venue, and the transport to it.
class venue_endpoint {
 public:
    /// 0.0.0.0:0
    venue_endpoint() noexcept = default;
    /// TCP.
    venue_endpoint(io::endpoint at) noexcept : at_(at) {}  // NOLINT: implicit
    /// A Unix socket.
    venue_endpoint(io::unix_endpoint at) noexcept : at_(at) {}  // NOLINT: implicit

    /// Shared memory, which the Unix socket at this address hands out.
    [[nodiscard]] static venue_endpoint shared_memory(io::unix_endpoint at);
    /// TLS over TCP.
    ///
    /// @param settings     A client context: trusted issuers, versions (asserted).
    /// @param server_name  The name or numeric address that the venue's certificate must have.
    [[nodiscard]] static venue_endpoint tls(io::endpoint at, io::tls_context settings, std::string server_name);
    /// A WebSocket over TCP. @param target  Path and query of the request that opens it.
    [[nodiscard]] static venue_endpoint websocket(io::endpoint at, std::string target = "/");
    /// A WebSocket over TLS.
    [[nodiscard]] static venue_endpoint secure_websocket(io::endpoint at, io::tls_context settings,
                                                         std::string server_name, std::string target = "/");

    /// Reads "127.0.0.1:7001", "unix:/run/corro/orders", "unix:@name", "shm:/run/corro/orders_shm" and "shm:@name".
    /// @error As io::endpoint::parse and io::unix_endpoint::parse.
    [[nodiscard]] static std::expected<venue_endpoint, std::error_code> parse(std::string_view text);

    /// Connects: TCP, Unix socket or shared memory, then the TLS handshake, then the WebSocket handshake.
    ///
    /// @error   Connection errors; io::tls_errc when the venue is not who it should be; http::errc and
    ///          websocket::errc when it does not open a WebSocket.
    /// @suspend Until the stream is ready. The caller limits the time (io::with_timeout).
    /// @cancel  Ends with operation_canceled; the connection is closed.
    [[nodiscard]] io::task<std::expected<io::transport_stream, std::error_code>> connect() const;

    [[nodiscard]] bool is_encrypted() const noexcept { return tls_.has_value(); }
    /// For messages: "127.0.0.1:7001", "unix:/run/corro/orders", "shm:/run/corro/orders_shm", "tls://127.0.0.1:7004",
    /// "ws://..." and "wss://...".
    [[nodiscard]] std::string to_string() const;

 private:
    std::variant<io::endpoint, io::unix_endpoint> at_;
    std::optional<io::tls_context> tls_;
    std::string server_name_;
    std::optional<std::string> websocket_target_;
    bool is_shared_memory_ = false;
};

}  // namespace corro::client
