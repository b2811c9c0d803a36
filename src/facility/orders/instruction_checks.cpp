// SPDX-License-Identifier: Apache-2.0
#include "facility/orders/instruction_checks.hpp"

namespace corro::facility {

using domain::command;
using domain::order_type;
using domain::reject_reason;
using domain::time_in_force;

reject_reason check_combination(const command& c) noexcept {
    const domain::enter_order& o = c.enter_order();
    const domain::order_terms& t = c.order_terms();
    constexpr std::uint8_t flags_known = domain::order_flag::of_price | domain::order_flag::stays;
    const unsigned of_price = o.flags & domain::order_flag::of_price;
    if ((o.flags & ~flags_known) != 0 || of_price == domain::order_flag::reprice) {
        return reject_reason::invalid_combination;
    }
    const bool is_lasting = domain::is_lasting(t.time_in_force);
    if (domain::is_for_auction(t.time_in_force) &&
        (t.type != order_type::limit || (of_price | o.minimum_quantity.value) != 0)) {
        return reject_reason::invalid_combination;
    }
    const bool becomes_market =
        t.type == order_type::market || t.type == order_type::stop || t.type == order_type::market_if_touched;
    if (of_price != 0 && (!is_lasting || t.type != order_type::limit)) return reject_reason::invalid_combination;
    if (o.flags != 0 && !is_lasting) return reject_reason::invalid_combination;
    if (is_waiting(t.type) && !is_lasting) return reject_reason::invalid_combination;
    if (o.display_quantity.value != 0 && (!is_lasting || becomes_market)) return reject_reason::invalid_combination;
    if (o.minimum_quantity.value != 0 &&
        (of_price != 0 || is_waiting(t.type) || t.time_in_force == time_in_force::fok)) {
        return reject_reason::invalid_combination;
    }
    if (t.time_in_force == time_in_force::gtd) {
        if (t.type == order_type::market) return reject_reason::invalid_combination;
        return o.expire_time < c.time ? reject_reason::invalid_expire_time : reject_reason::none;
    }
    return o.expire_time.value != 0 ? reject_reason::invalid_combination : reject_reason::none;
}

}  // namespace corro::facility
