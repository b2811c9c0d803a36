// SPDX-License-Identifier: Apache-2.0
// A request of a replay and its outcome.
//
// Units: ticks, lots.
#pragma once

#include <cstdint>
#include <vector>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::recorded::replay {

/// One request. Orders are named by the client order id under which they were entered.
struct request {
    domain::command_kind kind = domain::command_kind::enter_order;     ///< enter, amend, cancel; change_phase
    domain::side side = domain::side::buy;                             ///< enter
    domain::time_in_force time_in_force = domain::time_in_force::gtc;  ///< enter: gtc or ioc
    domain::client_order_id client_order{};
    domain::price_ticks price{};       ///< enter, amend
    domain::quantity_lots quantity{};  ///< enter: the order's; amend: the new total, counting what has been filled
    domain::trading_phase phase = domain::trading_phase::continuous;  ///< change_phase

    friend bool operator==(const request&, const request&) = default;
};

/// The command that it asks for, without its sender, instrument and numbers.
[[nodiscard]] inline domain::command command_of(const request& r) noexcept {
    domain::command c;
    c.kind = r.kind;
    c.client_order = r.client_order;
    switch (r.kind) {
        case domain::command_kind::enter_order:
            c.order_terms().side = r.side;
            c.order_terms().time_in_force = r.time_in_force;
            c.enter_order().price = r.price;
            c.enter_order().quantity = r.quantity;
            break;
        case domain::command_kind::amend_order:
            c.amend_order().price = r.price;
            c.amend_order().quantity = r.quantity;
            break;
        case domain::command_kind::change_phase: c.change_phase().phase = r.phase; break;
        default: break;
    }
    return c;
}

/// One fill of a resting order, as the venue reported it.
struct fill {
    domain::client_order_id resting{};  ///< 0 where the resting order is not one of the replay's
    domain::price_ticks price{};
    domain::quantity_lots quantity{};
    domain::quantity_lots open{};           ///< the rest of the resting order
    domain::side side = domain::side::buy;  ///< of the resting order

    friend bool operator==(const fill&, const fill&) = default;
};

/// The complete answer to one request.
struct outcome {
    domain::command_kind kind = domain::command_kind::enter_order;
    domain::client_order_id client_order{};
    domain::order_id order{};            ///< the venue's id; 0 when the request was rejected
    domain::sequence_number sequence{};  ///< of the command in the venue's total order
    bool book_changed = false;
    domain::reject_reason refused = domain::reject_reason::none;
    domain::quantity_lots filled{};     ///< by this request, as the aggressor
    domain::quantity_lots open{};       ///< the order's open quantity after the request
    domain::quantity_lots cancelled{};  ///< cancelled by it
    std::vector<fill> fills;            ///< in the order in which the venue reported them; of both sides in an auction
    domain::price_ticks uncross_price{};  ///< of the auction that the request ended, as the feed announced it
    domain::volume_lots uncross_lots{};   ///< likewise
};

}  // namespace corro::recorded::replay
