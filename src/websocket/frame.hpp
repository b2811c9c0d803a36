// SPDX-License-Identifier: Apache-2.0
// Frames: their headers, and the mask over a client's payload.
//
// Layout:  RFC 6455 section 5.2: FIN, three reserved bits, opcode; mask bit, length in 7, 16 or 64 bits; key; payload.
// Threads: any; pure functions.
// Cost:    no allocation; masking takes eight bytes at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "websocket/errors.hpp"

namespace corro::websocket {

enum class opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

[[nodiscard]] constexpr bool is_control(opcode code) noexcept {
    return static_cast<std::uint8_t>(code) >= 8;
}

/// The own end of the connection. A client masks its frames and refuses masked ones; a server the reverse.
enum class role : std::uint8_t { client, server };

inline constexpr std::size_t frame_header_bytes_max = 14;
inline constexpr std::size_t control_payload_bytes_max = 125;

struct frame_header {
    frame_header() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    bool final = true;
    bool compressed = false;  // RSV1
    bool masked = false;
    opcode code = opcode::binary;
    std::array<std::byte, 4> key{};
    std::uint64_t payload_bytes = 0;
    std::size_t header_bytes = 0;  // 0: more bytes are needed
};

/// Reads the header at the front of `bytes`, as strictly as possible for a single frame.
///
/// @param self         The own end.
/// @param may_deflate  Whether RSV1 is allowed.
/// @return             `header_bytes` is 0 if the header is incomplete.
/// @error              reserved_bits, reserved_opcode, wrong_masking, wrong_length, bad_control_frame.
[[nodiscard]] std::expected<frame_header, errc> decode_frame_header(std::span<const std::byte> bytes, role self,
                                                                    bool may_deflate) noexcept;

/// Writes a header to the front of `into`. @return Its size.
std::size_t encode_frame_header(const frame_header& header, std::span<std::byte, frame_header_bytes_max> into) noexcept;

/// Applies the mask to a part of a payload, in place.
/// @param offset  The offset of the part in its payload.
void apply_mask(std::span<std::byte> part, std::array<std::byte, 4> key, std::uint64_t offset) noexcept;

}  // namespace corro::websocket
