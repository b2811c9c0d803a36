// SPDX-License-Identifier: Apache-2.0
// MoldUDP64 framing: a sequenced stream of messages in datagrams, and the request for those that were lost.
//
// Layout (big-endian):
//
//   downstream packet                                         request packet
//   offset  size  meaning                                     offset  size  meaning
//        0    10  session, ASCII, spaces on the right              0    10  session
//       10     8  sequence number of the first message            10     8  sequence number of the first message wanted
//       18     2  count of messages                               18     2  count of messages wanted
//       20        message blocks: length 2, message
//
// A count of 0 is a heartbeat: its sequence number is the next one that will be sent. A count of 0xFFFF ends the
// session; the sequence number has the same meaning.
//
// Limits: a packet must fit a datagram; senders stay within packet_bytes_max, which Ethernet does not fragment.
// Threads: pure functions. Cost: no allocation, no copy when decoding; one copy of each message when encoding.
// Source: Nasdaq, MoldUDP64 protocol specification, version 1.00.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <system_error>

namespace corro::wire::mold_udp64 {

inline constexpr std::size_t session_bytes = 10;
inline constexpr std::size_t header_bytes = 20;
inline constexpr std::size_t request_bytes = 20;
inline constexpr std::size_t block_header_bytes = 2;
/// 1,500 bytes of Ethernet less the headers of IPv6 (40) and UDP (8); IPv4 needs less.
inline constexpr std::size_t packet_bytes_max = 1'452;
inline constexpr std::size_t message_bytes_max = packet_bytes_max - header_bytes - block_header_bytes;

inline constexpr std::uint16_t count_heartbeat = 0;
inline constexpr std::uint16_t count_end_of_session = 0xFFFF;
static_assert(packet_bytes_max / block_header_bytes < count_end_of_session,
              "the count of a packet stays below the mark of the end");

/// The name of a session, padded with spaces.
using session_name = std::array<char, session_bytes>;

/// @param text  Printable ASCII without spaces at the end, at most session_bytes.
/// @error       malformed_field.
[[nodiscard]] std::expected<session_name, std::error_code> make_session_name(std::string_view text) noexcept;

/// A sound downstream packet; views into the datagram.
class packet {
 public:
    [[nodiscard]] const session_name& session() const noexcept { return session_; }
    /// The number of the first message that was not taken yet; in a heartbeat or end of session, of the next message.
    [[nodiscard]] std::uint64_t sequence() const noexcept { return sequence_; }
    /// Messages that were not taken yet.
    [[nodiscard]] std::uint16_t messages_count() const noexcept { return is_end_of_session_ ? 0 : count_; }
    [[nodiscard]] bool is_end_of_session() const noexcept { return is_end_of_session_; }

    /// Takes the first message off the packet. Only while there is one (asserted).
    [[nodiscard]] std::span<const std::byte> take_message() noexcept;

 private:
    friend std::expected<packet, std::error_code> decode(std::span<const std::byte> datagram) noexcept;
    session_name session_{};
    std::uint64_t sequence_ = 0;
    std::span<const std::byte> blocks_;
    std::uint16_t count_ = 0;
    bool is_end_of_session_ = false;
};

/// Reads a whole datagram from a server.
///
/// @error truncated (shorter than its header), malformed_length (the blocks do not fill the datagram exactly),
///        malformed_field (session not printable), out_of_range (sequence number 0, or numbers beyond 64 bits).
[[nodiscard]] std::expected<packet, std::error_code> decode(std::span<const std::byte> datagram) noexcept;

struct request {
    session_name session{};
    std::uint64_t sequence = 1;  ///< the first message wanted, from 1
    std::uint16_t count = 1;     ///< above 0
};

/// Reads a whole datagram from a client.
/// @error malformed_length, malformed_field, out_of_range (as `decode`; also a count of 0).
[[nodiscard]] std::expected<request, std::error_code> decode_request(std::span<const std::byte> datagram) noexcept;

void encode(const request& r, std::span<std::byte, request_bytes> into) noexcept;

/// Fills packets one after the other in memory of its own.
class packet_writer {
 public:
    /// @param next_sequence  Of the first message, from 1.
    packet_writer(const session_name& session, std::uint64_t next_sequence) noexcept;

    /// Appends a message to the current packet. False when it does not fit: then send the packet first. A message above
    /// message_bytes_max never fits.
    [[nodiscard]] bool append(std::span<const std::byte> message) noexcept;

    /// Drops the current packet; the next message gets this number.
    void restart(std::uint64_t next_sequence) noexcept {
        next_sequence_ = next_sequence;
        size_ = header_bytes;
        count_ = 0;
    }

    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// The number of the next appended message.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }

    /// The current packet, valid until the next call; a heartbeat when it holds no message. Starts the next packet.
    [[nodiscard]] std::span<const std::byte> finish() noexcept;
    /// The packet that ends the session. The current packet must be empty (asserted).
    [[nodiscard]] std::span<const std::byte> finish_session() noexcept;

 private:
    std::span<const std::byte> close(std::uint16_t count) noexcept;

    std::array<std::byte, packet_bytes_max> bytes_;
    std::size_t size_ = header_bytes;
    std::uint64_t next_sequence_;
    std::uint16_t count_ = 0;
};

}  // namespace corro::wire::mold_udp64
