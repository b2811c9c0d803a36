// SPDX-License-Identifier: Apache-2.0
// Bytes as text in base64 (RFC 4648, section 4), with its padding.
//
// Threads: any. Cost: allocates the text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace corro::http {

/// @return  Four characters for each three bytes; the last four may end with `=`.
[[nodiscard]] inline std::string base64_of(std::string_view bytes) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string made;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view part = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            bits = bits << 8U | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
        }
        for (std::size_t i = 0; i < 4; ++i) {
            made.push_back(i <= part.size() ? digits[bits >> (18U - 6U * i) & 0x3fU] : '=');
        }
    }
    return made;
}

}  // namespace corro::http
