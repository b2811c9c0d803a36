// SPDX-License-Identifier: Apache-2.0
#include "api/order_label.hpp"

#include <array>
#include <charconv>
#include <span>
#include <system_error>

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace corro::api {
namespace {

constexpr std::string_view alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_.:/#+*=@!~,;$ ";
constexpr std::uint64_t base_number = alphabet.size() + 1;  // no digit is zero, so that no label begins another
constexpr std::size_t exact_characters_max = 6;
constexpr std::uint64_t hash_mark = std::uint64_t{1} << 38U;
constexpr std::uint64_t made_here = std::uint64_t{1} << 62U;

constexpr std::uint64_t power(std::uint64_t base, std::size_t exponent) {
    return exponent == 0 ? 1 : base * power(base, exponent - 1);
}
static_assert(power(base_number, exact_characters_max) <= hash_mark, "every short label is below the hashes");

/// The times in force that fit, in the order of their two bits.
constexpr std::array lasting{domain::time_in_force::gtc, domain::time_in_force::day, domain::time_in_force::ioc,
                             domain::time_in_force::fok};

}  // namespace

std::uint64_t label_value(std::string_view label) noexcept {
    std::uint64_t value = 0;
    bool is_exact = label.size() <= exact_characters_max;
    for (std::size_t k = 0; is_exact && k < label.size(); ++k) {
        const std::size_t digit = alphabet.find(label[k]);
        is_exact = digit != std::string_view::npos;
        value = value * base_number + digit + 1;
    }
    if (is_exact) return value;
    const std::uint64_t hash = base::hash_bytes(std::as_bytes(std::span(label.data(), label.size())));
    return hash_mark | (hash & (hash_mark - 1));
}

std::string label_text(std::uint64_t value) {
    if (value >= hash_mark) return "#" + std::to_string(value - hash_mark);
    std::string text;
    for (; value != 0; value /= base_number) {
        const std::uint64_t digit = value % base_number;
        if (digit == 0) return {};
        text.insert(text.begin(), alphabet[digit - 1]);
    }
    return text;
}

std::optional<std::uint64_t> long_label_value(std::string_view text) noexcept {
    if (!text.starts_with('#')) return std::nullopt;
    text.remove_prefix(1);
    const bool is_as_written = text == "0" || !text.starts_with('0');
    std::uint64_t hash = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash);
    const bool is_number = error == std::errc() && end == text.data() + text.size();
    if (!is_as_written || !is_number || hash >= hash_mark) return std::nullopt;
    return hash_mark | hash;
}

domain::client_order_id id_of(const order_mark& mark) noexcept {
    CORRO_ASSERT(mark.counter != 0 && mark.counter < label_counter_end, "a counter has 20 bits");
    std::uint64_t lasts = 0;
    while (lasts < lasting.size() && lasting[lasts] != mark.lasts) ++lasts;
    CORRO_ASSERT(lasts < lasting.size(), "the time in force must be one of the API's");
    const std::uint64_t of_quote = mark.is_quote ? std::uint64_t{1} << 63U : 0;
    return domain::client_order_id{of_quote | made_here | mark.label << 23U |
                                   std::uint64_t{mark.post_only ? 1U : 0U} << 22U | lasts << 20U | mark.counter};
}

order_mark mark_of(domain::client_order_id id) noexcept {
    order_mark mark;
    if ((id.value & made_here) == 0) return mark;
    mark.is_quote = (id.value >> 63U) != 0;
    mark.label = (id.value & (made_here - 1)) >> 23U;
    mark.post_only = (id.value >> 22U & 1U) != 0;
    mark.lasts = lasting[id.value >> 20U & 3U];
    mark.counter = static_cast<std::uint32_t>(id.value & (label_counter_end - 1));
    return mark;
}

}  // namespace corro::api
