// SPDX-License-Identifier: Apache-2.0
// An instrument: what trades, in which steps and within which bounds.
//
// Units: on the wire prices are decimals in billionths (1e-9) of the currency and quantities are whole units; inside
// the venue both are counts of the instrument's ticks and lots. The conversion here is exact or refused.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "domain/allocation.hpp"
#include "domain/limits.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"

namespace corro::domain {
/// What an instrument is.
enum class instrument_kind : std::uint8_t {
    future = 0,
    option = 1,
    spread = 2,  ///< an instrument with legs: calendar and ratio spreads, option strategies, baskets
    spot = 3,
};
/// Of options.
enum class option_right : std::uint8_t { none = 0, call = 1, put = 2 };

/// A price as it stands in a message: billionths of the currency, as in FIX SBE's PRICE9.
using price_nano = base::quantity<struct price_nano_tag, std::int64_t>;

/// A short name held by value, padded with NUL.
struct symbol {
    std::array<char, symbol_size_max> characters{};  ///< padded with NUL

    constexpr symbol() = default;
    /// Keeps the first `symbol_size_max` characters.
    constexpr explicit symbol(std::string_view text) noexcept {
        for (std::size_t i = 0; i < text.size() && i < characters.size(); ++i) characters[i] = text[i];
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept {
        std::size_t size = 0;
        while (size < characters.size() && characters[size] != '\0') ++size;
        return {characters.data(), size};
    }
    friend constexpr bool operator==(const symbol&, const symbol&) = default;
};

/// One of the instruments that a strategy stands for.
struct leg {
    instrument_id instrument{};
    std::uint32_t ratio = 1;        ///< lots of it in one lot of the strategy
    domain::side side = side::buy;  ///< the side in this leg of a buyer of the strategy
    friend constexpr bool operator==(const leg&, const leg&) = default;
};

struct instrument {
    instrument_id id{};  ///< from 1
    product_id product{};
    symbol name{};                                              ///< unique in the venue
    instrument_kind kind = instrument_kind::future;             ///< only published
    price_nano tick_size{1'000'000'000};                        ///< smallest step of prices
    std::uint32_t lot_size = 1;                                 ///< units of quantity in one lot
    price_ticks price_low{-price_ticks_max};                    ///< lowest price accepted, inclusive
    price_ticks price_high{price_ticks_max};                    ///< highest price accepted, inclusive
    quantity_lots order_quantity_max{order_quantity_lots_max};  ///< of one order
    /// Ticks that a buy may be above the last trade, and a sell below it; 0 for no limit.
    std::int64_t dynamic_band = 0;
    // A trade more than `breaker_move` ticks from the first price of a window halts the instrument's product.
    std::int64_t breaker_move = 0;    ///< ticks; 0 for no circuit breaker
    std::int64_t breaker_window = 0;  ///< nanoseconds
    std::int64_t breaker_halt = 0;    ///< nanoseconds; 0: until an operator resumes trading
    /// Nanoseconds. When not 0, an order beyond the dynamic band starts a volatility auction of this length instead of
    /// a reject, and the circuit breaker starts one instead of a halt.
    std::int64_t volatility_auction = 0;
    allocation_policy allocation{};  ///< how the orders at one price share an incoming order
    // Terms of options and dated instruments; the venue only publishes them.
    option_right right = option_right::none;  ///< none for what is not an option
    price_nano strike{};                      ///< of an option
    time_ns expiry{};                         ///< 0 for an instrument that does not expire
    // A strategy: see docs/spec/spreads.md.
    std::array<leg, legs_max> legs{};  ///< the first `legs_count` are used
    std::uint8_t legs_count = 0;       ///< 0 for what is not a strategy
    bool implied = false;              ///< takes part in implied matching: docs/spec/implied.md

    [[nodiscard]] constexpr std::span<const leg> legs_used() const noexcept { return {legs.data(), legs_count}; }
};

/// The result of a conversion from the wire: a value, or a reject reason.
template <class Value>
struct conversion {
    Value value{};                               ///< only without a reason
    reject_reason reason = reject_reason::none;  ///< none: it was converted
};

/// Converts a price from the wire. Reasons: price_off_tick, invalid_price.
[[nodiscard]] constexpr conversion<price_ticks> to_ticks(const instrument& i, price_nano price) noexcept {
    const std::int64_t ticks = price.value / i.tick_size.value;
    if (ticks * i.tick_size.value != price.value) return {.reason = reject_reason::price_off_tick};
    if (ticks > price_ticks_max || ticks < -price_ticks_max) return {.reason = reject_reason::invalid_price};
    return {.value = price_ticks{ticks}};
}

/// Converts a quantity from the wire. Reasons: invalid_quantity (zero, negative, too large), quantity_off_lot.
[[nodiscard]] constexpr conversion<quantity_lots> to_lots(const instrument& i, std::int64_t units) noexcept {
    if (units <= 0) return {.reason = reject_reason::invalid_quantity};
    const std::int64_t lots = i.lot_size == 1 ? units : units / i.lot_size;
    if (lots * i.lot_size != units) return {.reason = reject_reason::quantity_off_lot};
    if (lots > order_quantity_lots_max) return {.reason = reject_reason::invalid_quantity};
    return {.value = quantity_lots{static_cast<std::uint32_t>(lots)}};
}

/// The price on the wire. `ticks` is within price_ticks_max and the tick size was checked by `validate`, so it fits;
/// no_price becomes no_price_nano.
inline constexpr price_nano no_price_nano{std::numeric_limits<std::int64_t>::min()};
[[nodiscard]] constexpr price_nano to_nano(const instrument& i, price_ticks ticks) noexcept {  ///< The same price.
    return ticks == no_price ? no_price_nano : price_nano{ticks.value * i.tick_size.value};
}

/// The largest price magnitude in a book that takes part in implied matching: the sum of two fits the venue and the
/// wire.
[[nodiscard]] constexpr price_ticks implied_reach(const instrument& i) noexcept {
    const std::int64_t of_wire = std::numeric_limits<std::int64_t>::max() / 2 / i.tick_size.value;
    return price_ticks{of_wire < implied_price_ticks_max ? of_wire : implied_price_ticks_max};
}

/// The first thing that is wrong with a definition, as a sentence for the operator; empty when it is sound.
/// A sound definition's prices fit the wire: tick_size x max(|price_low|, |price_high|) < 2^63.
[[nodiscard]] std::string_view validate(const instrument& i) noexcept;

/// The first thing that is wrong between a strategy and its legs, likewise; empty for an instrument without legs.
///
/// @param i    Sound by itself.
/// @param all  The venue's instruments, each sound by itself; in any order.
[[nodiscard]] std::string_view validate_legs(const instrument& i, std::span<const instrument> all) noexcept;

}  // namespace corro::domain
