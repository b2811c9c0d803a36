// SPDX-License-Identifier: Apache-2.0
// Errors of WebSocket connections, and their close codes.
//
// Threads: any.
// Source:  RFC 6455 section 7.4.
#pragma once

#include <cstdint>
#include <system_error>

namespace corro::websocket {

/// The close codes that an endpoint may send or receive.
enum class close_code : std::uint16_t {
    normal = 1000,
    going_away = 1001,
    protocol_error = 1002,
    unsupported_data = 1003,
    none_received = 1005,  // never sent: the close frame had no code
    abnormal = 1006,       // never sent: there was no close frame
    invalid_payload = 1007,
    policy_violation = 1008,
    message_too_big = 1009,
    extension_missing = 1010,
    internal_error = 1011,
    try_again_later = 1013,
};

/// Violations by a peer, and ends of connections.
enum class errc : std::uint8_t {
    closed = 1,         // the connection was closed by its handshake; not a failure
    reserved_bits,      // a reserved bit is set without an extension that defines it
    reserved_opcode,    // an undefined opcode
    wrong_masking,      // a client's frame without a mask, or a server's with one
    wrong_length,       // a length that is not in its shortest form, or beyond 2^63
    bad_control_frame,  // a control frame that is fragmented or longer than 125 bytes
    bad_sequence,       // a continuation of nothing, or a new message inside another
    bad_close,          // a close frame with half a code, or with one that must not be sent
    bad_utf8,           // text that is not UTF-8
    bad_deflate,        // a compressed message that does not inflate
    message_too_big,    // a message beyond the limits, or more fragments than they allow
    bad_handshake,      // a request or a response that does not agree to a WebSocket
    foreign_origin,     // a page of an origin that may not connect
    not_open,           // the connection has failed or is being closed
};

/// The category of `errc`.
[[nodiscard]] const std::error_category& error_category() noexcept;
/// For comparisons and conversions; found by the standard library.
[[nodiscard]] std::error_code make_error_code(errc code) noexcept;

/// The close code for this error.
[[nodiscard]] close_code close_code_of(errc code) noexcept;

/// Whether a close frame may contain this number (RFC 6455, section 7.4).
[[nodiscard]] bool may_be_sent(std::uint16_t code) noexcept;

}  // namespace corro::websocket

template <>
struct std::is_error_code_enum<corro::websocket::errc> : std::true_type {};
