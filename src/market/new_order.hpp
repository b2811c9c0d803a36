// SPDX-License-Identifier: Apache-2.0
// An order as an agent asks for it.
//
//     limit(side::buy, price_ticks{100}, quantity_lots{5}).on(instrument_id{2}).ioc()
#pragma once

#include "domain/order_instructions.hpp"
#include "domain/types.hpp"

namespace corro::market {

struct new_order {
    new_order(domain::order_type kind, domain::side which, domain::price_ticks at, domain::quantity_lots lots) noexcept
        : type(kind), side(which), price(at), quantity(lots) {}

    domain::order_type type;
    domain::side side;
    domain::time_in_force time_in_force = domain::time_in_force::day;
    domain::self_match_prevention self_match_prevention = domain::self_match_prevention::none;
    std::uint8_t flags = 0;  ///< domain::order_flag
    bool is_tracked = false;
    domain::instrument_id instrument{1};
    domain::price_ticks price;
    domain::quantity_lots quantity;
    domain::quantity_lots display_quantity{};

    [[nodiscard]] new_order on(domain::instrument_id other) const noexcept {
        return with(&new_order::instrument, other);
    }
    /// Trades at once what it can; the rest is cancelled.
    [[nodiscard]] new_order ioc() const noexcept { return with(&new_order::time_in_force, domain::time_in_force::ioc); }
    [[nodiscard]] new_order fok() const noexcept { return with(&new_order::time_in_force, domain::time_in_force::fok); }
    [[nodiscard]] new_order post_only() const noexcept {
        return with(&new_order::flags, static_cast<std::uint8_t>(flags | domain::order_flag::post_only));
    }
    /// Shows at most this many lots at a time.
    [[nodiscard]] new_order showing(domain::quantity_lots lots) const noexcept {
        return with(&new_order::display_quantity, lots);
    }
    [[nodiscard]] new_order preventing(domain::self_match_prevention how) const noexcept {
        return with(&new_order::self_match_prevention, how);
    }
    /// Its place in the queue is followed: agent::queue_ahead. Costs a walk of the book when the order rests.
    [[nodiscard]] new_order tracked() const noexcept { return with(&new_order::is_tracked, true); }

 private:
    template <class Member>
    [[nodiscard]] new_order with(Member new_order::* which, Member value) const noexcept {
        new_order changed = *this;
        changed.*which = value;
        return changed;
    }
};

[[nodiscard]] inline new_order limit(domain::side side, domain::price_ticks price,
                                     domain::quantity_lots lots) noexcept {
    return {domain::order_type::limit, side, price, lots};
}
[[nodiscard]] inline new_order at_market(domain::side side, domain::quantity_lots lots) noexcept {
    return {domain::order_type::market, side, domain::price_ticks{}, lots};
}

}  // namespace corro::market
