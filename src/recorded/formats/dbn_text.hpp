// SPDX-License-Identifier: Apache-2.0
// Text in DBN: fields of fixed width, padded with NUL.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace corro::recorded::dbn {

/// The text in the `width` bytes from `at` on, up to the first NUL.
[[nodiscard]] inline std::string_view text_at(const std::byte* at, std::size_t width) noexcept {
    const char* const first = reinterpret_cast<const char*>(at);
    const void* const nul = std::memchr(first, '\0', width);
    return {first, nul == nullptr ? width : static_cast<std::size_t>(static_cast<const char*>(nul) - first)};
}

/// Whether the text is printable ASCII.
[[nodiscard]] inline bool printable(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace corro::recorded::dbn
