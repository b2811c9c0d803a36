// SPDX-License-Identifier: Apache-2.0
#include "market/queue_tracker.hpp"

#include <algorithm>

namespace corro::market {
namespace {

/// The orders of a level up to one order.
struct level_walk final : facility::book_visitor {
    level_walk(domain::side wanted_side, domain::order_id wanted_order) : side(wanted_side), order(wanted_order) {}
    void visit_level(domain::side of, const domain::level& /*level*/) override {
        if (of == side && !found) ahead.clear();
    }
    void visit_order(domain::side of, const facility::resting_order& each) override {
        if (of != side || found) return;
        if (each.order == order) {
            found = true;
        } else {
            ahead.emplace(each.order.value, each.open.value);
        }
    }
    domain::side side;
    domain::order_id order;
    std::map<std::uint64_t, std::uint32_t> ahead;
    bool found = false;
};

}  // namespace

queue_tracker::queue_tracker(const facility::facility& venue, domain::instrument_id instrument, domain::side side,
                             domain::order_id order, std::int64_t now_ns)
    : order_(order) {
    level_walk walk(side, order);
    venue.visit_book(instrument, walk);
    is_gone_ = !walk.found;
    if (walk.found) ahead_ = std::move(walk.ahead);
    for (const auto& [id, lots] : ahead_) sum_ += lots;
    states_.push_back({now_ns, sum_});
}

void queue_tracker::on_change(const domain::event& e, std::int64_t now_ns) {
    if (e.book.order == order_) {
        if (e.kind == domain::event_kind::order_deleted) is_gone_ = true;
        return;
    }
    const auto found = ahead_.find(e.book.order.value);
    if (found == ahead_.end()) return;
    const std::uint32_t left = e.kind == domain::event_kind::order_deleted ? 0 : e.book.quantity.value;
    sum_ -= found->second - std::min(found->second, left);
    found->second = std::min(found->second, left);
    if (left == 0) ahead_.erase(found);
    states_.push_back({now_ns, sum_});
}

std::uint64_t queue_tracker::ahead_at(std::int64_t at_ns) const noexcept {
    const auto after = std::ranges::upper_bound(states_, at_ns, {}, &state::at_ns);
    return after == states_.begin() ? states_.front().ahead : std::prev(after)->ahead;
}

}  // namespace corro::market
