// SPDX-License-Identifier: Apache-2.0
// Price levels of a market, best first.
#pragma once

#include <cstdint>
#include <map>

#include "domain/types.hpp"

namespace corro::api {

/// Price levels of one side, best first: by `rank_of` the price.
using level_map = std::map<std::int64_t, std::uint64_t>;

/// The key of a price in a `level_map`: smaller is better.
[[nodiscard]] constexpr std::int64_t rank_of(domain::side side, domain::price_ticks price) noexcept {
    return side == domain::side::buy ? -price.value : price.value;
}
[[nodiscard]] constexpr domain::price_ticks price_of(domain::side side, std::int64_t rank) noexcept {
    return domain::price_ticks{side == domain::side::buy ? -rank : rank};
}

}  // namespace corro::api
