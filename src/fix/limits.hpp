// SPDX-License-Identifier: Apache-2.0
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

/// The longest XML of a data dictionary. FIX50SP2.xml has one megabyte.
inline constexpr std::size_t dictionary_bytes_max = 16U * 1024 * 1024;

/// Fields of a dictionary: the standard has some 6,000 with all extension packs.
inline constexpr std::size_t dictionary_fields_max = 16'000;

/// Message types and groups of a dictionary, header and trailer included.
inline constexpr std::size_t dictionary_rows_max = 16'000;

/// Fields times rows: two bytes each.
inline constexpr std::size_t dictionary_entries_max = 16U * 1024 * 1024;

/// Members that messages and groups have after their components were put in place: FIX 5.0 SP2 has some 50,000. It
/// bounds the time that a hostile dictionary takes, in which components name each other many times.
inline constexpr std::size_t dictionary_steps_max = 2'000'000;

/// Components and groups of a dictionary within each other.
inline constexpr std::size_t dictionary_depth_max = 32;

/// Repeating groups within each other: the standard has four.
inline constexpr std::size_t group_depth_max = 8;

/// Tags below are found with one load.
inline constexpr std::uint32_t dictionary_dense_tags = 32'768;

/// The first tag that users define.
inline constexpr std::uint32_t user_tag_min = 5'000;

/// Fields of one message that are remembered although they are not sound: without a value, or without a number.
inline constexpr std::size_t bad_fields_max = 16;

static_assert(dictionary_fields_max < 0x3fff, "a member's place has 14 bits");
static_assert(dictionary_rows_max < 0xffff, "a row's number has 16 bits");
static_assert(message_bytes_max_default <= message_bytes_max);

}  // namespace corro::fix
