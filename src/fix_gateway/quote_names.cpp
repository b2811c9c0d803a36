// SPDX-License-Identifier: Apache-2.0
#include "fix_gateway/quote_names.hpp"

#include <algorithm>

#include "base/assert.hpp"
#include "domain/long_name.hpp"
#include "fix/codec/values.hpp"

namespace corro::fix_gateway {
namespace {

constexpr std::uint64_t quote_texts_begin = 10'000'000'000'000;
constexpr std::uint64_t quote_ids_end = [] {
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < quote_name_characters_max; ++i) count *= 78;
    return quote_texts_begin + count;
}();
constexpr std::uint64_t places = std::uint64_t{quote_place_max} + 1;
static_assert(quote_ids_end < (domain::long_names_begin - order_names_end) / (places * places));

}  // namespace

std::optional<std::uint64_t> quote_id(std::string_view text) noexcept {
    const bool is_number =
        !text.empty() && text.front() != '0' && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    if (is_number) {
        const auto value = fix::unsigned_value(text);
        return value && *value < quote_texts_begin ? value : std::nullopt;
    }
    const auto value = text_value(text, quote_name_characters_max);
    return value ? std::optional(quote_texts_begin + *value) : std::nullopt;
}

order_name_text text_of_quote(std::uint64_t id) noexcept {
    return id < quote_texts_begin ? text_of(domain::client_order_id{id}) : text_of_value(id - quote_texts_begin);
}

domain::client_order_id quote_name(std::uint64_t id, std::uint32_t set, std::uint32_t entry) noexcept {
    CORRO_ASSERT(id < quote_ids_end && set <= quote_place_max && entry <= quote_place_max);
    return domain::client_order_id{order_names_end + (id * places + set) * places + entry};
}

std::optional<quote_name_parts> parts_of(domain::client_order_id name) noexcept {
    if (name.value < order_names_end) return std::nullopt;
    const std::uint64_t place = name.value - order_names_end;
    const quote_name_parts parts{.id = place / (places * places),
                                 .set = static_cast<std::uint32_t>(place / places % places),
                                 .entry = static_cast<std::uint32_t>(place % places)};
    if (parts.id >= quote_ids_end) return std::nullopt;
    if (parts.id == 0) return parts.is(quote_request::protection) ? std::optional(parts) : std::nullopt;
    if (text_of_quote(parts.id).size == 0) return std::nullopt;
    const bool is_sound = parts.is_of_mass_quote() ? parts.entry != 0 : parts.entry < 3;
    return is_sound ? std::optional(parts) : std::nullopt;
}

}  // namespace corro::fix_gateway
