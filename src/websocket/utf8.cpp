// SPDX-License-Identifier: Apache-2.0
#include "websocket/utf8.hpp"

#include <cstring>

namespace corro::websocket {

bool utf8_validator::take(std::span<const std::byte> bytes) noexcept {
    const auto* at = reinterpret_cast<const unsigned char*>(bytes.data());
    const auto* const end = at + bytes.size();
    while (at != end) {
        if (missing_ == 0) {
            while (end - at >= 8) {
                std::uint64_t eight = 0;
                std::memcpy(&eight, at, 8);
                if ((eight & 0x8080808080808080U) != 0) break;
                at += 8;
            }
            while (at != end && *at < 0x80) ++at;
            if (at == end) return true;
            const unsigned char lead = *at++;
            lowest_ = 0x80;
            highest_ = 0xBF;
            if (lead >= 0xC2 && lead <= 0xDF) {
                missing_ = 1;
            } else if (lead >= 0xE0 && lead <= 0xEF) {
                missing_ = 2;
                if (lead == 0xE0) lowest_ = 0xA0;   // shorter forms exist below
                if (lead == 0xED) highest_ = 0x9F;  // surrogates above
            } else if (lead >= 0xF0 && lead <= 0xF4) {
                missing_ = 3;
                if (lead == 0xF0) lowest_ = 0x90;
                if (lead == 0xF4) highest_ = 0x8F;
            } else {
                return false;
            }
            continue;
        }
        if (*at < lowest_ || *at > highest_) return false;
        lowest_ = 0x80;
        highest_ = 0xBF;
        --missing_;
        ++at;
    }
    return true;
}

}  // namespace corro::websocket
