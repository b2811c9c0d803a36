// SPDX-License-Identifier: Apache-2.0
// Turns the received bytes of a WebSocket connection into messages: frames, fragments, compression, UTF-8, the
// receiving side of RFC 6455.
//
// No coroutine and no system call: a connection fills `room`, reports that by `commit`, and takes events until
// there are none.
//
// Limits:  receive_limits; `held_bytes` is the allocated memory.
// Threads: one.
// Cost:    an uncompressed message in one piece is unmasked and returned in place.
// Source:  RFC 6455 sections 5 and 8.1; RFC 7692.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>

#include "websocket/byte_buffer.hpp"
#include "websocket/deflate.hpp"
#include "websocket/errors.hpp"
#include "websocket/extension.hpp"
#include "websocket/frame.hpp"
#include "websocket/limits.hpp"
#include "websocket/utf8.hpp"

namespace corro::websocket {

class receiver {
 public:
    enum class kind : std::uint8_t { nothing, text, binary, ping, pong, close };

    struct event {
        event() noexcept {}         // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
        kind what = kind::nothing;  // nothing: more bytes are needed
        std::span<const std::byte> payload;
        close_code code = close_code::none_received;  // of a close frame, whose payload is its reason
    };

    receiver(role self, const receive_limits& limits, const std::optional<deflate_parameters>& deflate);

    /// Space for more bytes; never empty.
    [[nodiscard]] std::span<std::byte> room();
    void commit(std::size_t bytes) noexcept;
    /// Adds bytes that were received elsewhere.
    void put(std::span<const std::byte> bytes);

    /// The next event. Its payload is valid until the next call of any function here.
    /// @error  A broken rule; final.
    [[nodiscard]] std::expected<event, errc> next();

    /// Whether there are unprocessed bytes.
    [[nodiscard]] bool has_input() const noexcept { return begin_ != input_.size(); }
    /// Memory allocated for messages and input.
    [[nodiscard]] std::size_t held_bytes() const noexcept { return input_.capacity() + message_.capacity(); }

 private:
    [[nodiscard]] std::span<std::byte> waiting() noexcept { return input_.bytes().subspan(begin_); }
    [[nodiscard]] std::expected<event, errc> take_control(const frame_header& header);
    [[nodiscard]] std::expected<void, errc> begin_data(const frame_header& header);
    [[nodiscard]] std::expected<void, errc> take_part(std::span<std::byte> part);
    [[nodiscard]] std::expected<void, errc> check_text(std::span<const std::byte> part) noexcept;
    [[nodiscard]] std::expected<event, errc> end_message();
    [[nodiscard]] event message_event(std::span<const std::byte> payload) const noexcept;

    receive_limits limits_;
    std::optional<inflater> inflater_;
    byte_buffer input_;
    std::size_t begin_ = 0;  // of the unprocessed input
    byte_buffer message_;
    std::size_t checked_bytes_ = 0;  // of the message, by the UTF-8 validator
    utf8_validator utf8_;
    frame_header frame_;             // the current one
    std::uint64_t frame_bytes_ = 0;  // read bytes of its payload
    std::uint64_t fragments_count_ = 0;
    role self_;
    bool in_frame_ = false;
    bool in_message_ = false;
    bool is_text_ = false;
    bool compressed_ = false;
    bool direct_ = false;     // the last room was part of the message
    bool filled_ = false;     // the last read filled its room
    bool delivered_ = false;  // the message buffer was handed out
    bool ended_ = false;      // a close frame or an error came
};

}  // namespace corro::websocket
