// SPDX-License-Identifier: Apache-2.0
// The levels up to which the two sides of a book would trade in an auction, kept between computations of the price.
//
// The price of an auction depends on the last levels that would trade on either side and on the lots up to there. A
// curve holds them. Changes of the book are reported with `changed`; engine::find_equilibrium then only moves the ends
// by what has changed. An empty curve is correct too: the computation begins at the best levels.
//
// Units: lots and keys of matching/limits.hpp, lower is better.
// Threads: none of its own.
// Cost: constant time per change.
#pragma once

#include <array>
#include <cstdint>

#include "domain/types.hpp"
#include "matching/core_events.hpp"
#include "matching/limits.hpp"

namespace corro::matching {

struct auction_curve {
    /// One side: all its levels with keys up to `key`.
    struct end {
        std::uint64_t key = 0;  ///< below every key while there are none
        std::uint64_t lots = 0;
        std::uint32_t levels = 0;
    };
    std::array<end, 2> ends{};  ///< by side

    /// Reports that a level has gained or lost lots, displayed or hidden; `level` is its new state.
    ///
    /// @param orders  The orders that it has gained: 1, 0 or -1.
    void changed(const level_state& level, std::int64_t lots, int orders) noexcept {
        end& e = ends[static_cast<std::size_t>(level.side)];
        const std::int64_t price = level.side == domain::side::sell ? level.price.value : -level.price.value;
        if (key_bias + static_cast<std::uint64_t>(price) > e.key) return;
        e.lots += static_cast<std::uint64_t>(lots);
        if (orders > 0 && level.orders_count == 1) ++e.levels;
        if (orders < 0 && level.orders_count == 0) --e.levels;
    }
};

}  // namespace corro::matching
