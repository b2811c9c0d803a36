// Prefetches what the coming commands need. Nothing here changes their effects.
#include "facility/state_machine.hpp"

namespace corro::facility {

// Three rounds: the indices, the orders, what is linked to the orders. Each round reads what the round before has
// fetched.
void facility::state_machine::expect(std::span<domain::prefetch_hint> coming) const noexcept {
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
        orders_.prefetch_request(slot);
    }
}

}  // namespace corro::facility
