// SPDX-License-Identifier: Apache-2.0
// SoupBinTCP framing: a sequenced stream of messages from a server to a client over one TCP connection.
//
// Layout, all packets (big-endian):
//
//   offset  size  meaning
//        0     2  length of what follows: 1 for the type, plus the payload
//        2     1  type, an ASCII character
//        3     n  payload
//
//   type  from    payload
//   '+'   both    debug: free text, to be ignored
//   'L'   client  login request: username 6, password 10, requested session 10, requested sequence number 20
//   'U'   both    unsequenced data: one message (from the server since version 4.00)
//   'R'   client  heartbeat: nothing
//   'O'   client  logout request: nothing
//   'A'   server  login accepted: session 10, sequence number 20 of the next sequenced message
//   'J'   server  login rejected: reason 1
//   'S'   server  sequenced data: one message; its sequence number is implied by counting
//   'H'   server  heartbeat: nothing
//   'Z'   server  end of session: nothing
//
// Text is ASCII. Username and password are left-aligned and padded with spaces, session and sequence numbers are
// right-aligned; the decoder accepts spaces on either side. A blank session asks for the current one. A requested
// sequence number of 1 asks for the session from its beginning; 0 asks to start with the most recently generated
// message; the server sends its number in the login accepted packet.
//
// Limits: the format allows payloads up to 65,534 bytes; a receiver passes its own, smaller limit.
// Threads: pure functions. Cost: no allocation, no copy; the decoder returns views into the caller's bytes.
// Source: Nasdaq, SoupBinTCP versions 3.00 and 4.00.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>

namespace corro::wire::soup_bin_tcp {

/// Each side sends a heartbeat when it has sent nothing else for this long.
inline constexpr std::uint32_t heartbeat_interval_ms = 1'000;
/// A link is dead when nothing has arrived for this long.
inline constexpr std::uint32_t silence_max_ms = 15'000;

inline constexpr std::size_t header_bytes = 3;
/// The largest payload that the length field can express.
inline constexpr std::size_t payload_bytes_max = 0xFFFF - 1;
inline constexpr std::size_t username_bytes = 6;
inline constexpr std::size_t password_bytes = 10;
inline constexpr std::size_t session_bytes = 10;
inline constexpr std::size_t sequence_bytes = 20;
/// Whole packets of fixed size, header included.
inline constexpr std::size_t login_request_bytes =
    header_bytes + username_bytes + password_bytes + session_bytes + sequence_bytes;
inline constexpr std::size_t login_accepted_bytes = header_bytes + session_bytes + sequence_bytes;
inline constexpr std::size_t login_rejected_bytes = header_bytes + 1;

enum class packet_type : char {
    debug = '+',
    login_request = 'L',
    unsequenced_data = 'U',
    client_heartbeat = 'R',
    logout_request = 'O',
    login_accepted = 'A',
    login_rejected = 'J',
    sequenced_data = 'S',
    server_heartbeat = 'H',
    end_of_session = 'Z',
};

enum class reject_code : char { not_authorised = 'A', session_not_available = 'S' };

/// The side that sent the bytes: each has its own packet types.
enum class sender : std::uint8_t { client, server };

/// A whole packet at the front of a buffer.
struct packet {
    packet_type type{};
    /// A view into the decoded bytes, without the header.
    std::span<const std::byte> payload;
    /// Bytes to drop from the front of the buffer: header and payload.
    std::size_t size = 0;
};

/// The text of a login request, without padding. Decoded, its views point into the packet.
struct login_request {
    std::string_view username;
    std::string_view password;
    /// Empty: the session that is running now.
    std::string_view requested_session;
    /// 1: from the beginning; 0: with the newest message; otherwise the first number wanted.
    std::uint64_t requested_sequence = 0;
};

struct login_accepted {
    std::string_view session;
    /// The number of the next sequenced message.
    std::uint64_t next_sequence = 0;
};

/// Finds one packet from `from` at the front of `bytes`.
///
/// @param payload_limit_bytes  The largest payload that the caller's buffer can hold; at most payload_bytes_max counts.
/// @return  The packet, or nothing when more bytes are needed (at most header_bytes + payload_limit_bytes in all).
/// @error   malformed_length (zero, or not the one that the type has), too_large, unknown_type; each is reported as
///          soon as the header is complete. The connection cannot continue.
[[nodiscard]] std::expected<std::optional<packet>, std::error_code> decode(
    std::span<const std::byte> bytes, sender from, std::size_t payload_limit_bytes = payload_bytes_max) noexcept;

/// Reads the payload of an 'L' packet.
/// @error malformed_length, malformed_field (not printable, or spaces inside), out_of_range (sequence over 64 bits).
[[nodiscard]] std::expected<login_request, std::error_code> decode_login_request(
    std::span<const std::byte> payload) noexcept;

/// Reads the payload of an 'A' packet. Errors as decode_login_request.
[[nodiscard]] std::expected<login_accepted, std::error_code> decode_login_accepted(
    std::span<const std::byte> payload) noexcept;

/// Reads the payload of a 'J' packet.
/// @error malformed_length, malformed_field (a reason that is not in the specification).
[[nodiscard]] std::expected<reject_code, std::error_code> decode_login_rejected(
    std::span<const std::byte> payload) noexcept;

/// Writes a login request to the front of `into`.
/// @return  Bytes written: login_request_bytes.
/// @error   malformed_field (text too long for its field, not printable ASCII, or with spaces), buffer_too_small.
[[nodiscard]] std::expected<std::size_t, std::error_code> encode(const login_request& request,
                                                                 std::span<std::byte> into) noexcept;

/// Writes a login accepted packet: login_accepted_bytes. Errors as for the request.
[[nodiscard]] std::expected<std::size_t, std::error_code> encode(const login_accepted& accepted,
                                                                 std::span<std::byte> into) noexcept;

/// Writes a login rejected packet: login_rejected_bytes.
/// @error buffer_too_small.
[[nodiscard]] std::expected<std::size_t, std::error_code> encode(reject_code code, std::span<std::byte> into) noexcept;

/// Writes a packet of any type around `payload`: header_bytes + payload.size() bytes. `payload` must not overlap
/// `into`. The payload of a fixed-size type must have that size.
/// @error malformed_length, too_large (beyond payload_bytes_max), unknown_type, buffer_too_small.
[[nodiscard]] std::expected<std::size_t, std::error_code> encode(packet_type type, std::span<const std::byte> payload,
                                                                 std::span<std::byte> into) noexcept;

/// The header alone, for senders that gather header and message from two places. `payload_size` is at most
/// payload_bytes_max (asserted).
[[nodiscard]] std::array<std::byte, header_bytes> header(packet_type type, std::size_t payload_size) noexcept;

/// Whether two credentials are the same: upper and lower case do not matter, and the time taken reveals only the
/// lengths.
[[nodiscard]] bool same_credential(std::string_view one, std::string_view other) noexcept;

}  // namespace corro::wire::soup_bin_tcp
