// SPDX-License-Identifier: Apache-2.0
// A WebSocket as a stream of bytes: the contents of its binary messages, one behind the other.
//
// The boundaries of messages have no meaning. One write sends one message. A text message is refused. Satisfies
// io::stream.
//
// Threads: one context. Cost: a copy of what is received; see websocket/connection.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "io/result.hpp"
#include "io/task/task.hpp"
#include "websocket/connection.hpp"

namespace corro::websocket {

/// A stream over an open WebSocket.
class byte_stream {
 public:
    /// @param message_bytes_max  The longest message to send, at least 1; a longer write is divided.
    explicit byte_stream(std::unique_ptr<connection> peer, std::size_t message_bytes_max = SIZE_MAX) noexcept
        : peer_(std::move(peer)), message_bytes_max_(message_bytes_max) {}

    [[nodiscard]] bool is_open() const noexcept { return peer_ != nullptr && peer_->is_open(); }

    /// Reads what is there, at least one byte; end_of_stream once the peer has closed. @cancel No byte is lost.
    [[nodiscard]] io::task<io::io_result> read_some(std::span<std::byte> into);
    /// Sends the first bytes of `from`, as many as one message may have, as one message.
    [[nodiscard]] io::task<io::io_result> write_some(std::span<const std::byte> from);
    /// Sends a close frame and waits, within a limit, for the peer's.
    [[nodiscard]] io::task<std::error_code> shutdown();
    /// Closes the stream beneath at once; operations in progress end with operation_canceled.
    void close() noexcept {
        if (peer_ != nullptr) peer_->abort();
    }

 private:
    std::unique_ptr<connection> peer_;
    std::span<const std::byte> rest_;  ///< of the message received last
    std::size_t message_bytes_max_;
};

}  // namespace corro::websocket
