// SPDX-License-Identifier: Apache-2.0
// One connection of a session to the venue: its stream, what was received and not read yet, what waits to be sent, and
// the heartbeats.
//
// Threads: one context. Cost: no allocation per message; one system call per read and per write of a socket.
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <system_error>
#include <vector>

#include "base/byte_queue.hpp"
#include "io/net/socket.hpp"
#include "io/net/transport_stream.hpp"
#include "io/task/task.hpp"

namespace corro::client {

class venue_connection {
 public:
    venue_connection(io::transport_stream stream, std::size_t input_bytes, std::size_t output_bytes);
    venue_connection(const venue_connection&) = delete;
    venue_connection& operator=(const venue_connection&) = delete;

    /// Continues over another stream. What was received and what waited to be sent is dropped.
    void replace(io::transport_stream stream) noexcept;
    /// Closes the stream at once; operations in progress end with operation_canceled.
    void close() noexcept { stream_.close(); }
    /// Ends the connection in an orderly way: TLS and WebSockets tell the venue so. Then closes the stream.
    [[nodiscard]] io::task<void> close_orderly();

    [[nodiscard]] std::span<const std::byte> received() const noexcept {
        return {input_.data() + input_begin_, input_end_ - input_begin_};
    }
    /// Frees the first bytes that were received. They stay in place until the next `fill`.
    void consume(std::size_t size) noexcept { input_begin_ += size; }
    /// The longest message that can be received.
    [[nodiscard]] std::size_t input_capacity() const noexcept { return input_.size(); }
    /// Reads some more bytes. @error end_of_stream, operation_canceled, connection errors.
    [[nodiscard]] io::task<std::error_code> fill();

    /// What waits to be sent.
    [[nodiscard]] base::byte_queue& output() noexcept { return output_; }
    /// Writes all of the output. Returns at once, without an error, while another flush is in progress: that one sends
    /// these bytes as well.
    [[nodiscard]] io::task<std::error_code> flush();

    /// Sends `heartbeat` whenever nothing else was sent for `interval`. Ends when stopped or when the connection fails.
    /// @param heartbeat  Stays valid until the await returns.
    [[nodiscard]] io::task<void> keep_alive(std::chrono::milliseconds interval, std::span<const std::byte> heartbeat);

 private:
    io::transport_stream stream_;
    io::stream_socket* socket_;  ///< of stream_: nullptr when something is layered over it
    base::byte_queue output_;
    std::vector<std::byte> input_;
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
    bool flushing_ = false;
    bool has_sent_ = false;  ///< since keep_alive last looked
};

}  // namespace corro::client
