// How a recording begins: the snapshot of the book, the pre-open with its crossed book, and the opening auction.
#include <fmt/format.h>

#include <algorithm>

#include "client/replay/order_flow_planner.hpp"

namespace corro::client::replay {

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
    // The records of a level stand in the order of its queue.
    for (const order_record& r : g.records) {
        if (r.action != record_action::add || !apply_record(book_, r, false)) continue;
        ++facts_.snapshot_orders;
        if (in_pre_open_ && would_trade(side_of(r.side), r.price)) {
            ++facts_.parked;
            park(r.order, live_[r.order]);
        } else {
            enter(g, r.order, side_of(r.side), r.price, r.size, purpose::rest);
        }
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

// --- Pre-open and auction ------------------------------------------------------------------------------------------

void order_flow_planner::plan_pre_open(group_plan& g) {
    const bool uncrosses = std::ranges::any_of(g.records, [](const order_record& r) {
        return r.action == record_action::trade && r.side == record_side::none;
    });
    g.kind = uncrosses ? group_kind::auction : group_kind::pre_open;
    for (const order_record& r : g.records) plan_pre_open_record(g, r);
    if (uncrosses) {
        end_auction(g);
    } else if (book_.is_crossed()) {
        ++facts_.crossed_groups;
    }
}

void order_flow_planner::plan_pre_open_record(group_plan& g, const order_record& r) {
    if (!r.changes_book()) return;
    if (r.action == record_action::clear) {
        cancel_everything(g);
        book_.clear();
        return;
    }
    const recorded_book::order* const o = book_.find(r.order);
    const auto known = live_.find(r.order);
    if (o == nullptr || known == live_.end()) {
        if (!apply_record(book_, r, false) && r.action != record_action::modify) return;
        if (r.action == record_action::cancel) return;
        if (would_trade(side_of(r.side), r.price)) {
            ++facts_.parked;
            park(r.order, live_[r.order]);
        } else {
            enter(g, r.order, side_of(r.side), r.price, r.size, purpose::rest);
        }
        return;
    }
    if (r.action == record_action::add) return;
    const domain::side side = o->side;
    const domain::price_ticks before = o->price;
    const bool goes = r.action == record_action::cancel && r.size >= o->size;
    apply_record(book_, r, false);  // `o` may be gone now
    live_order& live = known->second;
    if (live.parked != 0) {
        if (r.action == record_action::cancel && !goes) return;
        unpark(live);
        if (goes) {
            live_.erase(known);
        } else if (would_trade(side, r.price)) {
            park(r.order, live);
        } else {
            enter(g, r.order, side, r.price, r.size, purpose::rest);
        }
    } else if (goes) {
        count_price(side, before, -1);
        cancel(g, r.order, purpose::cancel);
    } else if (r.action == record_action::cancel) {
        amend(g, r.order, before, o->size, purpose::amend);
    } else if (count_price(side, before, -1); would_trade(side, r.price)) {
        const live_order was = live;
        cancel(g, r.order, purpose::cancel);
        live_order& parked = live_[r.order];
        parked.was_refreshed = was.was_refreshed;
        ++facts_.parked;
        park(r.order, parked);
        g.left.push_back(r.order);
    } else {
        count_price(side, r.price, +1);
        amend(g, r.order, r.price, r.size, purpose::amend);
    }
}

void order_flow_planner::end_auction(group_plan& g) {
    // What the auction left of the parked orders no longer trades. They queue up in the order in which they came.
    for (const auto& [position, order] : parked_) {
        const recorded_book::order* const o = book_.find(order);
        if (o == nullptr) continue;
        ++facts_.entered_after_auction;
        live_.at(order).parked = 0;
        enter(g, order, o->side, o->price, o->size, purpose::rest);
    }
    parked_.clear();
    entered_[0].clear();
    entered_[1].clear();
    in_pre_open_ = false;
}

void order_flow_planner::park(std::uint64_t order, live_order& live) {
    live.client_order = {};
    live.filled = 0;
    live.parked = next_parked_++;
    parked_.emplace(live.parked, order);
}

void order_flow_planner::unpark(live_order& live) {
    parked_.erase(live.parked);
    live.parked = 0;
}

bool order_flow_planner::would_trade(domain::side side, domain::price_ticks price) const {
    const auto& others = entered_[static_cast<int>(domain::opposite(side))];
    if (others.empty()) return false;
    return side == domain::side::buy ? others.begin()->first <= price : others.rbegin()->first >= price;
}

void order_flow_planner::count_price(domain::side side, domain::price_ticks price, int change) {
    auto& counts = entered_[static_cast<int>(side)];
    std::uint64_t& count = counts[price];
    count += static_cast<std::uint64_t>(static_cast<std::int64_t>(change));
    if (count == 0) counts.erase(price);
}

}  // namespace corro::client::replay
