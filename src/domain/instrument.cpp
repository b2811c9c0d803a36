// SPDX-License-Identifier: Apache-2.0
#include "domain/instrument.hpp"

#include <algorithm>

namespace corro::domain {
namespace {

[[nodiscard]] const instrument* find(std::span<const instrument> all, instrument_id id) noexcept {
    const auto at = std::find_if(all.begin(), all.end(), [&](const instrument& i) { return i.id == id; });
    return at == all.end() ? nullptr : &*at;
}

/// Checks what implied matching needs of a strategy. Its legs are valid otherwise.
[[nodiscard]] std::string_view validate_implied(const instrument& i, std::span<const instrument> all) noexcept {
    const std::span<const leg> legs = i.legs_used();
    if (legs.size() != 2 || legs[0].ratio != 1 || legs[1].ratio != 1 || legs[0].side == legs[1].side) {
        return "implied matching needs two legs of ratio 1, one bought and one sold";
    }
    if (i.product.value == 0) return "implied matching needs a product";
    if (i.allocation.algorithm != match_algorithm::fifo) return "implied matching needs algorithm F";
    for (const leg& l : legs) {
        const instrument* other = find(all, l.instrument);
        if (other->product != i.product) return "implied matching needs legs of the spread's product";
        if (other->tick_size != i.tick_size) return "implied matching needs legs with the spread's tick size";
        if (other->allocation.algorithm != match_algorithm::fifo) return "implied matching needs legs of algorithm F";
    }
    const auto has_its_legs = [&](const instrument& x) {
        return x.implied && x.id != i.id && x.legs_count == 2 &&
               std::all_of(legs.begin(), legs.end(), [&](const leg& l) {
                   return x.legs[0].instrument == l.instrument || x.legs[1].instrument == l.instrument;
               });
    };
    if (std::any_of(all.begin(), all.end(), has_its_legs))
        return "two spreads with implied matching have the same legs";
    return {};
}

}  // namespace

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
    if (i.volatility_auction < 0) return "the volatility auction is out of range";
    if (i.order_quantity_max.value == 0 || i.order_quantity_max.value > order_quantity_lots_max) {
        return "the largest order quantity is zero or above the venue's limit";
    }
    const bool is_option = i.kind == instrument_kind::option;
    if (is_option && i.right != option_right::call && i.right != option_right::put) {
        return "an option is either a call or a put";
    }
    if (!is_option && (i.right != option_right::none || i.strike.value != 0)) {
        return "only an option has a right and a strike";
    }
    if (i.expiry.value < 0) return "the expiry is before 1970";
    if (i.legs_count > legs_max) return "the strategy has more legs than the venue's limit";
    if (i.legs_count != 0 && i.kind != instrument_kind::spread) return "only an instrument of kind spread has legs";
    if (i.implied && i.legs_count == 0) return "only an instrument with legs has implied matching";
    return validate(i.allocation);
}

std::string_view validate_legs(const instrument& i, std::span<const instrument> all) noexcept {
    const std::span<const leg> legs = i.legs_used();
    if (legs.empty()) {
        return i.kind == instrument_kind::spread ? "a spread needs legs" : std::string_view{};
    }
    if (legs.size() < 2) return "a spread needs at least two legs";
    bool has_single = false;
    for (const leg& l : legs) {
        const instrument* other = find(all, l.instrument);
        if (other == nullptr) return "a leg is not an instrument of the venue";
        if (other->legs_count != 0 || other->kind == instrument_kind::spread) return "a leg must not have legs itself";
        if (std::count_if(legs.begin(), legs.end(), [&](const leg& x) { return x.instrument == l.instrument; }) != 1) {
            return "two legs have the same instrument";
        }
        if (l.side != side::buy && l.side != side::sell) return "the side of a leg is neither buy nor sell";
        if (l.ratio == 0 || l.ratio > leg_ratio_max) return "the ratio of a leg is zero or above the venue's limit";
        if (std::uint64_t{l.ratio} * i.order_quantity_max.value > order_quantity_lots_max) {
            return "the largest order needs more lots of a leg than one order of the venue can have";
        }
        const std::int64_t a = i.tick_size.value;
        const std::int64_t b = other->tick_size.value;
        if (a % b != 0 && b % a != 0)
            return "the tick size of the spread is neither a multiple nor a divisor of a leg's tick size";
        const auto uses = std::count_if(all.begin(), all.end(), [&](const instrument& x) {
            return std::any_of(x.legs_used().begin(), x.legs_used().end(),
                               [&](const leg& y) { return y.instrument == l.instrument; });
        });
        if (uses > strategies_per_leg_max) return "an instrument is a leg of more strategies than the venue's limit";
        has_single = has_single || l.ratio == 1;
    }
    // The price of this leg is what the other legs leave, so the prices always add up.
    if (!has_single) return "one leg needs the ratio 1, so that the prices of the legs can add up exactly";
    return i.implied ? validate_implied(i, all) : std::string_view{};
}

}  // namespace corro::domain
