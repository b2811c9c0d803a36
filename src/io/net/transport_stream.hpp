// SPDX-License-Identifier: Apache-2.0
// `transport_stream`: a connected stream whose kind is chosen at run time, without a cost for the kernel's own streams.
//
// TCP, Unix sockets and shared memory are read and written directly, without a coroutine frame and without a virtual
// call. Streams over them (TLS, WebSocket, a test's memory) go through `any_stream`.
//
//     io::io_result read;
//     if (io::stream_socket* const socket = stream.socket()) {
//         read = co_await socket->read_some(into);
//     } else {
//         read = co_await stream.layered().read_some(into);
//     }
//
// Threads: one context, the stream's.
#pragma once

#include <concepts>
#include <system_error>
#include <utility>
#include <variant>

#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// A connected stream of any kind.
class transport_stream {
 public:
    explicit transport_stream(tcp_stream s) noexcept : held_(std::move(s)) {}
    explicit transport_stream(unix_stream s) noexcept : held_(std::move(s)) {}
    explicit transport_stream(shm_stream s) noexcept : held_(std::move(s)) {}
    /// A stream over others. Deduced, so that overload resolution does not ask whether this type makes an any_stream,
    /// which depends on this.
    template <std::same_as<any_stream> Layered>
    explicit transport_stream(Layered s) noexcept : held_(std::move(s)) {}

    /// The stream of a device if there is nothing between; otherwise nullptr, and `layered()` is there.
    [[nodiscard]] stream_socket* socket() noexcept {
        if (auto* const tcp = std::get_if<tcp_stream>(&held_)) return tcp;
        if (auto* const shared = std::get_if<shm_stream>(&held_)) return shared;
        return std::get_if<unix_stream>(&held_);
    }
    /// @pre `socket()` is nullptr.
    [[nodiscard]] any_stream& layered() noexcept { return *std::get_if<any_stream>(&held_); }

    /// Ends the sending side, behind everything that was written. As the `shutdown` of the stream that is held.
    [[nodiscard]] task<std::error_code> shutdown() {
        std::error_code error;
        if (stream_socket* const plain = socket()) {
            error = plain->shutdown_send();
        } else {
            error = co_await layered().shutdown();
        }
        co_return error;
    }
    /// Closes the stream at once; operations in progress end with operation_canceled.
    void close() noexcept {
        if (stream_socket* const plain = socket()) return plain->close();
        layered().close();
    }

 private:
    std::variant<tcp_stream, unix_stream, shm_stream, any_stream> held_;
};

}  // namespace corro::io
