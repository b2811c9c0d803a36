// SPDX-License-Identifier: Apache-2.0
// A fill at an implied price, for the messages about it.
#pragma once

#include <array>
#include <cstdint>

#include "domain/types.hpp"
#include "matching/core_events.hpp"

namespace corro::facility {

/// One fill at an implied price, of three orders: the incoming one, and one resting order in each of the books that
/// implied the price.
struct implied_fill {
    struct party {
        domain::order_id order{};
        std::uint32_t slot = 0;
        std::uint32_t book = 0;
        domain::side side = domain::side::buy;
        domain::price_ticks price{};
        std::uint32_t leaves = 0;
        bool rests = true;           ///< false: an incoming order, which no book has shown
        matching::crossing taken{};  ///< for a resting order: the order and its level after the fill
    };
    std::array<party, 3> parties{};
    std::uint32_t strategy = 0;  ///< the book of one of them
    std::uint32_t quantity = 0;
};

}  // namespace corro::facility
