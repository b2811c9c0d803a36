// SPDX-License-Identifier: Apache-2.0
// Frames: where a FIX message begins and ends in a stream of bytes.
//
// Layout:  8=FIX..|9=length|body|10=checksum|, where | is SOH (0x01). The length counts the bytes of the body. The
//          checksum is the sum of all bytes in front of its own field, modulo 256, in three digits.
// Threads: any; pure functions.
// Cost:    no allocation, one pass over the bytes of a frame.
// Source:  FIX session layer, sections "Message framing" and "Garbled messages".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fix/limits.hpp"

namespace corro::fix {

/// The character behind each field.
inline constexpr char soh = '\x01';

/// What is at the front of some bytes.
enum class frame_state : std::uint8_t {
    incomplete,  ///< more bytes are needed
    complete,
    garbled,  ///< no message, or a damaged one: the session layer ignores it
};

/// Why bytes are garbled.
enum class frame_fault : std::uint8_t {
    none,
    no_begin_string,  ///< the bytes do not begin with 8=FIX
    no_body_length,   ///< the second field is not 9, or not a number
    too_long,         ///< the length exceeds the receiver's bound
    wrong_length,     ///< no checksum field begins where the length says
    wrong_checksum,   ///< the sum differs
    no_message_type,  ///< the third field is not 35
};

/// In words, for logs: "wrong checksum".
[[nodiscard]] std::string_view to_string(frame_fault fault) noexcept;

/// What `next_frame` finds.
struct frame_result {
    frame_state state = frame_state::incomplete;  ///< decides what the other members mean
    frame_fault fault = frame_fault::none;        ///< garbled: why
    std::size_t bytes = 0;                        ///< complete: of the frame; garbled: to be skipped; otherwise 0
    std::size_t body_begin = 0;                   ///< complete: the offset of field 35
    std::size_t body_end = 0;  ///< the same behind the SOH of the body's last field; of a wrong length, as it says
};

/// Looks for a frame at the front of `received`. Behind garbled bytes, the next look begins at the next "8=FIX", or at
/// a beginning of that at the end of the bytes.
///
/// @param bytes_max  A longer frame is garbled. At most message_bytes_max.
[[nodiscard]] frame_result next_frame(std::string_view received, std::size_t bytes_max) noexcept;

/// Where QuickFIX goes on behind a message of a wrong length: behind the next CheckSum field that begins at the place
/// that the length says, or later. It loses the message in which that field stands.
///
/// @param garbled  What `next_frame` returned for these bytes, with the fault wrong_length.
/// @return         The bytes to be skipped; 0 if more are needed.
[[nodiscard]] std::size_t next_frame_of_quickfix(std::string_view received, const frame_result& garbled) noexcept;

/// The sum of all bytes, modulo 256.
[[nodiscard]] std::uint8_t sum_of(std::string_view bytes) noexcept;

}  // namespace corro::fix
