// Why the venue has refused a request, as a sentence with the number that matters.
//
// Threads: any. Cost: allocates the text.
#pragma once

#include <string>

#include "apps/corro/desk/own_orders.hpp"
#include "domain/instrument.hpp"
#include "domain/reject_reason.hpp"

namespace corro::app::desk {

/// @param i     The instrument of the request; may be null.
/// @param o     The order that the request named or entered, as the desk knows it; may be null.
/// @param last  The instrument's last price; no_price if it is not known.
/// @return      A sentence, and the reason's name in brackets: "the price 7000.00 is above the upper band 6500.00
///              (price_outside_band)".
[[nodiscard]] std::string refusal(domain::reject_reason reason, const domain::instrument* i, const own_order* o,
                                  domain::price_ticks last);

}  // namespace corro::app::desk
