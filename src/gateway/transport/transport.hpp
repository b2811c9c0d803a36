// Transports: the stream under an order-entry session.
//
// Sessions see one type. The kernel's own streams, TCP and Unix sockets, are read and written directly, without a
// coroutine frame and without a virtual call. Streams over them (TLS, WebSocket, a test's memory) go through
// io::any_stream.
//
// Threads: one context, the stream's.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>

#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/result.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

enum class transport_kind : std::uint8_t { tcp, unix_socket, tls, websocket, secure_websocket };

/// A connected stream of any kind.
class transport_stream {
 public:
    explicit transport_stream(io::tcp_stream s) noexcept : held_(std::move(s)) {}
    explicit transport_stream(io::unix_stream s) noexcept : held_(std::move(s)) {}
    // Deduced, so that overload resolution does not ask whether this type makes an any_stream, which depends on this.
    template <std::same_as<io::any_stream> Layered>
    explicit transport_stream(Layered s) noexcept : held_(std::move(s)) {}

    /// The kernel's stream beneath when there is nothing between; otherwise nullptr, and `layered()` is there.
    [[nodiscard]] io::stream_socket* socket() noexcept {
        if (auto* const tcp = std::get_if<io::tcp_stream>(&held_)) return tcp;
        return std::get_if<io::unix_stream>(&held_);
    }
    /// @pre `socket()` is nullptr.
    [[nodiscard]] io::any_stream& layered() noexcept { return *std::get_if<io::any_stream>(&held_); }

 private:
    std::variant<io::tcp_stream, io::unix_stream, io::any_stream> held_;
};

}  // namespace corro::gateway
