// The reference: accounts and limits of the configuration. Neither causes an event.
#include <algorithm>

#include "facility/facility_reference.hpp"

namespace corro::facility::testing {

void facility_reference::define_account() {
    const domain::command& c = command_;
    const std::uint32_t number = c.other_account.value;
    const std::uint32_t first = c.other_session.value;
    const std::uint32_t count = c.quantity.value;
    if (c.is_operator == 0 || number == 0 || number >= options_.accounts_max) return;
    if (first == 0 || count == 0 || first > 1'048'576 || count > 1'048'576 || accounts_.size() == 4'096) return;
    const bool is_behind = std::all_of(accounts_.begin(), accounts_.end(), [&](const auto& other) {
        return other[0] != number && first >= std::uint64_t{other[1]} + other[2];
    });
    if (is_behind) accounts_.push_back({number, first, count});
}

void facility_reference::set_account_limits() {
    const domain::command& c = command_;
    if (c.is_operator == 0 || c.other_account.value >= options_.accounts_max || c.firm >= options_.accounts_max) return;
    if (c.notional_max < 0 || mistake_ == defect::configured_limits_are_ignored) return;
    limits_[c.other_account.value] = {c.notional_max, c.quantity.value, c.position_max.value, c.open_orders_max,
                                      c.firm};
}

void facility_reference::hash_accounts(state_hasher& hasher) const {
    for (const auto& [number, first, count] : accounts_) {
        hasher.add((std::uint64_t{number} << 32U) | first);
        hasher.add(std::uint64_t{count});
    }
}

}  // namespace corro::facility::testing
