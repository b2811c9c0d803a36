// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/order_flow_planner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "recorded/replay/limits.hpp"

namespace corro::recorded::replay {
namespace {

/// Whether a record of the group has the order's new state.
bool is_restated(const group_plan& g, std::uint64_t order) {
    return std::ranges::any_of(g.records, [&](const order_record& r) { return r.order == order && r.changes_book(); });
}

}  // namespace

void order_flow_planner::plan(group_plan& g) {
    CORRO_ASSERT(!g.records.empty() && g.requests.empty());
    if (!started_ && in_pre_open_) change_phase(g, domain::trading_phase::opening_auction);
    if (g.records.front().is_snapshot) {
        plan_snapshot(g);
    } else if (in_pre_open_ && g.uncrosses()) {
        plan_auction(g);
    } else {
        plan_changes(g);
    }
    started_ = true;
    ++facts_.groups[static_cast<std::size_t>(g.kind)];
    if (book_.orders_count() > recorded_orders_max) {
        throw replay_error(fmt::format("{}: more than {} open orders", place_of(g.records), recorded_orders_max));
    }
}

// --- Pre-open and continuous trading -------------------------------------------------------------------------------

void order_flow_planner::plan_changes(group_plan& g) {
    g.kind = in_pre_open_ ? group_kind::pre_open : group_kind::continuous;
    find_trades(g);
    plan_cancels(g);
    plan_refreshes(g);
    for (aggressor& a : aggressors_) plan_aggressor(g, a);
    if (aggressors_.size() > 1) {
        ++facts_.stop_groups;
        facts_.stop_aggressors += aggressors_.size() - 1;
    }
    plan_later(g);
    plan_others(g);
    take_over(g);
    if (in_pre_open_ && book_.is_crossed()) ++facts_.crossed_groups;
}

void order_flow_planner::take_over(const group_plan& g) {
    apply_records(book_, g);
    for (const order_record& r : g.records) {
        if (r.changes_book() && book_.find(r.order) == nullptr) live_.erase(r.order);
    }
}

void order_flow_planner::find_trades(const group_plan& g) {
    aggressors_.clear();
    filled_.clear();
    later_.clear();
    aggressor* current = nullptr;
    for (std::size_t i = 0; i < g.records.size(); ++i) {
        const order_record& r = g.records[i];
        if (r.action == record_action::trade) {
            current = nullptr;
            if (r.side == record_side::none) continue;
            // Orders without an id cannot be distinguished: consecutive trades count as one aggressor.
            const auto known = std::ranges::find_if(
                aggressors_, [&](const aggressor& a) { return a.order == r.order && a.side == side_of(r.side); });
            current = known != aggressors_.end() ? &*known : &aggressors_.emplace_back();
            current->order = r.order;
            current->side = side_of(r.side);
            current->lots += r.size;
            current->last_price = r.price;
            current->trades.push_back(i);
        } else if (r.action == record_action::fill && current != nullptr && r.order != current->order) {
            const auto known = std::ranges::find(filled_, r.order, &filled_order::order);
            (known != filled_.end() ? *known : filled_.emplace_back(filled_order{r.order, 0})).lots += r.size;
        }
    }
}

std::uint32_t order_flow_planner::traded(std::uint64_t order) const noexcept {
    const auto found = std::ranges::find(filled_, order, &filled_order::order);
    return found == filled_.end() ? 0 : found->lots;
}

bool order_flow_planner::is_aggressor(std::uint64_t order) const noexcept {
    return std::ranges::find(aggressors_, order, &aggressor::order) != aggressors_.end();
}

bool order_flow_planner::prevents_self_match(const group_plan& g, const order_record& cancel) const {
    const recorded_book::order* const o = book_.find(cancel.order);
    const auto meets = [&](domain::side side, domain::price_ticks price) {
        if (side == o->side) return false;
        return side == domain::side::buy ? o->price <= price : o->price >= price;
    };
    if (!aggressors_.empty()) {
        return std::ranges::any_of(aggressors_, [&](const aggressor& a) { return meets(a.side, a.last_price); });
    }
    return std::ranges::any_of(g.records, [&](const order_record& r) {
        return (r.action == record_action::add || r.action == record_action::modify) && r.order != cancel.order &&
               meets(side_of(r.side), r.price);
    });
}

void order_flow_planner::plan_cancels(group_plan& g) {
    std::uint64_t prevented = 0;
    for (const order_record& r : g.records) {
        if (r.action == record_action::clear) cancel_everything(g);
        if (r.action != record_action::cancel || traded(r.order) != 0 || is_aggressor(r.order)) continue;
        const recorded_book::order* const o = book_.find(r.order);
        if (o == nullptr || !live_.contains(r.order)) continue;
        if (r.size < o->size) {
            amend(g, r.order, o->price, o->size - r.size, purpose::amend);
            continue;
        }
        const bool prevents = !in_pre_open_ && prevents_self_match(g, r);
        prevented += prevents ? 1U : 0U;
        cancel(g, r.order, prevents ? purpose::self_match : purpose::cancel);
    }
    if (prevented == 0) return;
    (aggressors_.empty() ? facts_.self_match_cancels_untraded : facts_.self_match_cancels) += prevented;
    ++(aggressors_.empty() ? facts_.self_match_groups_untraded : facts_.self_match_groups);
}

void order_flow_planner::plan_refreshes(group_plan& g) {
    for (const filled_order& f : filled_) {
        const recorded_book::order* const o = book_.find(f.order);
        const auto live = live_.find(f.order);
        if (is_aggressor(f.order) || o == nullptr || live == live_.end()) continue;
        const std::uint32_t displayed = o->size;
        // Without such a record the order's state follows from the fills.
        order_state after{displayed - std::min(displayed, f.lots), o->price};
        if (is_restated(g, f.order)) after = state_after(g, f.order, {displayed, o->price});
        if (f.lots < displayed) {
            live->second.filled += f.lots;
            live->second.open -= f.lots;
            if (after.size == 0) {
                later_.push_back({f.order, purpose::cancel, {}, 0});
            } else if (after.size != displayed - f.lots || after.price != o->price) {
                later_.push_back({f.order, purpose::amend, after.price, after.size});
            }
            continue;
        }
        const std::uint32_t hidden = f.lots + after.size - displayed;
        if (hidden == 0) {
            live->second.filled += f.lots;
            continue;
        }
        g.refreshed.push_back(f.order);
        ++facts_.iceberg_refreshes;
        facts_.iceberg_hidden_lots += hidden;
        facts_.icebergs += std::exchange(live->second.was_refreshed, true) ? 0U : 1U;
        if (f.lots > displayed) {
            enter(g, f.order, o->side, o->price, hidden, purpose::refresh);
            live_.at(f.order).filled = f.lots - displayed;
            live_.at(f.order).open = after.size;
            if (after.size != 0 && after.price != o->price) {
                later_.push_back({f.order, purpose::amend, after.price, after.size});
            }
        } else {
            later_.push_back({f.order, purpose::refresh, after.price, after.size});
        }
    }
}

void order_flow_planner::plan_aggressor(group_plan& g, aggressor& a) {
    const recorded_book::order* const before = book_.find(a.order);
    order_state start;
    if (before != nullptr) start = {before->size, before->price};
    order_state after;
    if (is_restated(g, a.order)) after = state_after(g, a.order, start);
    const domain::price_ticks price = after.size != 0 ? after.price : a.last_price;
    if (live_.contains(a.order)) {
        ++facts_.aggressors_modified;
        amend(g, a.order, price, after.size, purpose::modify_to_cross, a.lots);
    } else if (after.size != 0) {
        ++facts_.aggressors_resting;
        enter(g, a.order, a.side, price, a.lots + after.size, purpose::aggressor_rests);
        g.planned.back().rests = domain::quantity_lots{after.size};
        live_.at(a.order).filled = a.lots;
        live_.at(a.order).open = after.size;
    } else {
        ++facts_.aggressors_immediate;
        enter(g, a.order, a.side, price, a.lots, purpose::aggressor);
    }
    g.aggressors.push_back({a.order, a.side, g.requests.size() - 1, std::move(a.trades)});
}

void order_flow_planner::plan_later(group_plan& g) {
    for (const later& l : later_) {
        if (l.why == purpose::cancel) {
            cancel(g, l.order, purpose::cancel);
        } else if (l.why == purpose::amend) {
            amend(g, l.order, l.price, l.size, purpose::amend);
        } else {
            enter(g, l.order, book_.find(l.order)->side, l.price, l.size, purpose::refresh);
        }
    }
}

void order_flow_planner::plan_others(group_plan& g) {
    for (const order_record& r : g.records) {
        if (is_aggressor(r.order)) continue;
        const bool is_live = live_.contains(r.order);
        const bool was_there = book_.find(r.order) != nullptr;
        if (r.action == record_action::add && !is_live) {
            enter(g, r.order, side_of(r.side), r.price, r.size, purpose::rest);
        } else if (r.action == record_action::modify && is_live && traded(r.order) == 0) {
            amend(g, r.order, r.price, r.size, purpose::amend);
        } else if (r.action == record_action::modify && !is_live && !was_there) {
            enter(g, r.order, side_of(r.side), r.price, r.size, purpose::rest);  // an order without an earlier record
        } else if (r.action == record_action::cancel && is_live && !was_there) {
            cancel(g, r.order, purpose::cancel);  // added and cancelled within the group
        }
    }
}

// --- Requests ------------------------------------------------------------------------------------------------------

void order_flow_planner::enter(group_plan& g, std::uint64_t order, domain::side side, domain::price_ticks price,
                               std::uint32_t size, purpose why) {
    const domain::client_order_id client_order{next_client_order_++};
    const bool immediate = why == purpose::aggressor;
    g.requests.push_back({.kind = domain::command_kind::enter_order,
                          .side = side,
                          .time_in_force = immediate ? domain::time_in_force::ioc : domain::time_in_force::gtc,
                          .client_order = client_order,
                          .price = price,
                          .quantity = domain::quantity_lots{size}});
    g.planned.push_back({order, why, domain::quantity_lots{immediate ? 0 : size}});
    if (immediate) return;
    live_order& live = live_[order];
    live.client_order = client_order;
    live.price = price;
    live.open = size;
    live.filled = 0;
}

void order_flow_planner::amend(group_plan& g, std::uint64_t order, domain::price_ticks price, std::uint32_t open,
                               purpose why, std::uint32_t trades) {
    live_order& live = live_.at(order);
    if (trades == 0 && price == live.price && open == live.open) return;  // without a change
    g.requests.push_back({.kind = domain::command_kind::amend_order,
                          .client_order = live.client_order,
                          .price = price,
                          .quantity = domain::quantity_lots{live.filled + trades + open}});
    g.planned.push_back({order, why, domain::quantity_lots{open}});
    live.filled += trades;
    live.price = price;
    live.open = open;
}

void order_flow_planner::cancel(group_plan& g, std::uint64_t order, purpose why) {
    const auto live = live_.find(order);
    g.requests.push_back({.kind = domain::command_kind::cancel_order, .client_order = live->second.client_order});
    g.planned.push_back({order, why, {}});
    live_.erase(live);
}

void order_flow_planner::cancel_everything(group_plan& g) {
    std::vector<std::pair<domain::client_order_id, std::uint64_t>> all;
    for (const auto& [order, live] : live_) all.emplace_back(live.client_order, order);
    std::ranges::sort(all);
    for (const auto& [client_order, order] : all) cancel(g, order, purpose::cancel);
}

void order_flow_planner::change_phase(group_plan& g, domain::trading_phase phase) {
    g.requests.push_back({.kind = domain::command_kind::change_phase, .phase = phase});
    g.planned.push_back({0, purpose::phase, {}});
}

}  // namespace corro::recorded::replay
