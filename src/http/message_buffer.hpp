// SPDX-License-Identifier: Apache-2.0
// Received and unprocessed bytes of an HTTP connection: heads, bodies, and pipelined messages.
//
// No coroutine and no system call: a connection fills `room` and reports that by `commit`. The head of the current
// message stays where it is while its body is read, so that views into it stay valid.
//
// Limits:  message_limits; the buffer grows from `buffer_bytes_initial` to the largest head and `body_window_bytes`.
// Threads: one.
// Cost:    no allocation once the buffer has grown to what the peer sends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string_view>

#include "http/chunked.hpp"
#include "http/head_parser.hpp"

namespace corro::http {

class message_buffer {
 public:
    static constexpr std::size_t buffer_bytes_initial = 4 * 1024;
    /// Space for a body behind its head. Larger reads save system calls, smaller ones save memory per connection.
    static constexpr std::size_t body_window_bytes = 32 * 1024;

    explicit message_buffer(const message_limits& limits);

    /// Space for more bytes, never empty unless the limits are reached. Moves nothing while a body is read.
    [[nodiscard]] std::span<std::byte> room();
    void commit(std::size_t bytes) noexcept;

    /// The number of received bytes that belong to no message yet.
    [[nodiscard]] std::size_t unread_bytes() const noexcept { return end_ - begin_; }
    [[nodiscard]] std::span<const std::byte> unread() const noexcept {
        return std::as_bytes(std::span(bytes_.get() + begin_, unread_bytes()));
    }

    /// Finds a complete head. One empty line before it is skipped (RFC 9112, section 2.2).
    /// @return Its text; empty while more must come.
    [[nodiscard]] std::expected<std::string_view, errc> find_head();

    /// Makes space for the body behind the found head if necessary. The head may move and must then be parsed again.
    /// @return Whether it moved.
    bool make_body_room(const message_head& head);

    /// Begins the body of the found head, which must have been parsed.
    /// @error body_too_large.
    [[nodiscard]] std::expected<void, errc> begin_body(const message_head& head);

    /// The next received piece of the body; empty if more must come or the body has ended.
    /// @return A view into the buffer, until the next `room`.
    [[nodiscard]] std::expected<std::string_view, errc> take_body();

    [[nodiscard]] bool body_ended() const noexcept { return body_ended_; }
    /// A body that ends with the connection ends here.
    void end_of_stream() noexcept;
    /// Whether the end of the connection now would cut a message short.
    [[nodiscard]] bool inside_message() const noexcept;
    [[nodiscard]] std::string_view trailers() const noexcept { return decoder_.trailers(); }

    /// Drops the message. @pre Its body has ended (asserted).
    void end_message() noexcept;

 private:
    void grow(std::size_t capacity);
    void move_to_front() noexcept;

    message_limits limits_;
    std::unique_ptr<char[]> bytes_;
    std::size_t capacity_;
    std::size_t begin_ = 0;  // of the head; behind it while a body is read
    std::size_t end_ = 0;    // of the received bytes
    std::size_t head_bytes_ = 0;
    std::size_t body_at_ = 0;  // the position for the body's bytes when earlier ones are used up
    std::uint64_t remaining_ = 0;
    head_scanner scanner_;
    chunk_decoder decoder_;
    body_kind kind_ = body_kind::none;
    bool in_body_ = false;
    bool body_ended_ = false;
    bool skipped_line_ = false;
};

}  // namespace corro::http
