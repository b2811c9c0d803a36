// SPDX-License-Identifier: Apache-2.0
#include "domain/fingerprint.hpp"

namespace corro::domain {

void add_to(base::hasher& hasher, const instrument& i) noexcept {
    static_assert(sizeof(instrument) == 328 && sizeof(allocation_policy) == 84,
                  "add every new member to the fingerprint, then correct the sizes here");
    hasher.add(i.id).add(i.product).add_bytes(std::as_bytes(std::span{i.name.characters})).add(i.kind);
    hasher.add(i.tick_size).add(i.lot_size).add(i.price_low).add(i.price_high).add(i.order_quantity_max);
    hasher.add(i.dynamic_band).add(i.breaker_move).add(i.breaker_window).add(i.breaker_halt);
    hasher.add(i.volatility_auction);
    const allocation_policy& p = i.allocation;
    hasher.add(p.algorithm).add(p.levels).add(p.fifo_percent).add(p.top_minimum).add(p.top_maximum);
    hasher.add(p.pro_rata_minimum);
    for (const lead_market_maker& m : p.makers) hasher.add(m.account).add(m.percent);
    hasher.add(i.right).add(i.strike).add(i.expiry).add(i.legs_count);
    if (i.implied) hasher.add(std::uint8_t{1});
    for (const leg& l : i.legs_used()) hasher.add(l.instrument).add(l.ratio).add(l.side);
}

std::uint64_t fingerprint_of(std::span<const instrument> instruments) noexcept {
    std::uint64_t sum = 0;
    for (const instrument& i : instruments) {
        base::hasher one;
        add_to(one, i);
        sum += one.value();
    }
    return base::mix64(sum ^ instruments.size());
}

}  // namespace corro::domain
