// Statistics of an instrument's trades.
//
// Units: ticks and lots; turnover is their product.
// Threads: none of its own.
#pragma once

#include <cstdint>
#include <limits>

#include "base/archive.hpp"
#include "domain/event.hpp"
#include "domain/types.hpp"

namespace corro::facility {

/// The statistics of one instrument.
struct tape_summary {
    domain::price_summary prices{domain::no_price, domain::no_price, domain::no_price, domain::no_price, {}};
    std::uint64_t volume = 0;
    std::int64_t turnover = 0;
    std::uint64_t leg_volume = 0;  ///< lots that strategies traded in it

    void transfer(base::archive& a) noexcept { a.value(prices, volume, turnover, leg_volume); }
};
static_assert(sizeof(tape_summary) == 64, "`transfer` knows every member; then correct the size here");

/// Adds a trade to the tape and returns the result from registers: reading the tape right after writing it would wait
/// for the stores, because compilers read two of its fields at once.
[[gnu::always_inline]] inline void add_trade(tape_summary& tape, domain::price_ticks price, std::uint32_t lots,
                                             domain::price_summary& prices, domain::volume_summary& volumes) noexcept {
    const bool is_first = tape.volume == 0;
    const domain::price_ticks high = is_first || price > tape.prices.high ? price : tape.prices.high;
    const domain::price_ticks low = is_first || price < tape.prices.low ? price : tape.prices.low;
    const domain::price_ticks open = is_first ? price : tape.prices.open;
    prices = {price, high, low, open, {}};
    const std::int64_t turnover = price.value * static_cast<std::int64_t>(lots);
    std::int64_t sum = 0;
    if (__builtin_add_overflow(tape.turnover, turnover, &sum)) {
        sum = turnover > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
    }
    volumes.volume = domain::volume_lots{tape.volume + tape.leg_volume + lots};
    volumes.turnover = sum;
    tape.prices.last = price;
    tape.prices.high = high;
    tape.prices.low = low;
    tape.prices.open = open;
    tape.volume += lots;
    tape.turnover = sum;
}

}  // namespace corro::facility
