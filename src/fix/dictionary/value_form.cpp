// SPDX-License-Identifier: Apache-2.0
#include "fix/dictionary/value_form.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "fix/codec/values.hpp"

namespace corro::fix {
namespace {

bool are_digits(std::string_view text) noexcept {
    return std::ranges::all_of(text, is_digit);
}

bool has_form_of_integer(std::string_view text) noexcept {
    if (text[0] == '-') text.remove_prefix(1);
    return !text.empty() && are_digits(text);
}

// Any number of digits: what does not fit in this program's numbers is not the session's concern.
bool is_decimal(std::string_view text) noexcept {
    if (text[0] == '-') text.remove_prefix(1);
    std::size_t digits = 0;
    std::size_t points = 0;
    for (const char c : text) {
        if (is_digit(c)) {
            ++digits;
        } else if (c != '.' || ++points == 2) {
            return false;
        }
    }
    return digits != 0;
}

/// Two digits as a number; 255 if they are none.
unsigned pair_at(const char* text) noexcept {
    const auto tens = static_cast<unsigned char>(text[0] - '0');
    const auto ones = static_cast<unsigned char>(text[1] - '0');
    return tens < 10 && ones < 10 ? tens * 10U + ones : 255U;
}

/// YYYYMMDD. Without the number of days that `date_value` returns.
bool is_date(std::string_view text) noexcept {
    constexpr std::array<std::uint8_t, 13> days{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (text.size() != 8) return false;
    const unsigned century = pair_at(text.data());
    const unsigned year = pair_at(text.data() + 2);
    const unsigned month = pair_at(text.data() + 4);
    const unsigned day = pair_at(text.data() + 6);
    if (century > 99 || year > 99 || month == 0 || month > 12 || day == 0 || day > days[month]) return false;
    const bool is_leap_year = year % 4 == 0 && (year != 0 || century % 4 == 0);
    return month != 2 || day != 29 || is_leap_year;
}

/// HH:MM:SS, and 1 to 9 digits behind a point.
bool is_time(std::string_view text) noexcept {
    constexpr std::size_t seconds_end = 8;
    constexpr std::size_t digits_max = 9;
    if (text.size() < seconds_end || text[2] != ':' || text[5] != ':') return false;
    if (pair_at(text.data()) > 23 || pair_at(text.data() + 3) > 59 || pair_at(text.data() + 6) > 60) return false;
    const std::string_view rest = text.substr(seconds_end);
    return rest.empty() ||
           (rest[0] == '.' && rest.size() >= 2 && rest.size() <= 1 + digits_max && are_digits(rest.substr(1)));
}

bool is_timestamp(std::string_view text) noexcept {
    constexpr std::size_t date_end = 8;
    return text.size() > date_end && text[date_end] == '-' && is_date(text.substr(0, date_end)) &&
           is_time(text.substr(date_end + 1));
}

bool is_month(std::string_view text) noexcept {
    constexpr std::size_t month_end = 6;  // YYYYMM
    if (text.size() < month_end || !are_digits(text.substr(0, month_end))) return false;
    const int month = (text[4] - '0') * 10 + (text[5] - '0');
    if (month < 1 || month > 12) return false;
    const std::string_view rest = text.substr(month_end);
    if (rest.empty()) return true;
    if (rest.size() != 2) return false;
    if (rest[0] == 'w') return rest[1] >= '1' && rest[1] <= '5';
    return is_date(text);
}

bool is_day(std::string_view text) noexcept {
    const auto value = unsigned_value(text);
    return value && *value >= 1 && *value <= 31;
}

}  // namespace

bool has_form(value_kind kind, std::string_view value) noexcept {
    switch (kind) {
        case value_kind::text:
        case value_kind::words: return true;
        case value_kind::character: return value.size() == 1;
        case value_kind::integer: return has_form_of_integer(value);
        case value_kind::decimal: return is_decimal(value);
        case value_kind::boolean: return value == "Y" || value == "N";
        case value_kind::timestamp: return is_timestamp(value);
        case value_kind::time: return is_time(value);
        case value_kind::date: return is_date(value);
        case value_kind::month: return is_month(value);
        case value_kind::day: return is_day(value);
    }
    return true;
}

bool is_listed_value(const dictionary& of, const field_definition& field, std::string_view value) noexcept {
    if (field.kind != value_kind::words) return of.is_listed(field, value);
    while (true) {
        const std::size_t end = value.find(' ');
        if (!of.is_listed(field, value.substr(0, end))) return false;
        if (end == std::string_view::npos) return true;
        value.remove_prefix(end + 1);
    }
}

}  // namespace corro::fix
