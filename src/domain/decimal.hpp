// SPDX-License-Identifier: Apache-2.0
// Decimals as text: "0.25" to billionths and back, exactly.
//
// Units: billionths (1e-9), as prices stand in messages. Cost: no allocation.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace corro::domain {

/// The text of a decimal, held by value.
struct decimal_text {
    std::array<char, 24> characters{};
    std::size_t size = 0;

    [[nodiscard]] std::string_view view() const noexcept { return {characters.data(), size}; }
};

/// The shortest decimal that `parse_decimal` reads as `nano`; with `decimals_min` digits behind the point at least.
[[nodiscard]] decimal_text format_decimal(std::int64_t nano, std::size_t decimals_min = 0) noexcept;

/// A decimal that was read, or why it could not be.
struct parsed_decimal {
    std::int64_t nano = 0;
    std::string_view problem;  ///< what was expected, to end an error message; empty when the text was a decimal
};

/// Reads "5998.75", "-3", "0.000000001": digits, at most nine of them behind a point, below 9223372036 in magnitude.
[[nodiscard]] parsed_decimal parse_decimal(std::string_view text) noexcept;

}  // namespace corro::domain
