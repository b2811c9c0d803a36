// SPDX-License-Identifier: Apache-2.0
// Versions of FIX whose requests or answers differ at this venue.
//
// Threads: any; pure functions.
// Source:  docs/spec/fix.md.
#pragma once

#include <cstdint>
#include <string_view>

namespace corro::fix_gateway {

enum class fix_version : std::uint8_t { v4_2, v4_4, v5_0, v5_0_sp };

/// Of a session with this BeginString (8) and DefaultApplVerID (1137).
[[nodiscard]] constexpr fix_version version_of(std::string_view begin_string,
                                               std::string_view default_appl_ver_id) noexcept {
    if (begin_string == "FIX.4.2") return fix_version::v4_2;
    if (begin_string == "FIX.4.4") return fix_version::v4_4;
    return default_appl_ver_id == "8" || default_appl_ver_id == "9" ? fix_version::v5_0_sp : fix_version::v5_0;
}

}  // namespace corro::fix_gateway
