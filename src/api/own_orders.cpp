// SPDX-License-Identifier: Apache-2.0
#include "api/own_orders.hpp"

#include <limits>
#include <utility>

namespace corro::api {

using domain::event_kind;

namespace {

std::uint64_t magnitude(std::int64_t value) noexcept {
    return value < 0 ? std::uint64_t{0} - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

/// Adds price times lots to the sum; a sum that does not fit stays at the limit.
void add_nominal(own_order& one, domain::price_ticks price, std::uint32_t lots) noexcept {
    std::int64_t now = static_cast<std::int64_t>(one.filled_nominal);
    if (one.nominal_is_negative) now = -now;
    std::int64_t product = 0;
    const bool overflows = __builtin_mul_overflow(price.value, static_cast<std::int64_t>(lots), &product) ||
                           __builtin_add_overflow(now, product, &now) ||
                           now == std::numeric_limits<std::int64_t>::min();
    if (overflows) now = std::numeric_limits<std::int64_t>::max();
    one.filled_nominal = magnitude(now);
    one.nominal_is_negative = now < 0;
}

}  // namespace

void own_orders::announce(domain::client_order_id name, domain::price_ticks price, std::uint64_t lots) {
    announced_.insert_or_assign(name.value, terms{price, lots});
}

void own_orders::miss_answers() noexcept {
    misses_answers_ = true;
    open_.clear();
    in_order_.clear();
    by_name_.clear();
    protection_.reset();
}

const own_order* own_orders::find(domain::order_id id) const noexcept {
    if (const auto found = open_.find(id.value); found != open_.end()) return &found->second;
    const auto found = closed_.find(id.value);
    return found == closed_.end() ? nullptr : &found->second;
}

/// The open order that an event is about; a new one at its first event.
own_order& own_orders::known(const domain::event& event, domain::order_id id, domain::client_order_id name) {
    const auto [place, is_new] = open_.try_emplace(id.value);
    own_order& one = place->second;
    one.updated_ns = event.time.value;
    if (!is_new) return one;
    one.id = id;
    one.number = ++orders_count_;
    in_order_.emplace(one.number, id.value);
    one.client_order = name;
    one.instrument = event.instrument;
    one.side = event.side;
    one.created_ns = event.time.value;
    by_name_[name.value] = id.value;
    if (const auto said = announced_.find(name.value); said != announced_.end()) {
        one.price = said->second.price;
        one.total = said->second.lots;
        announced_.erase(said);
    } else {
        one.misses_fills = misses_answers_ && event.kind != event_kind::order_entered;
    }
    return one;
}

own_order& own_orders::close(own_order& one, own_state as, domain::reject_reason why) {
    own_order closed = one;
    closed.state = as;
    closed.reason = why;
    closed.open = 0;
    by_name_.erase(closed.client_order.value);
    in_order_.erase(closed.number);
    open_.erase(closed.id.value);
    if (closed_in_order_.size() == closed_orders_kept) {
        closed_.erase(closed_in_order_.front());
        closed_in_order_.pop_front();
    }
    closed_in_order_.push_back(closed.id.value);
    return closed_.insert_or_assign(closed.id.value, closed).first->second;
}

own_change own_orders::updated(const domain::event& event) {
    own_order& one = known(event, event.order.order, event.order.client_order);
    one.was_replaced = one.was_replaced || event.kind == event_kind::order_amended;
    one.price = event.order.price;
    one.open = event.order.quantity.value;
    one.total = one.filled + one.open;
    own_change change;
    change.order = &one;
    return change;
}

own_change own_orders::cancelled(const domain::event& event) {
    own_order& one = known(event, event.order.order, event.order.client_order);
    if (one.total == 0) one.total = one.filled + event.order.quantity.value;
    if (one.price.value == 0) one.price = event.order.price;
    own_change change;
    change.order = &close(one, own_state::cancelled, event.reason);
    return change;
}

own_change own_orders::executed(const domain::event& event) {
    const domain::execution& fill = event.execution;
    const bool is_new = !open_.contains(fill.order.value);
    own_order& one = known(event, fill.order, fill.client_order);
    // Without the terms of the request: what the fill shows of them.
    if (is_new && one.total == 0) one.price = fill.price;
    one.filled += fill.quantity.value;
    one.open = fill.leaves.value;
    if (one.total < one.filled + one.open) one.total = one.filled + one.open;
    add_nominal(one, fill.price, fill.quantity.value);
    own_change change;
    change.order = fill.leaves.value == 0 ? &close(one, own_state::filled, domain::reject_reason::none) : &one;
    return change;
}

void own_orders::move_position(domain::instrument_id in, domain::side side, std::uint32_t lots) {
    own_position& p = positions_[in.value];
    if (side == domain::side::buy) {
        p.lots += lots;
        p.bought += lots;
    } else {
        p.lots -= lots;
        p.sold += lots;
    }
}

const own_trade& own_orders::keep(own_trade trade) {
    if (trades_.size() == own_trades_kept) trades_.pop_front();
    trades_.push_back(trade);
    return trades_.back();
}

own_change own_orders::captured(const domain::event& event, const domain::instrument& in) {
    const domain::capture& c = event.capture;
    own_change change;
    // A strategy's position is that of its legs, which have captures of their own.
    if (in.legs_count == 0) {
        move_position(event.instrument, event.side, c.quantity.value);
        change.position = event.instrument;
    }
    if (c.trade.value == 0) return change;  // a settlement
    own_trade trade;
    trade.trade = c.trade.value;
    trade.order = c.order;
    trade.instrument = event.instrument;
    trade.side = event.side;
    trade.price_nano = domain::to_nano(in, c.price).value;
    trade.lots = c.quantity.value;
    trade.is_taker = (event.flags & domain::event_flag::aggressor) != 0;
    trade.time_ns = event.time.value;
    if (const own_order* const of = find(c.order)) {
        trade.client_order = of->client_order;
        trade.order_state = of->state;
    }
    change.trade = &keep(trade);
    return change;
}

own_change own_orders::captured_leg(const domain::event& event) {
    move_position(event.instrument, event.side, event.leg_fill.quantity.value);
    own_change change;
    change.position = event.instrument;
    return change;
}

own_change own_orders::take(const domain::event& event, const domain::instrument& in) {
    switch (event.kind) {
        case event_kind::order_entered:
        case event_kind::order_amended:
        case event_kind::order_status: return updated(event);
        case event_kind::order_cancelled: return cancelled(event);
        case event_kind::order_executed: return executed(event);
        case event_kind::trade_capture: return captured(event, in);
        case event_kind::leg_capture: return captured_leg(event);
        case event_kind::order_rejected: announced_.erase(event.order.client_order.value); return {};
        case event_kind::protection_changed: protection_ = event.protection; return {};
        default: return {};
    }
}

}  // namespace corro::api
