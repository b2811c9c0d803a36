// SPDX-License-Identifier: Apache-2.0
#include "recorded/replay/group_plan.hpp"

#include <algorithm>

namespace corro::recorded::replay {

bool group_plan::uncrosses() const noexcept {
    return std::ranges::any_of(
        records, [](const order_record& r) { return r.action == record_action::trade && r.side == record_side::none; });
}

order_state state_after(const group_plan& group, std::uint64_t order, order_state state) {
    for (const order_record& r : group.records) {
        if (r.order != order) continue;
        if (r.action == record_action::add || r.action == record_action::modify) state = {r.size, r.price};
        if (r.action == record_action::cancel) state.size -= std::min(state.size, r.size);
    }
    return state;
}

bool apply_record(recorded_book& book, const order_record& r, bool refreshed) {
    switch (r.action) {
        case record_action::add: return book.add(r.order, side_of(r.side), r.price, r.size);
        case record_action::cancel: return book.cancel(r.order, r.size);
        case record_action::clear: book.clear(); return true;
        case record_action::modify:
            if (book.modify(r.order, r.price, r.size, refreshed)) return true;
            book.add(r.order, side_of(r.side), r.price, r.size);
            return false;
        default: return true;
    }
}

std::size_t apply_records(recorded_book& book, const group_plan& group) {
    std::size_t strangers = 0;
    for (const order_record& r : group.records) {
        const bool refreshed = std::ranges::find(group.refreshed, r.order) != group.refreshed.end();
        if (!apply_record(book, r, refreshed)) ++strangers;
    }
    return strangers;
}

}  // namespace corro::recorded::replay
