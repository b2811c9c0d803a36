// SPDX-License-Identifier: Apache-2.0
// Checks orders against the limits of their accounts: size, notional value, open orders, position.
//
// The position limit counts the worst case: the position plus all open orders of that side, those of strategies too.
//
// Units: lots, ticks, billionths of the currency; books by index.
// Threads: none of its own.
// Cost: constant; the position limit takes one step per strategy that a book is a leg of.
// Source: docs/spec/matching.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "base/int128.hpp"
#include "domain/account.hpp"
#include "domain/instrument.hpp"
#include "domain/reject_reason.hpp"
#include "domain/types.hpp"
#include "risk/account_rules.hpp"
#include "risk/exposures.hpp"
#include "risk/positions.hpp"
#include "risk/strategies.hpp"

namespace corro::risk {

/// A new order, or an order after a change.
struct checked_order {
    domain::account_id account{};
    std::uint32_t book = 0;
    std::uint32_t position = 0;  ///< slot of the account's position in the book
    domain::side side = domain::side::buy;
    std::uint32_t total = 0;      ///< lots of the order, with the filled ones
    std::uint32_t added = 0;      ///< lots that are new to the account's exposure
    domain::price_ticks price{};  ///< no_price: no check of the notional value
    std::uint32_t opened = 0;     ///< new orders that the command opens
};

class order_limits {
 public:
    order_limits(const account_rules& rules, const positions& held, const exposures& open, const strategies& all)
        : rules_(rules), positions_(held), exposures_(open), strategies_(all) {}

    /// The reason why the limits of the order's account forbid it, or none.
    [[nodiscard]] domain::reject_reason check(const checked_order& o, const domain::instrument& i) const noexcept {
        using domain::reject_reason;
        const domain::account_limits& limits = rules_.limits(o.account);
        if (limits.order_quantity_max != 0 && o.total > limits.order_quantity_max)
            return reject_reason::order_size_limit;
        if (limits.notional_max != 0 && o.price != domain::no_price) {
            // Both factors are below 2^63, because the prices of a valid instrument fit in billionths.
            const base::int128 nano =
                static_cast<base::int128>(o.price.value < 0 ? -o.price.value : o.price.value) * i.tick_size.value;
            const base::int128 units = static_cast<base::int128>(o.total) * i.lot_size;
            if (nano * units > static_cast<base::int128>(limits.notional_max) * 1'000'000'000)
                return reject_reason::notional_limit;
        }
        if (limits.open_orders_max != 0 && o.opened != 0 &&
            std::uint64_t{exposures_.orders_count(o.account)} + o.opened > limits.open_orders_max) {
            return reject_reason::open_orders_limit;
        }
        if (limits.position_max != 0 && o.added != 0 && exceeds_position(o, limits.position_max)) {
            return reject_reason::position_limit;
        }
        return reject_reason::none;
    }

 private:
    /// Whether position and open orders of the account, with the added lots, could exceed `lots_max` in the book or in
    /// one of its legs.
    [[nodiscard]] bool exceeds_position(const checked_order& o, std::uint32_t lots_max) const noexcept {
        if (!strategies_.has_legs(o.book)) {
            return worst_position(o.account, o.book, o.position, o.side) + static_cast<std::int64_t>(o.added) >
                   lots_max;
        }
        const std::span<const strategy_leg> legs = strategies_.legs(o.book);
        return std::any_of(legs.begin(), legs.end(), [&](const strategy_leg& leg) {
            const std::uint32_t slot = positions_.find(o.account.value, leg.book);
            const auto added = static_cast<std::int64_t>(std::uint64_t{o.added} * leg.ratio);
            return worst_position(o.account, leg.book, slot, leg.side_of(o.side)) + added > lots_max;
        });
    }
    /// The largest position that the account's open orders, of the book and of strategies, could lead to in a book
    /// without legs.
    [[nodiscard]] std::int64_t worst_position(domain::account_id account, std::uint32_t book, std::uint32_t position,
                                              domain::side side) const noexcept {
        const exposure& open = exposures_[position];
        const std::int64_t lots = positions_[position].lots;
        std::int64_t worst = side == domain::side::buy ? lots + static_cast<std::int64_t>(open.open_buys)
                                                       : -lots + static_cast<std::int64_t>(open.open_sells);
        for (const std::uint32_t strategy : strategies_.uses(book)) {
            const std::uint32_t slot = positions_.find(account.value, strategy);
            if (slot == positions::none) continue;
            for (const strategy_leg& leg : strategies_.legs(strategy)) {
                if (leg.book != book) continue;
                const std::uint64_t lots_open =
                    leg.side == side ? exposures_[slot].open_buys : exposures_[slot].open_sells;
                worst += static_cast<std::int64_t>(lots_open * leg.ratio);
            }
        }
        return worst;
    }

    const account_rules& rules_;
    const positions& positions_;
    const exposures& exposures_;
    const strategies& strategies_;
};

/// Makes the account's positions in the legs of a strategy, where necessary. False when they do not all fit.
[[nodiscard, gnu::noinline]] inline bool acquire_legs(positions& held, const strategies& all,
                                                      domain::account_id account, std::uint32_t book) noexcept {
    for (const strategy_leg& leg : all.legs(book)) {
        if (held.acquire(account.value, leg.book) == positions::none) return false;
    }
    return true;
}
/// The slot of the account's position in a book, and those in its legs, made now if necessary. `none` when they do not
/// all fit.
[[nodiscard, gnu::always_inline]] inline std::uint32_t acquire_with_legs(positions& held, const strategies& all,
                                                                         domain::account_id account,
                                                                         std::uint32_t book) noexcept {
    const std::uint32_t own = held.acquire(account.value, book);
    if (!all.has_legs(book) || own == positions::none) [[likely]]
        return own;
    return acquire_legs(held, all, account, book) ? own : positions::none;
}

}  // namespace corro::risk
