// SPDX-License-Identifier: Apache-2.0
// The venue's numbers: prices in ticks, quantities in lots, and the identifiers that must not mix.
//
// Units: a tick is the instrument's smallest price step, a lot its smallest quantity step; both are defined by the
// instrument (domain/instrument.hpp). Times are nanoseconds since the Unix epoch.
#pragma once

#include <cstdint>
#include <limits>

#include "base/strong.hpp"

namespace corro::domain {
/// Whose orders and positions.
using account_id = base::identifier<struct account_tag, std::uint32_t>;
/// One permitted connection of an account. Stable over reconnects: an order keeps the session that entered it.
using session_id = base::identifier<struct session_tag, std::uint32_t>;
using instrument_id = base::identifier<struct instrument_tag, std::uint32_t>;  ///< From 1.
/// A group of instruments that share a circuit breaker, a partition and mass cancels.
using product_id = base::identifier<struct product_tag, std::uint32_t>;
/// Given by the venue; never used twice within one run. Only the engine interprets its bits.
using order_id = base::identifier<struct order_tag, std::uint64_t>;
/// Given by the client; unique among the open orders of its account.
using client_order_id = base::identifier<struct client_order_tag, std::uint64_t>;
using trade_id = base::identifier<struct trade_tag, std::uint64_t>;  ///< The same for both sides.
/// Position in a sequence, from 1. The field that holds it names the sequence.
using sequence_number = base::identifier<struct sequence_tag, std::uint64_t>;

using price_ticks = base::quantity<struct price_tag, std::int64_t>;    ///< A price.
using quantity_lots = base::quantity<struct lots_tag, std::uint32_t>;  ///< Of one order.
/// Sums of lots: level totals, volumes, turnovers need more bits than one order does.
using volume_lots = base::quantity<struct volume_tag, std::uint64_t>;
/// Nanoseconds since the Unix epoch.
using time_ns = base::quantity<struct time_tag, std::int64_t>;

/// "There is no such price": an empty side of the book.
inline constexpr price_ticks no_price{std::numeric_limits<std::int64_t>::min()};
/// The side of the market.
enum class side : std::uint8_t { buy = 0, sell = 1 };

/// What an instrument allows.
enum class trading_phase : std::uint8_t {
    continuous = 0,
    halted = 1,              ///< orders may be cancelled, nothing else
    pre_open = 2,            ///< orders collect and do not match
    opening_auction = 3,     ///< as pre_open, and the price at which they would match is published
    volatility_auction = 4,  ///< the same, in the middle of the day
    closing_auction = 5,     ///< the same, at its end
    closed = 6,              ///< orders may be cancelled, nothing else
};

/// Whether orders rest without matching, until an uncross.
[[nodiscard]] constexpr bool collects(trading_phase p) noexcept {
    return p >= trading_phase::pre_open && p <= trading_phase::closing_auction;
}

/// The phase after one that ends by itself.
[[nodiscard]] constexpr trading_phase phase_after(trading_phase p) noexcept {
    return p == trading_phase::pre_open          ? trading_phase::opening_auction
           : p == trading_phase::closing_auction ? trading_phase::closed
                                                 : trading_phase::continuous;
}
/// The other side.
[[nodiscard]] constexpr side opposite(side s) noexcept {
    return s == side::buy ? side::sell : side::buy;
}

}  // namespace corro::domain
