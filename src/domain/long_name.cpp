// SPDX-License-Identifier: Apache-2.0
#include "domain/long_name.hpp"

#include <cstring>
#include <span>

#include "base/assert.hpp"
#include "base/hash.hpp"
#include "domain/command.hpp"
#include "domain/event.hpp"

namespace corro::domain {
namespace {

constexpr unsigned hash_shift = 5;
static_assert(long_names_begin == ~(~std::uint64_t{0} >> hash_shift));

bool is_printable(char c) noexcept {
    return c >= ' ' && c <= '~';
}

}  // namespace

client_order_id long_name(std::string_view text) noexcept {
    const bool is_sound =
        !text.empty() && text.size() <= long_name_characters_max && std::ranges::all_of(text, is_printable);
    if (!is_sound) return {};
    const std::uint64_t hash = base::hash_bytes(std::as_bytes(std::span(text)));
    return client_order_id{std::min(long_names_begin | hash >> hash_shift, UINT64_MAX - 1)};
}

command name_order_of(std::string_view text) noexcept {
    const client_order_id id = long_name(text);
    CORRO_ASSERT(id.value != 0);
    std::array<char, long_name_characters_max> whole{};
    std::memcpy(whole.data(), text.data(), text.size());
    command c;
    c.kind = command_kind::name_order;
    c.payload.name_order = {};
    c.client_order = id;
    name_order& into = c.name_order();
    const char* from = whole.data();
    for (const std::span<char> each :
         {std::span<char>(into.text_1), std::span<char>(into.text_2), std::span<char>(into.text_3)}) {
        std::memcpy(each.data(), from, each.size());
        from += each.size();
    }
    into.length = static_cast<std::uint8_t>(text.size());
    return c;
}

long_name_text long_name_of(const command& c) noexcept {
    const name_order& from = c.name_order();
    long_name_text text;
    char* into = text.characters.data();
    for (const std::span<const char> each :
         {std::span<const char>(from.text_1), std::span<const char>(from.text_2), std::span<const char>(from.text_3)}) {
        std::memcpy(into, each.data(), each.size());
        into += each.size();
    }
    text.size = std::min(from.length, static_cast<std::uint8_t>(long_name_characters_max));
    std::fill(text.characters.begin() + text.size, text.characters.end(), '\0');
    return text;
}

name_part name_part_of(std::string_view text, std::size_t part) noexcept {
    CORRO_ASSERT(part < name_parts_count(text.size()) && text.size() <= long_name_characters_max);
    const std::string_view piece = text.substr(part * name_part_characters, name_part_characters);
    name_part said;
    said.length = static_cast<std::uint8_t>(text.size());
    said.part = static_cast<std::uint8_t>(part);
    std::ranges::copy(piece, said.text.begin());
    return said;
}

}  // namespace corro::domain
