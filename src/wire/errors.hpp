// SPDX-License-Identifier: Apache-2.0
// The errors in received bytes, as one error category for all codecs of this layer.
//
// A code names the kind of fault; codecs of long input report the position as well.
//
// Threads: the category is immutable. Cost: making an error_code allocates nothing; its message() does.
#pragma once

#include <system_error>

namespace corro::wire {
/// What is wrong with the bytes.
enum class wire_errc {
    /// The input ended inside a packet, a record or a line.
    truncated = 1,
    /// A length field contradicts the format, or a field after it would not fit.
    malformed_length,
    /// The length is valid but exceeds what this side buffers.
    too_large,
    /// The message or record type does not exist, or may not be sent by this peer.
    unknown_type,
    /// A field holds a value that its definition does not allow.
    malformed_field,
    /// A number does not fit its field.
    out_of_range,
    /// The input is not of this format at all.
    foreign_format,
    /// The format is known, but not this version of it.
    unsupported_version,
    /// The caller's output buffer cannot hold the result. Nothing was written.
    buffer_too_small,
    /// This side has no definition of the message's instrument.
    unknown_instrument,
};

[[nodiscard]] const std::error_category& wire_category() noexcept;  ///< Of wire_errc.

[[nodiscard]] inline std::error_code make_error_code(wire_errc code) noexcept {  ///< For std::error_code.
    return {static_cast<int>(code), wire_category()};
}

}  // namespace corro::wire

template <>
struct std::is_error_code_enum<corro::wire::wire_errc> : std::true_type {};
