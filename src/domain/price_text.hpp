// SPDX-License-Identifier: Apache-2.0
// Prices with the decimals of their instrument: 4810.00 beside 4800.25.
//
// Threads: any. Cost: allocates nothing.
#pragma once

#include <cstddef>

#include "domain/decimal.hpp"
#include "domain/instrument.hpp"
#include "domain/types.hpp"

namespace corro::domain {

/// Digits behind the point that every price of the instrument can be written with: 2 for a tick size of 0.25.
[[nodiscard]] std::size_t price_decimals(const instrument& i) noexcept;

/// The price with these decimals. @pre `ticks` is a price (not asserted).
[[nodiscard]] decimal_text price_text(const instrument& i, price_ticks ticks) noexcept;

}  // namespace corro::domain
