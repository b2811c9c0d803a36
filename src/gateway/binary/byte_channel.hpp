// SPDX-License-Identifier: Apache-2.0
// The bytes of one connection in both directions: its stream, what was received and not read yet, what waits to be
// sent.
//
// A connection begins with a little memory of its own, enough for a logon, and gets the buffers of a session later.
//
// Threads: one context. Limits: limits.hpp. Cost: no allocation; one system call per read and per write.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <system_error>

#include "base/byte_queue.hpp"
#include "gateway/limits.hpp"
#include "gateway/transport/transport.hpp"
#include "io/net/socket.hpp"
#include "io/net/stream.hpp"
#include "io/result.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

class byte_channel {
 public:
    explicit byte_channel(transport_stream s) noexcept : stream_(std::move(s)), socket_(stream_.socket()) {}
    byte_channel(const byte_channel&) = delete;
    byte_channel& operator=(const byte_channel&) = delete;

    /// The kernel's own stream; nullptr where something is layered over it, and `layered()` is there.
    [[nodiscard]] io::stream_socket* socket() noexcept { return socket_; }
    [[nodiscard]] io::any_stream& layered() noexcept { return stream_.layered(); }
    /// Closes the stream at once.
    void close() noexcept { stream_.close(); }
    /// Ends the sending side, behind everything that was written.
    [[nodiscard]] io::task<std::error_code> shut_down() { return stream_.shutdown(); }

    /// Takes a session's buffers in place of the first ones. @pre Nothing waits to be sent (asserted).
    /// @param buffers  input_buffer_bytes + `output_bytes`.
    void grow(std::unique_ptr<std::byte[]> buffers, std::size_t output_bytes) noexcept;
    /// The session's buffers, if it has them: nothing is read or sent after that.
    [[nodiscard]] std::unique_ptr<std::byte[]> take_buffers() noexcept { return std::move(memory_); }

    // --- Received ---------------------------------------------------------------------------------------------------

    [[nodiscard]] std::span<const std::byte> received() const noexcept {
        return input_.subspan(input_begin_, input_end_ - input_begin_);
    }
    /// Frees the first bytes that were received. They stay in place until the next `make_room`.
    void consume(std::size_t size) noexcept { input_begin_ += size; }
    void discard_received() noexcept { input_begin_ = input_end_ = prefetched_ = 0; }
    /// Whether the bytes at the beginning were not looked at ahead yet; and that those before `end` were.
    [[nodiscard]] bool is_at_prefetched_end() const noexcept { return input_begin_ >= prefetched_; }
    void set_prefetched(std::size_t size) noexcept { prefetched_ = input_begin_ + size; }

    /// Room behind the bytes that were received; a read fills it and calls `take_in`.
    [[nodiscard]] std::span<std::byte> make_room() noexcept;
    void take_in(std::size_t size) noexcept { input_end_ += size; }
    /// Reads some bytes behind those that wait. @cancel  Observes the task's stop token.
    [[nodiscard]] io::task<io::io_result> fill();

    // --- To be sent -------------------------------------------------------------------------------------------------

    [[nodiscard]] base::byte_queue& output() noexcept { return output_; }
    /// Writes bytes that are not in the output, before it.
    [[nodiscard]] io::task<io::io_result> write_all(std::span<const std::byte> bytes);
    /// Writes as much of the output as is possible without waiting. @return  Bytes. @pre socket() is there.
    std::size_t try_write() noexcept;

 private:
    base::byte_queue output_{std::span<std::byte>(first_output_)};
    std::span<std::byte> input_{first_input_};
    std::size_t input_begin_ = 0;
    std::size_t input_end_ = 0;
    std::size_t prefetched_ = 0;  ///< end of the frames that were looked at ahead
    transport_stream stream_;
    io::stream_socket* socket_;
    std::unique_ptr<std::byte[]> memory_;
    std::array<std::byte, stranger_buffer_bytes> first_input_;   // deliberately not initialised
    std::array<std::byte, stranger_buffer_bytes> first_output_;  // deliberately not initialised
};

}  // namespace corro::gateway
