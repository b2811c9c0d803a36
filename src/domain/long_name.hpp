// SPDX-License-Identifier: Apache-2.0
// Client order ids that stand for a text that is too long, or too unusual, to be one itself, such as a UUID.
//
// The id is a hash of the text, in the upper part of the 64-bit numbers, so that a text has the same id in every
// gateway, partition and run. What the text is, a `name_order` command records before the first request with it. Two
// texts with one id are possible and practically never met; ids are of an account, so that only its own sessions could
// make them meet.
//
// Threads: any; pure functions. Cost: no allocation.
// Source:  docs/decisions/0015-fix-numbers.md.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "domain/types.hpp"

namespace corro::domain {

struct command;
struct name_part;

/// As many as fit a command.
inline constexpr std::size_t long_name_characters_max = 63;
/// As many as fit an event.
inline constexpr std::size_t name_part_characters = 22;
inline constexpr std::size_t name_parts_max =
    (long_name_characters_max + name_part_characters - 1) / name_part_characters;  ///< of one text

/// 2^64 - 2^59: this and the numbers behind it stand for texts, all but the last one.
inline constexpr std::uint64_t long_names_begin = 0xF800'0000'0000'0000U;
[[nodiscard]] constexpr bool is_long_name(client_order_id name) noexcept {
    return name.value >= long_names_begin && name.value != UINT64_MAX;
}  ///< Whether the id stands for a text.

/// The id of a text of 1 to long_name_characters_max printable characters of ASCII; 0 for others. It is the same for
/// ever: orders of a journal are found by it.
[[nodiscard]] client_order_id long_name(std::string_view text) noexcept;

/// A text, held by value.
struct long_name_text {
    std::array<char, long_name_characters_max> characters{};  ///< those behind `size` are zero
    std::uint8_t size = 0;                                    ///< of the text

    [[nodiscard]] constexpr std::string_view view() const noexcept { return {characters.data(), size}; }
};

/// The command that says what `long_name(text)` stands for. Session, account and instrument are left to the caller.
/// @pre `long_name(text)` is not 0 (asserted).
[[nodiscard]] command name_order_of(std::string_view text) noexcept;
/// The text of such a command. A length beyond the bound counts as the bound.
[[nodiscard]] long_name_text long_name_of(const command& c) noexcept;

/// A part of a text, without an id. @pre `part` is below name_parts_count (asserted).
[[nodiscard]] name_part name_part_of(std::string_view text, std::size_t part) noexcept;
/// How many events a text has; one for an empty one.
[[nodiscard]] constexpr std::size_t name_parts_count(std::size_t characters) noexcept {
    return std::max<std::size_t>(1, (characters + name_part_characters - 1) / name_part_characters);
}

}  // namespace corro::domain
