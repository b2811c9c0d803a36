// SPDX-License-Identifier: Apache-2.0
// Shared by participants: keeping a set of quotes in the book, trading at once, the time until an end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "market/agent.hpp"

namespace corro::market {

struct wanted_quote {
    domain::side side = domain::side::buy;
    domain::price_ticks price{};
    domain::quantity_lots lots{};
};

/// Cancels the agent's orders in the instrument that are not wanted, and enters the wanted ones that are missing,
/// post-only, which a phase that collects orders rejects: there they are plain. An order at a wanted price stays and
/// keeps its place. While no orders are accepted, what is there stays, because nothing could replace it.
inline void keep_quotes(agent& me, domain::instrument_id in, std::span<const wanted_quote> wanted) {
    const accepted_orders accepts = wanted.empty() ? accepted_orders::all : me.accepts(in);
    if (accepts == accepted_orders::none) return;
    std::vector<bool> is_there(wanted.size(), false);
    std::vector<request_number> unwanted;
    for (const known_order& each : me.orders()) {
        if (each.instrument != in || each.state == order_state::cancelling) continue;
        bool stays = false;
        for (std::size_t i = 0; i < wanted.size() && !stays; ++i) {
            if (is_there[i] || wanted[i].side != each.side || wanted[i].price != each.price) continue;
            is_there[i] = stays = true;
        }
        if (!stays && each.state == order_state::open) unwanted.push_back(each.number);
    }
    for (const request_number each : unwanted) me.cancel(each);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (is_there[i] || wanted[i].lots.value == 0) continue;
        const new_order order = limit(wanted[i].side, wanted[i].price, wanted[i].lots).on(in);
        me.enter(accepts == accepted_orders::all ? order.post_only() : order);
    }
}

/// The fees with which an agent reckons that counts them, and none for others.
[[nodiscard]] inline fee_ticks counted_fees(const agent& me, domain::instrument_id in, bool counts) noexcept {
    return counts ? me.fees(in) : fee_ticks{};
}

/// The best price for an order that is to rest, wanted at `ticks`: one tick behind the best of the other side where it
/// would trade.
[[nodiscard]] inline double behind_other_side(const book_view& book, domain::side which, double ticks) noexcept {
    const domain::price_ticks other = book.best(domain::opposite(which));
    if (other == domain::no_price) return ticks;
    const auto best = static_cast<double>(other.value);
    return which == domain::side::buy ? std::min(ticks, best - 1) : std::max(ticks, best + 1);
}

/// Cancels all open orders of the agent in the instrument.
inline void cancel_open(agent& me, domain::instrument_id in) {
    keep_quotes(me, in, {});
}

/// An immediate order up to a price some ticks beyond the best of the other side; while an auction collects, where such
/// orders are rejected, a limit order. Nothing if that side is empty, or while no orders are accepted.
inline void take(agent& me, domain::instrument_id in, domain::side side, domain::quantity_lots lots,
                 double reach_ticks) {
    const book_view& book = me.book(in);
    const domain::price_ticks best = book.best(domain::opposite(side));
    const accepted_orders accepts = me.accepts(in);
    if (best == domain::no_price || lots.value == 0 || accepts == accepted_orders::none) return;
    const double limit_ticks =
        static_cast<double>(best.value) + (side == domain::side::buy ? reach_ticks : -reach_ticks);
    const new_order order = limit(side, me.price_in(in, side, limit_ticks), lots).on(in);
    me.enter(accepts == accepted_orders::all ? order.ioc() : order);
}

/// Lots on their way or in the book on a side, as far as the agent knows.
[[nodiscard]] inline std::int64_t working_lots(const agent& me, domain::instrument_id in, domain::side side) noexcept {
    std::int64_t sum = 0;
    for (const known_order& each : me.orders()) {
        if (each.instrument == in && each.side == side) sum += each.open.value;
    }
    return sum;
}

[[nodiscard]] inline domain::quantity_lots lots_between(agent& me, std::int64_t least, std::int64_t most) {
    return domain::quantity_lots{static_cast<std::uint32_t>(me.random().between(least, most))};
}

}  // namespace corro::market
