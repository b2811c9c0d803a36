// SPDX-License-Identifier: Apache-2.0
// ClOrdID (11) as the venue's 64-bit client order id: the same text gives the same number at every start. And back: of
// short texts without a table.
//
// A number without leading zeros, 1 to 9223372036854775807, is itself. A text of 1 to 10 characters is short: letters,
// digits and -_.:/#+*=@!~,;$ are digits of base 78, behind 2^63. Any other text is long: domain/long_name.hpp.
//
// Threads: any; pure functions. Cost: no allocation.
// Source:  docs/spec/fix_orders.md, "Names of orders".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "domain/types.hpp"

namespace corro::fix_gateway {

inline constexpr std::size_t order_name_characters_max = 10;
/// Behind all names of orders.
inline constexpr std::uint64_t order_names_end = 17'559'147'868'090'975'232U;  // 2^63 + 78^10

/// Nothing if the text is not a name. @see domain::is_long_name
[[nodiscard]] std::optional<domain::client_order_id> order_name(std::string_view text) noexcept;

/// 1 to `characters_max` characters as digits of base 78; nothing for other characters or lengths.
[[nodiscard]] std::optional<std::uint64_t> text_value(std::string_view text, std::size_t characters_max) noexcept;

/// A name as text, held by value.
struct order_name_text {
    std::array<char, 20> characters{};
    std::size_t size = 0;

    [[nodiscard]] std::string_view view() const noexcept { return {characters.data(), size}; }
};

/// The text with this value; empty if no text has it.
[[nodiscard]] order_name_text text_of_value(std::uint64_t value) noexcept;

/// The text of a short name; of a number beyond those, its decimal digits.
[[nodiscard]] order_name_text text_of(domain::client_order_id name) noexcept;

}  // namespace corro::fix_gateway
