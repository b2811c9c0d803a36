// SPDX-License-Identifier: Apache-2.0
// What the versions of FIX have of market data.
//
// Source: FIX 4.2, 4.4, 5.0 to 5.0 SP2, volumes 3 and 6.
#pragma once

#include <cstdint>
#include <string_view>

namespace corro::fix_market_data {

enum class fix_version : std::uint8_t { v4_2, v4_4, v5_0 };

[[nodiscard]] constexpr bool is_known_version(std::string_view begin_string) noexcept {
    return begin_string == "FIX.4.2" || begin_string == "FIX.4.4" || begin_string == "FIXT.1.1";
}

[[nodiscard]] constexpr fix_version version_of(std::string_view begin_string) noexcept {
    if (begin_string == "FIX.4.2") return fix_version::v4_2;
    return begin_string == "FIX.4.4" ? fix_version::v4_4 : fix_version::v5_0;
}

/// RptSeq (83) and MDPriceLevel (1023) in entries, MDEntryID (278) in W, QuoteCondition (276) K for implied prices.
[[nodiscard]] constexpr bool is_since_5_0(fix_version v) noexcept {
    return v == fix_version::v5_0;
}

}  // namespace corro::fix_market_data
