// SPDX-License-Identifier: Apache-2.0
// Values of fields: numbers, decimals, times. Nothing passes through floating point.
//
// Units:   times are nanoseconds since 1970-01-01, UTC.
// Threads: any; pure functions.
// Cost:    no allocation.
// Source:  FIX 5.0 SP2, volume 1, "FIX data types".
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace corro::fix {

/// Whether it is one of 0 to 9.
[[nodiscard]] constexpr bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

/// int without a sign, as sequence numbers and lengths are. Leading zeros are allowed. Nothing for an empty value,
/// other characters, or more than 2^64-1.
[[nodiscard]] std::optional<std::uint64_t> unsigned_value(std::string_view text) noexcept;

/// int: an optional '-' and digits.
[[nodiscard]] std::optional<std::int64_t> signed_value(std::string_view text) noexcept;

/// Boolean: Y or N.
[[nodiscard]] std::optional<bool> boolean_value(std::string_view text) noexcept;

/// A number mantissa * 10^-digits.
struct decimal {
    std::int64_t mantissa = 0;  ///< the number without its point
    std::uint8_t digits = 0;    ///< behind the point, 0 to decimal_digits_max

    friend bool operator==(const decimal&, const decimal&) noexcept = default;
};

/// Of a decimal, behind the point.
inline constexpr std::uint8_t decimal_digits_max = 18;

/// float, Price, Qty and the like: an optional '-', digits, and digits behind an optional point. At least one digit.
/// Trailing zeros behind the point count as digits, so that "1.50" is {150, 2}. Nothing for an exponent, or for a
/// number that does not fit. Zeros behind the 18th digit are ignored.
[[nodiscard]] std::optional<decimal> decimal_value(std::string_view text) noexcept;

/// The number of steps that `value` consists of, as a price of ticks: exact, or nothing. @pre step.mantissa > 0
[[nodiscard]] std::optional<std::int64_t> steps_of(decimal value, decimal step) noexcept;

/// The same number with as few digits as possible.
[[nodiscard]] decimal shortened(decimal value) noexcept;

/// UTCTimestamp: YYYYMMDD-HH:MM:SS, and 1 to 9 digits behind a point. Second 60 is a leap second, and counts as the
/// first nanosecond behind it. Years 1970 to 2261.
[[nodiscard]] std::optional<std::int64_t> timestamp_value(std::string_view text) noexcept;

/// UTCDateOnly and LocalMktDate: YYYYMMDD, in days since 1970-01-01.
[[nodiscard]] std::optional<std::int32_t> date_value(std::string_view text) noexcept;

/// UTCTimeOnly: HH:MM:SS, and 1 to 9 digits behind a point, in nanoseconds since midnight.
[[nodiscard]] std::optional<std::int64_t> time_of_day_value(std::string_view text) noexcept;

}  // namespace corro::fix
