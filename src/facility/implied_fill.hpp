// A fill of an implied price, as the venue tells it.
#pragma once

#include <array>
#include <cstdint>

#include "domain/types.hpp"
#include "matching/core_events.hpp"

namespace corro::facility {

/// One fill of an implied price: three orders, of which the first has come in and the others rested in the books that
/// implied it.
struct implied_fill {
    struct party {
        domain::order_id order{};
        std::uint32_t slot = 0;
        std::uint32_t book = 0;
        domain::side side = domain::side::buy;
        domain::price_ticks price{};
        std::uint32_t leaves = 0;
        bool rests = true;           ///< false: an incoming order, which no book has shown
        matching::crossing taken{};  ///< what rests: its order and level after the fill
    };
    std::array<party, 3> parties{};
    std::uint32_t strategy = 0;  ///< the book of one of them
    std::uint32_t quantity = 0;
};

}  // namespace corro::facility
