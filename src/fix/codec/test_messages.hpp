// SPDX-License-Identifier: Apache-2.0
// Test support: messages in words. '|' stands for SOH.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "fix/codec/frame.hpp"

namespace corro::fix::testing {

[[nodiscard]] inline std::string with_soh(std::string_view text) {
    std::string bytes(text);
    for (char& c : bytes) {
        if (c == '|') c = soh;
    }
    return bytes;
}

[[nodiscard]] inline std::string in_words(std::string_view bytes) {
    std::string text(bytes);
    for (char& c : text) {
        if (c == soh) c = '|';
    }
    return text;
}

/// The frame around a body like "35=0|34=1|".
[[nodiscard]] inline std::string framed(std::string_view body, std::string_view begin_string = "FIX.4.4") {
    std::string frame =
        with_soh("8=" + std::string(begin_string) + "|9=" + std::to_string(body.size()) + "|") + with_soh(body);
    unsigned sum = 0;
    for (const char c : frame) sum += static_cast<unsigned char>(c);
    std::array<char, 8> trailer{};
    static_cast<void>(std::snprintf(trailer.data(), trailer.size(), "10=%03u", sum % 256));
    return frame + trailer.data() + soh;
}

}  // namespace corro::fix::testing
