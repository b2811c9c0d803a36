// The bounds of the FIX library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace corro::fix {

/// The default bound of one message: far above what a session needs, and small enough to keep one for each connection.
inline constexpr std::size_t message_bytes_max_default = 16U * 1024;

/// The largest bound that a caller may set.
inline constexpr std::size_t message_bytes_max = 16U * 1024 * 1024;

/// Digits of BodyLength: the bound above has eight, and senders may write leading zeros.
inline constexpr std::size_t body_length_digits_max = 9;

/// Characters of BeginString: "FIXT.1.1" has eight.
inline constexpr std::size_t begin_string_bytes_max = 12;

/// The default bound of the fields of one message.
inline constexpr std::size_t fields_max_default = 1'024;

/// The largest tag that is read. The standard ends below 50,000, and users define their own from 5,000 on.
inline constexpr std::uint32_t tag_max = 99'999'999;

/// The largest MsgSeqNum (34): far more than a session ever uses, and no number behind it overflows.
inline constexpr std::uint64_t message_number_max = 1'000'000'000'000'000'000;

static_assert(message_bytes_max_default <= message_bytes_max);

}  // namespace corro::fix
