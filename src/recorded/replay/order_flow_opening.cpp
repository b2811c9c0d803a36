// SPDX-License-Identifier: Apache-2.0
// The beginning of a recording: the snapshot of the book, and the auction that ends the pre-open.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "recorded/replay/order_flow_planner.hpp"

namespace corro::recorded::replay {

// --- Snapshots -----------------------------------------------------------------------------------------------------

void order_flow_planner::plan_snapshot(group_plan& g) {
    if (!started_) {
        g.kind = group_kind::snapshot;
        plan_first_snapshot(g);
    } else if (says_the_same(g)) {
        g.kind = group_kind::repeated;
    } else {
        g.kind = group_kind::replaced;
        cancel_everything(g);
        book_.clear();
        plan_first_snapshot(g);
    }
}

void order_flow_planner::plan_first_snapshot(group_plan& g) {
    // The records of a level are in the order of its queue.
    for (const order_record& r : g.records) {
        if (r.action != record_action::add || !apply_record(book_, r, false)) continue;
        ++facts_.snapshot_orders;
        enter(g, r.order, side_of(r.side), r.price, r.size, purpose::rest);
    }
}

bool order_flow_planner::says_the_same(const group_plan& snapshot) {
    recorded_book told;
    for (const order_record& r : snapshot.records) {
        if (r.action == record_action::add) apply_record(told, r, false);
    }
    std::uint64_t missing = 0, changed = 0, common = 0, queues = 0;
    book_.for_each_level([&](domain::side side, domain::price_ticks price, const recorded_book::queue& mine) {
        for (const recorded_book::order& o : mine) {
            const recorded_book::order* const other = told.find(o.name);
            if (other == nullptr) {
                ++missing;
            } else {
                ++common;
                changed += other->side != side || other->price != price || other->size != o.size ? 1U : 0U;
            }
        }
        const recorded_book::queue* const theirs = told.at(side, price);
        queues += theirs == nullptr || !std::ranges::equal(mine, *theirs, {}, &recorded_book::order::name,
                                                           &recorded_book::order::name)
                      ? 1U
                      : 0U;
    });
    const std::uint64_t extra = told.orders_count() - common;
    if (missing + changed + extra + queues == 0) return true;
    replacement_ = fmt::format("{} orders are gone, {} are new, {} changed, {} levels have another queue", missing,
                               extra, changed, queues);
    return false;
}

// --- The auction ---------------------------------------------------------------------------------------------------

void order_flow_planner::plan_auction(group_plan& g) {
    g.kind = group_kind::auction;
    aggressors_.clear();
    filled_.clear();
    later_.clear();
    const std::vector<auctioned> fills = find_auctioned(g);
    for (const auctioned& f : fills) filled_.push_back({f.order, f.lots});
    plan_cancels(g);
    plan_refreshes(g);
    enter_unseen(g, fills);
    change_phase(g, domain::trading_phase::continuous);
    in_pre_open_ = false;
    plan_later(g);
    plan_others(g);
    take_over(g);
}

/// The orders of the group's fills, each with its side.
///
/// A fill of an auction has no side, and an order that was never in the book has no other record. But the list of
/// fills shows the side: it pairs the best buyer with the best seller and so alternates while there are both.
std::vector<order_flow_planner::auctioned> order_flow_planner::find_auctioned(const group_plan& g) const {
    std::vector<auctioned> fills;
    for (const order_record& r : g.records) {
        if (r.action != record_action::fill) continue;
        const auto again = std::ranges::find(fills, r.order, &auctioned::order);
        if (again != fills.end()) {
            again->lots += r.size;
        } else if (const recorded_book::order* const o = book_.find(r.order)) {
            const bool buys = o->side == domain::side::buy;
            fills.push_back({r.order, buys ? record_side::buy : record_side::sell, o->price, r.size, false});
        } else {
            fills.push_back({r.order, r.side, r.price, r.size, true});
        }
    }
    const auto other = [](record_side s) { return s == record_side::buy ? record_side::sell : record_side::buy; };
    const auto has_side = [](const auctioned& f) { return f.side != record_side::none; };
    const auto first = static_cast<std::size_t>(std::ranges::find_if(fills, has_side) - fills.begin());
    for (std::size_t i = first; i-- > 0;) {
        fills[i].side = i + 1 < fills.size() ? other(fills[i + 1].side) : record_side::buy;
    }
    for (std::size_t i = 1; i < fills.size(); ++i) {
        if (!has_side(fills[i])) fills[i].side = other(fills[i - 1].side);
    }
    // The list also has the best price of each side first. That determines the price of an order that was never shown:
    // it trades right after the one before it, or before all others of its side.
    for (std::size_t i = 0; i < fills.size(); ++i) {
        if (!fills[i].is_unseen) continue;
        const auto same_side = [&](const auctioned& f) { return f.side == fills[i].side; };
        const auto here = fills.begin() + static_cast<std::ptrdiff_t>(i);
        const auto before = std::find_if(std::make_reverse_iterator(here), fills.rend(), same_side);
        const auto seen_later =
            std::find_if(here, fills.end(), [&](const auctioned& f) { return same_side(f) && !f.is_unseen; });
        if (before != fills.rend()) {
            here->price = before->price;
        } else if (seen_later != fills.end()) {
            here->price.value = seen_later->price.value + (here->side == record_side::buy ? 1 : -1);
        }
    }
    return fills;
}

void order_flow_planner::enter_unseen(group_plan& g, const std::vector<auctioned>& fills) {
    for (const auctioned& f : fills) {
        if (!f.is_unseen) continue;
        ++facts_.unseen;
        facts_.unseen_lots += f.lots;
        const order_state after = state_after(g, f.order, {});
        enter(g, f.order, side_of(f.side), after.size != 0 ? after.price : f.price, f.lots + after.size, purpose::rest);
        live_.at(f.order).filled = f.lots;
        live_.at(f.order).open = after.size;
        if (after.size == 0) live_.erase(f.order);
    }
}

}  // namespace corro::recorded::replay
