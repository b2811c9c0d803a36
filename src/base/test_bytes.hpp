// SPDX-License-Identifier: Apache-2.0
// Bytes as text, and text as bytes. For tests only.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace corro::base {

/// The bytes of a text, which must outlive them.
[[nodiscard]] inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// A text with these bytes.
[[nodiscard]] inline std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace corro::base
