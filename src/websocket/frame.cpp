// SPDX-License-Identifier: Apache-2.0
#include "websocket/frame.hpp"

#include <cstring>

namespace corro::websocket {

std::expected<frame_header, errc> decode_frame_header(std::span<const std::byte> bytes, role self,
                                                      bool may_deflate) noexcept {
    frame_header header;
    if (bytes.size() < 2) return header;
    const auto first = std::to_integer<unsigned>(bytes[0]);
    const auto second = std::to_integer<unsigned>(bytes[1]);
    const unsigned code = first & 0x0FU;
    header.final = (first & 0x80U) != 0;
    header.compressed = (first & 0x40U) != 0;
    header.masked = (second & 0x80U) != 0;
    header.code = static_cast<opcode>(code);
    if ((first & 0x30U) != 0) return std::unexpected(errc::reserved_bits);
    if (code > 10 || (code > 2 && code < 8)) return std::unexpected(errc::reserved_opcode);
    // Only the first frame of a message may have the mark of compression.
    const bool may_say_so = may_deflate && (header.code == opcode::text || header.code == opcode::binary);
    if (header.compressed && !may_say_so) return std::unexpected(errc::reserved_bits);
    if (header.masked != (self == role::server)) return std::unexpected(errc::wrong_masking);
    const unsigned short_length = second & 0x7FU;
    if (is_control(header.code) && (!header.final || short_length > control_payload_bytes_max)) {
        return std::unexpected(errc::bad_control_frame);
    }
    const std::size_t length_bytes = short_length == 126 ? 2 : short_length == 127 ? 8 : 0;
    const std::size_t size = 2 + length_bytes + (header.masked ? 4 : 0);
    if (bytes.size() < 2 + length_bytes) return header;
    header.payload_bytes = short_length;
    if (length_bytes != 0) {
        header.payload_bytes = 0;
        for (std::size_t i = 0; i != length_bytes; ++i) {
            header.payload_bytes = header.payload_bytes << 8U | std::to_integer<unsigned>(bytes[2 + i]);
        }
        const std::uint64_t shortest = length_bytes == 2 ? 126 : 0x10000;
        if (header.payload_bytes < shortest || header.payload_bytes >> 63U != 0) {
            return std::unexpected(errc::wrong_length);
        }
    }
    if (bytes.size() < size) return header;
    if (header.masked) std::memcpy(header.key.data(), bytes.data() + 2 + length_bytes, 4);
    header.header_bytes = size;
    return header;
}

std::size_t encode_frame_header(const frame_header& header,
                                std::span<std::byte, frame_header_bytes_max> into) noexcept {
    into[0] = static_cast<std::byte>((header.final ? 0x80U : 0U) | (header.compressed ? 0x40U : 0U) |
                                     static_cast<unsigned>(header.code));
    const unsigned mask_bit = header.masked ? 0x80U : 0U;
    std::size_t at = 2;
    if (header.payload_bytes < 126) {
        into[1] = static_cast<std::byte>(mask_bit | static_cast<unsigned>(header.payload_bytes));
    } else {
        const bool is_short = header.payload_bytes < 0x10000;
        into[1] = static_cast<std::byte>(mask_bit | (is_short ? 126U : 127U));
        for (unsigned shift = is_short ? 16 : 64; shift != 0;) {
            shift -= 8;
            into[at++] = static_cast<std::byte>(header.payload_bytes >> shift);
        }
    }
    if (header.masked) {
        std::memcpy(into.data() + at, header.key.data(), 4);
        at += 4;
    }
    return at;
}

void apply_mask(std::span<std::byte> part, std::array<std::byte, 4> key, std::uint64_t offset) noexcept {
    std::array<std::byte, 8> turned;
    for (std::size_t i = 0; i != 8; ++i) turned[i] = key[(offset + i) % 4];
    std::uint64_t eight_keys = 0;
    std::memcpy(&eight_keys, turned.data(), 8);
    std::byte* at = part.data();
    std::byte* const end = at + part.size();
    for (; end - at >= 8; at += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, at, 8);
        eight ^= eight_keys;
        std::memcpy(at, &eight, 8);
    }
    for (std::size_t i = 0; at != end; ++at, ++i) *at ^= turned[i];
}

}  // namespace corro::websocket
