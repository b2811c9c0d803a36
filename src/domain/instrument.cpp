#include "domain/instrument.hpp"

namespace corro::domain {

std::string_view validate(const instrument& i) noexcept {
    if (i.id.value == 0) return "the instrument id must not be zero";
    if (i.id.value > instruments_max) return "the instrument id is above the venue's limit";
    if (i.name.view().empty()) return "the symbol is empty";
    if (i.tick_size.value <= 0) return "the tick size must be positive";
    if (i.lot_size == 0) return "the lot size must be positive";
    if (i.price_low > i.price_high) return "the price band is empty: low is above high";
    if (i.price_low.value < -price_ticks_max || i.price_high.value > price_ticks_max) {
        return "the price band reaches beyond the prices that the venue can hold";
    }
    const auto fits = [&](price_ticks p) {
        return static_cast<base::int128>(p.value) * i.tick_size.value <= std::numeric_limits<std::int64_t>::max() &&
               static_cast<base::int128>(p.value) * i.tick_size.value > std::numeric_limits<std::int64_t>::min();
    };
    if (!fits(i.price_low) || !fits(i.price_high)) return "the price band does not fit 64 bits in billionths";
    if (i.dynamic_band < 0 || i.dynamic_band > price_ticks_max) return "the dynamic price band is out of range";
    if (i.breaker_move < 0 || i.breaker_move > 2 * price_ticks_max || i.breaker_window < 0 || i.breaker_halt < 0) {
        return "the circuit breaker is out of range";
    }
    if (i.order_quantity_max.value == 0 || i.order_quantity_max.value > order_quantity_lots_max) {
        return "the largest order quantity is zero or above the venue's limit";
    }
    return validate(i.allocation);
}

}  // namespace corro::domain
