// SPDX-License-Identifier: Apache-2.0
// The forms of values that most messages have, eight characters at a time. What they do not know goes to `has_form`.
//
// Threads: any; pure functions. Cost: no allocation, no loop for numbers of up to eight characters and for timestamps.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fix/codec/byte_block.hpp"
#include "fix/dictionary/value_form.hpp"

namespace corro::fix {

/// The high bit of each character that is no digit, of eight characters whose '0' was taken away. Above the lowest such
/// character, a digit may have it too.
[[nodiscard]] inline std::uint64_t no_digits(std::uint64_t values) noexcept {
    return ((values + 0x76 * each_byte) | values) & 0x80 * each_byte;
}

/// Eight digits YYYYMMDD, as a date of the calendar.
[[nodiscard]] inline bool is_date_of_eight(std::uint64_t eight) noexcept {
    constexpr std::array<std::uint8_t, 13> days{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const std::uint64_t values = eight ^ '0' * each_byte;
    if (no_digits(values) != 0) return false;
    const std::uint64_t pairs = values * 10 + (values >> 8);
    const auto century = pairs & 0xff;
    const auto year = pairs >> 16 & 0xff;
    const auto month = pairs >> 32 & 0xff;
    const auto day = pairs >> 48 & 0xff;
    if (month - 1 > 11 || day - 1 >= days[month]) return false;
    if (month != 2 || day != 29) return true;
    return year % 4 == 0 && (year != 0 || century % 4 == 0);
}

/// HH:MM:SS.
[[nodiscard]] inline bool is_time_of_eight(std::uint64_t eight) noexcept {
    constexpr std::uint64_t colons = 0x0000'ff00'00ff'0000U;
    const std::uint64_t values = eight ^ 0x3030'3a30'303a'3030U;
    if ((no_digits(values) | (values & colons)) != 0) return false;
    const std::uint64_t pairs = values * 10 + (values >> 8);
    return (pairs & 0xff) <= 23 && (pairs >> 24 & 0xff) <= 59 && (pairs >> 48 & 0xff) <= 60;
}

/// The same as `has_form` for the values of an index.
/// @param value  Not empty. Seven bytes can be read behind the character behind it, as behind each value of a frame.
[[nodiscard]] inline bool has_form_in_message(value_kind kind, std::string_view value) noexcept {
    constexpr std::size_t number_max = 8;
    const char* const text = value.data();
    switch (kind) {
        case value_kind::text:
        case value_kind::words: return true;
        case value_kind::character: return value.size() == 1;
        case value_kind::integer:
        case value_kind::decimal: {
            const std::size_t sign = text[0] == '-' ? 1 : 0;
            const std::size_t size = value.size() - sign;
            if (size - 1 >= number_max) break;
            // Moved to the high end, behind zeros.
            const std::uint64_t values = (load_eight(text + sign) ^ '0' * each_byte) << (64 - 8 * size);
            const std::uint64_t others = no_digits(values);
            if (others == 0) return true;
            if (kind == value_kind::integer || (others & (others - 1)) != 0) return false;
            return size > 1 && (values >> (std::countr_zero(others) - 7) & 0xff) == ('.' ^ '0');
        }
        case value_kind::timestamp: {
            constexpr std::size_t seconds_end = 17;
            if (value.size() < seconds_end) return false;
            if (text[8] != '-' || !is_date_of_eight(load_eight(text)) || !is_time_of_eight(load_eight(text + 9)))
                return false;
            if (value.size() == seconds_end) return true;
            const std::size_t digits = value.size() - seconds_end - 1;
            if (text[seconds_end] != '.' || digits == 0) return false;
            if (digits >= number_max) break;
            const std::uint64_t values = (load_eight(text + seconds_end + 1) ^ '0' * each_byte) << (64 - 8 * digits);
            return no_digits(values) == 0;
        }
        default: break;
    }
    return has_form(kind, value);
}

/// Whether a value has its field's form, and is one of those that the field lists.
[[nodiscard]] inline bool is_sound_value(const dictionary& of, const field_definition& field,
                                         std::string_view value) noexcept {
    if (!has_form_in_message(field.kind, value)) return false;
    if (!field.has_values) return true;
    return value.size() == 1 ? of.is_listed(field, value) : is_listed_value(of, field, value);
}

}  // namespace corro::fix
