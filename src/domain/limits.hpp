// SPDX-License-Identifier: Apache-2.0
// Limits of the domain: what one order, one instrument and one venue may hold.
#pragma once

#include <cstdint>

#include "base/int128.hpp"

namespace corro::domain {

/// Largest quantity of one order. Nine digits are more than any venue's largest order, and the sum of 2^32 such orders
/// still fits 64 bits.
inline constexpr std::uint32_t order_quantity_lots_max = 1'000'000'000;

/// Largest price magnitude in ticks. Leaves two bits of headroom for differences and keeps turnover of one fill
/// (price x quantity) within 63 bits.
inline constexpr std::int64_t price_ticks_max = 4'000'000'000;

/// Instruments in one venue.
inline constexpr std::uint32_t instruments_max = 65'536;

/// Legs of one strategy: four options twice over. A fill causes four messages for each.
inline constexpr std::uint32_t legs_max = 8;

/// Legs of a strategy that is defined while the venue runs: as many as fit the command. A strategy with more legs may
/// be defined without naming them.
inline constexpr std::uint32_t legs_defined_max = 4;

/// Lots of a leg in one lot of its strategy.
inline constexpr std::uint32_t leg_ratio_max = 1'000;

/// Strategies that one instrument may be a leg of: each change of the instrument checks all of them.
inline constexpr std::uint32_t strategies_per_leg_max = 64;

/// Largest price magnitude in a book that takes part in implied matching: the sum of two is still a price.
inline constexpr std::int64_t implied_price_ticks_max = price_ticks_max / 2;

/// Characters of a symbol, and of an account's name.
inline constexpr std::uint32_t symbol_size_max = 24;

/// Open orders in the answer to one query of all orders, and open orders of the account that the query reads. Clients
/// with more orders query again behind the last one, so that the cost of a query is bounded.
/// The same for one query of positions: positions in its answer, and instruments that it reads.
inline constexpr std::uint32_t query_orders_max = 256;
inline constexpr std::uint32_t query_looks_max = 4096;  ///< read for one answer

static_assert(query_orders_max <= query_looks_max, "a page can be full");
static_assert(order_quantity_lots_max < (std::uint64_t{1} << 30), "a quantity leaves two bits free in 32");
static_assert(static_cast<base::int128>(price_ticks_max) * order_quantity_lots_max <
                  (static_cast<base::int128>(1) << 62),
              "the turnover of one fill fits 63 bits");

}  // namespace corro::domain
