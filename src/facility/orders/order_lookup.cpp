#include "facility/orders/order_lookup.hpp"

namespace corro::facility {

using domain::command;
using domain::reject_reason;

order_lookup::result order_lookup::find_by_name(const command& c, std::uint32_t target_request) const noexcept {
    const std::uint32_t slot =
        target_request != 0 ? orders_.find(c.session, target_request) : orders_.find(c.account, c.client_order);
    if (slot == order_directory::none || orders_[slot].account != c.account)
        return {none, reject_reason::unknown_order};
    return {slot, reject_reason::none};
}

// Three rounds: the indices, the orders, what is linked to the orders. Each round reads what the round before has
// fetched.
void order_lookup::prefetch(std::span<domain::prefetch_hint> coming) const noexcept {
    for (const domain::prefetch_hint& f : coming) orders_.prefetch(f);
    for (const domain::prefetch_hint& f : coming) {
        if (f.enters) continue;
        const std::uint32_t slot = orders_.prefetch_record(f);
        if (slot != order_directory::none) engine_.prefetch(slot);
    }
    for (domain::prefetch_hint& f : coming) {
        if (f.enters) continue;
        const std::uint32_t slot = orders_.find(f.account, f.client_order);
        if (slot == order_directory::none) continue;
        f.order = engine_.id_of(slot);
        engine_.prefetch_place(slot);
        orders_.prefetch_names(slot);
    }
}

}  // namespace corro::facility
