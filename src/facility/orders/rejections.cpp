// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/rejections.hpp"

namespace corro::facility {

using domain::command;
using domain::command_kind;
using domain::order_type;
using domain::reject_reason;
using domain::side;

void rejections::refuse(const command& c, reject_reason reason) noexcept {
    positions_.give_back();
    // Of other kinds than enter_order the byte is zero, unless the command makes no sense.
    const side s = c.terms.order.side == side::sell ? side::sell : side::buy;
    domain::price_ticks price = domain::no_price;
    domain::quantity_lots quantity{};
    if (c.kind == command_kind::enter_order) {
        const order_type type = c.order_terms().type;
        if (type == order_type::limit || type == order_type::stop_limit) price = c.enter_order().price;
        quantity = c.enter_order().quantity;
    } else if (c.kind == command_kind::amend_order) {
        price = c.amend_order().price;
        quantity = c.amend_order().quantity;
    }
    writer_.reject(c.instrument, s, reason, {}, price, quantity);
}

void rejections::refuse_amend(const command& c, reject_reason reason, domain::instrument_id instrument, side s,
                              domain::order_id order) noexcept {
    positions_.give_back();
    writer_.reject(instrument, s, reason, order, c.amend_order().price, c.amend_order().quantity);
}

}  // namespace corro::facility
