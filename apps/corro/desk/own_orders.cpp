// SPDX-License-Identifier: Apache-2.0
#include "apps/corro/desk/own_orders.hpp"

#include <algorithm>
#include <cstdlib>

namespace corro::app::desk {

using domain::event_kind;

void own_position::add(std::int64_t bought, domain::price_ticks price) noexcept {
    const auto at = static_cast<double>(price.value);
    traded += static_cast<std::uint64_t>(std::abs(bought));
    const bool opens = lots == 0 || (lots > 0) == (bought > 0);
    if (opens) {
        const auto held = static_cast<double>(std::abs(lots));
        const auto added = static_cast<double>(std::abs(bought));
        average = (average * held + at * added) / (held + added);
    } else {
        const std::int64_t closed = std::min(std::abs(lots), std::abs(bought));
        realised += static_cast<double>(lots > 0 ? closed : -closed) * (at - average);
        if (std::abs(bought) > std::abs(lots)) average = at;  // the rest opens the other way
    }
    lots += bought;
    if (lots == 0) average = 0;
}

own_order& own_orders::known(domain::client_order_id number, const domain::event& event) {
    own_order& o = orders_[number];
    o.number = number;
    o.instrument = event.instrument;
    o.side = event.side;
    return o;
}

void own_orders::on_sent(const domain::command& entered) {
    own_order& o = orders_[entered.client_order];
    o.number = entered.client_order;
    o.instrument = entered.instrument;
    const domain::order_terms& terms = entered.order_terms();
    const bool is_market = terms.type == domain::order_type::market || terms.type == domain::order_type::stop;
    o.side = terms.side;
    o.price = is_market ? domain::no_price : entered.enter_order().price;
    o.quantity = entered.enter_order().quantity.value;
    const bool waits = terms.type == domain::order_type::stop || terms.type == domain::order_type::stop_limit ||
                       terms.type == domain::order_type::market_if_touched;
    if (waits) o.trigger = entered.enter_order().trigger_price;
    o.shown = entered.enter_order().display_quantity.value;
}

void own_orders::on_event(const domain::event& event) {
    switch (event.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_status: {
            own_order& o = known(event.order.client_order, event);
            o.order = event.order.order;
            o.state = order_state::open;
            o.price = event.order.price;
            o.quantity = o.filled + event.order.quantity.value;
            if (event.reason == domain::reject_reason::triggered) o.trigger = domain::no_price;
            break;
        }
        case event_kind::order_cancelled: {
            own_order& o = known(event.order.client_order, event);
            o.order = event.order.order;
            o.state = order_state::cancelled;
            o.reason = event.reason;
            break;
        }
        case event_kind::order_rejected: {
            const auto found = orders_.find(event.order.client_order);
            // A rejected change does not change its order.
            if (found == orders_.end() || found->second.state != order_state::sent) break;
            found->second.state = order_state::refused;
            found->second.reason = event.reason;
            break;
        }
        case event_kind::order_executed: {
            own_order& o = known(event.execution.client_order, event);
            const std::uint64_t lots = event.execution.quantity.value;
            o.order = event.execution.order;
            o.filled += lots;
            o.state = event.execution.leaves.value == 0 ? order_state::filled : order_state::open;
            o.quantity = o.filled + event.execution.leaves.value;
            fills_.push_front({o.number, event.instrument, event.side, event.execution.price, lots, event.time});
            if (fills_.size() > fills_max) fills_.pop_back();
            own_position& p = positions_[event.instrument];
            const auto bought = static_cast<std::int64_t>(lots) * (event.side == domain::side::buy ? 1 : -1);
            p.add(bought, event.execution.price);
            o.trigger = domain::no_price;
            break;
        }
        default: break;  // trade records and quote messages add nothing about orders
    }
}

void own_orders::on_refused(domain::client_order_id number, domain::reject_reason reason) {
    const auto found = orders_.find(number);
    if (found == orders_.end() || found->second.state != order_state::sent) return;
    found->second.state = order_state::refused;
    found->second.reason = reason;
}

const own_order* own_orders::find(domain::client_order_id number) const noexcept {
    const auto found = orders_.find(number);
    return found == orders_.end() ? nullptr : &found->second;
}

std::size_t own_orders::open_count() const noexcept {
    std::size_t count = 0;
    for (const auto& [number, order] : orders_) count += order.is_alive() ? 1U : 0U;
    return count;
}

}  // namespace corro::app::desk
