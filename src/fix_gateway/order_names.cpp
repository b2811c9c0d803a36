// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/order_names.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include "domain/long_name.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix_gateway {
namespace {

constexpr std::uint64_t texts_begin = std::uint64_t{1} << 63U;
constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.:/#+*=@!~,;$";
constexpr std::uint64_t base = alphabet.size() + 1;
static_assert(base == 78);

/// Places in the alphabet plus 1; 0 for other characters.
constexpr std::array<std::uint8_t, 256> digit_values = [] {
    std::array<std::uint8_t, 256> values{};
    for (std::size_t i = 0; i < alphabet.size(); ++i) {
        values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i + 1);
    }
    return values;
}();

constexpr std::uint64_t texts_count = [] {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < order_name_characters_max; ++i) count *= base;
    return count;
}();
static_assert(texts_count < texts_begin && order_names_end == texts_begin + texts_count);

}  // namespace

std::optional<domain::client_order_id> order_name(std::string_view text) noexcept {
    const bool is_number =
        !text.empty() && text.front() != '0' && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) {
        const auto value = fix::unsigned_value(text);
        if (value && *value < texts_begin) return domain::client_order_id{*value};
    }
    const auto value = text_value(text, order_name_characters_max);
    if (value) return domain::client_order_id{texts_begin + *value};
    const domain::client_order_id name = domain::long_name(text);
    return name.value != 0 ? std::optional(name) : std::nullopt;
}

std::optional<std::uint64_t> text_value(std::string_view text, std::size_t characters_max) noexcept {
    if (text.empty() || text.size() > characters_max) return std::nullopt;
    std::uint64_t value = 0;
    for (const char c : text) {
        const std::uint64_t digit = digit_values[static_cast<unsigned char>(c)];
        if (digit == 0) return std::nullopt;
        value = value * base + digit;
    }
    return value;
}

order_name_text text_of_value(std::uint64_t value) noexcept {
    order_name_text text;
    std::uint64_t left = value;
    while (left != 0 && left % base != 0 && text.size != order_name_characters_max) {
        text.characters[text.size++] = alphabet[static_cast<std::size_t>(left % base) - 1];
        left /= base;
    }
    if (left != 0) return {};
    std::reverse(text.characters.begin(), text.characters.begin() + static_cast<std::ptrdiff_t>(text.size));
    return text;
}

order_name_text text_of(domain::client_order_id name) noexcept {
    if (name.value >= texts_begin && name.value < order_names_end) {
        const order_name_text text = text_of_value(name.value - texts_begin);
        if (text.size != 0) return text;
    }
    order_name_text text;
    char* const begin = text.characters.data();
    const auto written = std::to_chars(begin, begin + text.characters.size(), name.value);
    text.size = static_cast<std::size_t>(written.ptr - begin);
    return text;
}

}  // namespace corro::fix_gateway
