// SPDX-License-Identifier: Apache-2.0
// The character classes of HTTP, as one table look-up.
//
// Source: RFC 9110 section 5.6.2 (token), 5.5 (field values); RFC 3986 (targets).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace corro::http::detail {

enum character_class : std::uint8_t {
    in_token = 1,   // names, methods
    in_value = 2,   // field values: visible, space, tab, and everything above ASCII
    in_target = 4,  // the characters of a URI (RFC 3986) except '#'
    in_host = 8,    // a host with its port
};

consteval std::array<std::uint8_t, 256> character_classes() {
    std::array<std::uint8_t, 256> table{};
    const auto add = [&](std::string_view characters, unsigned which) {
        for (const char c : characters) {
            auto& entry = table[static_cast<unsigned char>(c)];
            entry = static_cast<std::uint8_t>(entry | which);
        }
    };
    for (unsigned c = 0; c != 256; ++c) {
        if (c == '\t' || (c >= ' ' && c != 0x7F)) table[c] = in_value;
    }
    constexpr std::string_view letters_digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    add(letters_digits, in_token | in_target | in_host);
    add("!#$%&'*+-.^_`|~", in_token);
    add("-._~:/?[]@!$&'()*+,;=%", in_target);
    add("-._~:[]!$&'()*+,;=%", in_host);
    return table;
}

inline constexpr std::array<std::uint8_t, 256> classes = character_classes();

[[nodiscard]] inline bool is_in(char c, character_class which) noexcept {
    return (classes[static_cast<unsigned char>(c)] & which) != 0;
}

/// Whether all characters of `text` are in the class. True for an empty text.
[[nodiscard]] inline bool all_in(std::string_view text, character_class which) noexcept {
    unsigned common = which;
    for (const char c : text) common &= classes[static_cast<unsigned char>(c)];
    return common != 0;
}

}  // namespace corro::http::detail
