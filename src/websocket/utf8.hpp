// SPDX-License-Identifier: Apache-2.0
// UTF-8, checked while it arrives: an error at the first byte that cannot be in a valid text.
//
// Threads: any; a value.
// Cost:    eight bytes at a time while the text is ASCII, otherwise two look-ups per byte.
// Source:  RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace corro::websocket {

class utf8_validator {
 public:
    /// Checks the next bytes. @return false if the text is invalid; final.
    [[nodiscard]] bool take(std::span<const std::byte> bytes) noexcept;

    /// Whether the text may end here.
    [[nodiscard]] bool complete() const noexcept { return missing_ == 0; }
    void reset() noexcept { *this = utf8_validator(); }

 private:
    std::uint8_t missing_ = 0;  // continuation bytes that must follow
    std::uint8_t lowest_ = 0x80;
    std::uint8_t highest_ = 0xBF;  // of the next of them
};

}  // namespace corro::websocket
