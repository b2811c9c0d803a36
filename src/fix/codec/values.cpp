// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/values.hpp"

#include <chrono>
#include <limits>

#include "base/assert.hpp"
#include "base/int128.hpp"
#include "fix/codec/powers_of_ten.hpp"

namespace corro::fix {
namespace {

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
constexpr std::size_t date_bytes = 8;

/// Two digits as a number below `end`; nothing otherwise.
std::optional<int> two_digits(std::string_view text, std::size_t at, int end) noexcept {
    if (!is_digit(text[at]) || !is_digit(text[at + 1])) return std::nullopt;
    const int value = (text[at] - '0') * 10 + (text[at + 1] - '0');
    return value < end ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> unsigned_value(std::string_view text) noexcept {
    if (text.empty()) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        if (!is_digit(c)) return std::nullopt;
        const auto digit = static_cast<std::uint64_t>(c - '0');
        if (value > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) return std::nullopt;
        value = value * 10 + digit;
    }
    return value;
}

std::optional<std::int64_t> signed_value(std::string_view text) noexcept {
    const bool is_negative = text.starts_with('-');
    const auto magnitude = unsigned_value(is_negative ? text.substr(1) : text);
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (!magnitude || *magnitude > most + (is_negative ? 1 : 0)) return std::nullopt;
    return static_cast<std::int64_t>(is_negative ? ~*magnitude + 1 : *magnitude);
}

std::optional<bool> boolean_value(std::string_view text) noexcept {
    if (text == "Y") return true;
    if (text == "N") return false;
    return std::nullopt;
}

std::optional<decimal> decimal_value(std::string_view text) noexcept {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    decimal result;
    bool has_digit = false;
    bool is_behind_point = false;
    for (const char c : text) {
        if (c == '.' && !is_behind_point) {
            is_behind_point = true;
            continue;
        }
        if (!is_digit(c)) return std::nullopt;
        has_digit = true;
        if (is_behind_point && result.digits == decimal_digits_max) {
            if (c != '0') return std::nullopt;
            continue;
        }
        const int digit = c - '0';
        if (result.mantissa > (std::numeric_limits<std::int64_t>::max() - digit) / 10) return std::nullopt;
        result.mantissa = result.mantissa * 10 + digit;
        if (is_behind_point) ++result.digits;
    }
    if (!has_digit) return std::nullopt;
    if (is_negative) result.mantissa = -result.mantissa;
    return result;
}

std::optional<std::int64_t> steps_of(decimal value, decimal step) noexcept {
    CORRO_ASSERT(step.mantissa > 0 && step.digits <= decimal_digits_max && value.digits <= decimal_digits_max);
    base::int128 number = value.mantissa;
    base::int128 divisor = step.mantissa;
    if (value.digits < step.digits) {
        number *= powers_of_ten[static_cast<std::size_t>(step.digits - value.digits)];
    } else {
        divisor *= powers_of_ten[static_cast<std::size_t>(value.digits - step.digits)];
    }
    if (number % divisor != 0) return std::nullopt;
    const base::int128 steps = number / divisor;
    if (steps > std::numeric_limits<std::int64_t>::max() || steps < std::numeric_limits<std::int64_t>::min()) {
        return std::nullopt;
    }
    return static_cast<std::int64_t>(steps);
}

decimal shortened(decimal value) noexcept {
    // Prices in billionths have many zeros: four at a time at first.
    while (value.digits >= 4 && value.mantissa % 10'000 == 0) {
        value.mantissa /= 10'000;
        value.digits = static_cast<std::uint8_t>(value.digits - 4);
    }
    while (value.digits != 0 && value.mantissa % 10 == 0) {
        value.mantissa /= 10;
        --value.digits;
    }
    return value;
}

std::optional<std::int32_t> date_value(std::string_view text) noexcept {
    if (text.size() != date_bytes) return std::nullopt;
    const auto century = two_digits(text, 0, 100);
    const auto year = two_digits(text, 2, 100);
    const auto month = two_digits(text, 4, 13);
    const auto day = two_digits(text, 6, 32);
    if (!century || !year || !month || !day) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(*century * 100 + *year),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return static_cast<std::int32_t>(std::chrono::sys_days(date).time_since_epoch().count());
}

std::optional<std::int64_t> time_of_day_value(std::string_view text) noexcept {
    constexpr std::size_t seconds_end = 8;  // HH:MM:SS
    if (text.size() < seconds_end || text[2] != ':' || text[5] != ':') return std::nullopt;
    const auto hours = two_digits(text, 0, 24);
    const auto minutes = two_digits(text, 3, 60);
    const auto seconds = two_digits(text, 6, 61);
    if (!hours || !minutes || !seconds) return std::nullopt;
    std::int64_t fraction = 0;
    if (text.size() != seconds_end) {
        constexpr std::size_t digits_max = 9;
        const std::size_t digits = text.size() - seconds_end - 1;
        if (text[seconds_end] != '.' || digits == 0 || digits > digits_max) return std::nullopt;
        for (const char c : text.substr(seconds_end + 1)) {
            if (!is_digit(c)) return std::nullopt;
            fraction = fraction * 10 + (c - '0');
        }
        fraction *= static_cast<std::int64_t>(powers_of_ten[digits_max - digits]);
    }
    // There is no time of day for a leap second.
    if (*seconds == 60) fraction = 0;
    return ((*hours * 60 + *minutes) * std::int64_t{60} + *seconds) * nanoseconds_per_second + fraction;
}

std::optional<std::int64_t> timestamp_value(std::string_view text) noexcept {
    if (text.size() <= date_bytes || text[date_bytes] != '-') return std::nullopt;
    const auto day = date_value(text.substr(0, date_bytes));
    const auto time = time_of_day_value(text.substr(date_bytes + 1));
    constexpr std::int64_t seconds_per_day = 86'400;
    constexpr std::int64_t days_max =
        std::numeric_limits<std::int64_t>::max() / nanoseconds_per_second / seconds_per_day;
    if (!day || !time || *day < 0 || *day >= days_max) return std::nullopt;
    return *day * seconds_per_day * nanoseconds_per_second + *time;
}

}  // namespace corro::fix
