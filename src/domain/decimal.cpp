// SPDX-License-Identifier: Apache-2.0
#include "domain/decimal.hpp"

#include <algorithm>

namespace corro::domain {
namespace {

constexpr std::size_t decimals_max = 9;
constexpr std::uint64_t nano_per_unit = 1'000'000'000;

[[nodiscard]] bool is_digit(char c) noexcept {
    return c >= '0' && c <= '9';
}

}  // namespace

decimal_text format_decimal(std::int64_t nano, std::size_t decimals_min) noexcept {
    decimal_text text;
    const auto put = [&text](char c) { text.characters[text.size++] = c; };
    const std::uint64_t magnitude = nano < 0 ? 0 - static_cast<std::uint64_t>(nano) : static_cast<std::uint64_t>(nano);
    if (nano < 0) put('-');
    std::array<char, 20> digits{};
    std::size_t count = 0;
    for (std::uint64_t left = magnitude / nano_per_unit; left != 0 || count == 0; left /= 10) {
        digits[count++] = static_cast<char>('0' + left % 10);
    }
    while (count != 0) put(digits[--count]);
    std::array<char, decimals_max> fraction{};
    std::uint64_t left = magnitude % nano_per_unit;
    for (std::size_t i = decimals_max; i-- > 0; left /= 10) fraction[i] = static_cast<char>('0' + left % 10);
    std::size_t decimals = decimals_max;
    while (decimals > std::min(decimals_min, decimals_max) && fraction[decimals - 1] == '0') --decimals;
    if (decimals == 0) return text;
    put('.');
    for (std::size_t i = 0; i < decimals; ++i) put(fraction[i]);
    return text;
}

parsed_decimal parse_decimal(std::string_view text) noexcept {
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::string_view whole = text.substr(0, point);
    const std::string_view fraction = point < text.size() ? text.substr(point + 1) : std::string_view{};
    if (whole.empty() || (point < text.size() && fraction.empty()) ||
        !std::all_of(whole.begin(), whole.end(), is_digit) ||
        !std::all_of(fraction.begin(), fraction.end(), is_digit)) {
        return {.nano = 0, .problem = "expected a decimal such as \"0.25\""};
    }
    if (fraction.size() > decimals_max) return {.nano = 0, .problem = "expected at most nine decimals"};
    std::uint64_t magnitude = 0;
    const auto append = [&magnitude](char digit) {
        const auto value = static_cast<std::uint64_t>(digit - '0');
        if (magnitude > (INT64_MAX - value) / 10) return false;
        magnitude = magnitude * 10 + value;
        return true;
    };
    bool fits =
        std::all_of(whole.begin(), whole.end(), append) && std::all_of(fraction.begin(), fraction.end(), append);
    for (std::size_t i = fraction.size(); fits && i < decimals_max; ++i) fits = append('0');
    if (!fits) return {.nano = 0, .problem = "expected a decimal below 9223372036"};
    const auto nano = static_cast<std::int64_t>(magnitude);
    return {.nano = is_negative ? -nano : nano, .problem = {}};
}

}  // namespace corro::domain
