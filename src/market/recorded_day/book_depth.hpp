// SPDX-License-Identifier: Apache-2.0
// Sums over a book, by a walk: how much stands up to a price, and how much stands before an order.
//
// Units: ticks, lots. Cost: a walk of the book.
#pragma once

#include <cstdint>

#include "facility/facility.hpp"

namespace corro::market {

/// The lots that an order of that side and limit can meet.
[[nodiscard]] inline std::uint64_t depth_up_to(const facility::facility& venue, domain::instrument_id instrument,
                                               domain::side side, domain::price_ticks limit) {
    struct walk final : facility::book_visitor {
        walk(domain::side of, domain::price_ticks up_to) : side(of), limit(up_to) {}
        void visit_level(domain::side of, const domain::level& level) override {
            if (of == side) return;
            if (side == domain::side::buy ? level.price <= limit : level.price >= limit) lots += level.quantity.value;
        }
        void visit_order(domain::side /*of*/, const facility::resting_order& /*each*/) override {}
        domain::side side;
        domain::price_ticks limit;
        std::uint64_t lots = 0;
    };
    const domain::top top = venue.top_of(instrument);
    const domain::price_ticks best = side == domain::side::buy ? top.ask_price : top.bid_price;
    if (best == domain::no_price || (side == domain::side::buy ? best > limit : best < limit)) return 0;
    walk all(side, limit);
    venue.visit_book(instrument, all);
    return all.lots;
}

/// The lots of other accounts that stand before an order of the account.
/// @param resting  The side of the book.
/// @param order    An order of `account`, by the name under which it was entered.
[[nodiscard]] inline std::uint64_t others_before(const facility::facility& venue, domain::instrument_id instrument,
                                                 domain::side resting, domain::account_id account,
                                                 domain::client_order_id order) {
    struct walk final : facility::book_visitor {
        walk(domain::side of, domain::account_id a, domain::client_order_id o) : side(of), account(a), order(o) {}
        void visit_level(domain::side /*of*/, const domain::level& /*level*/) override {}
        void visit_order(domain::side of, const facility::resting_order& each) override {
            if (of != side || found) return;
            if (each.account != account) {
                lots += each.open.value;
            } else if (each.client_order == order) {
                found = true;
            }
        }
        domain::side side;
        domain::account_id account;
        domain::client_order_id order;
        std::uint64_t lots = 0;
        bool found = false;
    };
    walk all(resting, account, order);
    venue.visit_book(instrument, all);
    return all.found ? all.lots : 0;
}

}  // namespace corro::market
