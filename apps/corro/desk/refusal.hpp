// SPDX-License-Identifier: Apache-2.0
// Why the venue has refused a request, as a sentence with the number that matters.
//
// Threads: any. Cost: allocates the text.
#pragma once

#include <cstdint>
#include <string>

#include "apps/corro/desk/own_orders.hpp"
#include "domain/instrument.hpp"
#include "domain/reject_reason.hpp"

namespace corro::app::desk {

/// What is known of a refusal. The account's limits themselves are not sent to clients: a refusal by one of them has
/// the numbers that ran into it.
struct refused_request {
    domain::reject_reason reason{};
    const domain::instrument* instrument = nullptr;  ///< of the request; may be null
    const own_order* order = nullptr;                ///< that it named or entered, as the desk knows it; may be null
    domain::price_ticks last = domain::no_price;     ///< the instrument's last price, if it is known
    const own_orders* session = nullptr;             ///< the session's orders and positions; may be null
    std::uint32_t requests_per_second_max = 0;       ///< of the session; 0: not known
};

/// @return  A sentence, and the reason's name in brackets: "the price 7000.00 is above the upper band 6500.00
///          (price_outside_band)".
[[nodiscard]] std::string refusal(const refused_request& what);

}  // namespace corro::app::desk
