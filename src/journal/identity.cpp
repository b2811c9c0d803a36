#include "journal/identity.hpp"

#include <fmt/format.h>

#include "base/hash.hpp"

namespace corro::journal {

std::uint64_t fingerprint_of(std::span<const domain::instrument> instruments) noexcept {
    std::uint64_t sum = 0;
    for (const domain::instrument& i : instruments) {
        base::hasher one;
        one.add(i.id).add(i.product).add_bytes(std::as_bytes(std::span(i.name.characters))).add(i.kind);
        one.add(i.tick_size).add(i.lot_size).add(i.price_low).add(i.price_high).add(i.order_quantity_max);
        one.add(i.dynamic_band).add(i.breaker_move).add(i.breaker_window).add(i.breaker_halt);
        sum += one.value();
    }
    return base::mix64(sum ^ instruments.size());
}

std::string describe(const identity& who) {
    return fmt::format("venue \"{}\", shard {}, instruments {:016x}", who.name.view(), who.shard, who.fingerprint);
}

}  // namespace corro::journal
