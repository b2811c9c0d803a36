// SPDX-License-Identifier: Apache-2.0
// Prices as people read them.
//
// Threads: any. Cost: allocates the text.
#pragma once

#include <string>

#include "domain/instrument.hpp"
#include "domain/types.hpp"

namespace corro::app {

/// Formats `ticks` as the instrument's decimal price, with as many decimals as its tick size has, so that the decimal
/// points of a column align; "-" for no price.
[[nodiscard]] std::string format_price(const domain::instrument& i, domain::price_ticks ticks);

/// The same for a price between two ticks, such as an average, with two more decimals.
[[nodiscard]] std::string format_average(const domain::instrument& i, double ticks);

/// An amount of money in units of the price: ticks times lots. With a sign.
[[nodiscard]] std::string format_result(const domain::instrument& i, double ticks_lots);

}  // namespace corro::app
