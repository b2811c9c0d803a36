// SPDX-License-Identifier: Apache-2.0
// Entry of an order: it is refused, or trades as far as its limit allows and its remainder rests or is cancelled.
//
// Units: ticks and lots; orders by index of their node.
// Threads: none of its own.
// Cost: constant time per fill; resting too, unless the price lies beyond the window of its side (logarithmic). The
//       check whether enough would trade, for a fill-or-kill order or a minimum quantity, takes at most fill_count_max
//       steps.
// Source: docs/spec/matching.md.
#pragma once

#include <cstdint>

#include "domain/reject_reason.hpp"
#include "matching/entry.hpp"
#include "matching/order_books.hpp"
#include "matching/price_ladder.hpp"
#include "matching/resting.hpp"
#include "matching/sharing.hpp"
#include "matching/sweep.hpp"

namespace corro::matching::detail {

/// engine::enter.
template <class Sink>
entry_result enter(order_books& books, const entry& e, Sink& sink) noexcept {
    const std::uint64_t key = key_of(e.side, e.price);
    const std::uint64_t limit = e.is_market ? price_ladder::no_key - 1 : mirrored(key);
    price_ladder& against = books.sides[side_index(e.book, e.side) ^ 1U];
    if (against.best_key() <= limit) {
        if (e.post_only) return refusal(domain::reject_reason::would_take_liquidity);
        const std::uint32_t wanted = e.rest == remainder::never_arises ? e.quantity.value : e.minimum;
        if (wanted != 0) [[unlikely]] {
            const domain::reject_reason reason = check_fill(books, against, e, limit, wanted);
            if (reason != domain::reject_reason::none) return refusal(reason);
        }
        const std::uint32_t index = books.pool.acquire_order();
        if (books.shares.shares(e.book)) [[unlikely]]
            return enter_shared(books, index, e, key, limit, false, sink);
        aggressor incoming = make_aggressor(index, e, limit, false);
        match(books, against, incoming, sink);
        return settle(books, e, key, incoming, false, sink);
    }
    if (e.rest != remainder::rests || e.minimum != 0) [[unlikely]] {
        return refusal(e.rest == remainder::never_arises || e.minimum != 0
                           ? domain::reject_reason::insufficient_quantity
                           : domain::reject_reason::no_counterparty);
    }
    const std::uint32_t index = books.pool.acquire_order();
    books.link_account(index, e.account);
    rest(books, index, e, key, e.quantity.value, sink);
    return {books.pool.id_of(index), outcome::rested, domain::reject_reason::none, e.quantity.value};
}

/// Enters an order that has left its level but not its account's ring.
template <class Sink>
entry_result enter_again(order_books& books, std::uint32_t index, const entry& e, Sink& sink) noexcept {
    const std::uint64_t key = key_of(e.side, e.price);
    const std::uint64_t limit = e.is_market ? price_ladder::no_key - 1 : mirrored(key);
    books.pool[index].order.account = e.account;
    if (books.shares.shares(e.book)) [[unlikely]]
        return enter_shared(books, index, e, key, limit, true, sink);
    aggressor incoming = make_aggressor(index, e, limit, true);
    match(books, books.sides[side_index(e.book, e.side) ^ 1U], incoming, sink);
    return settle(books, e, key, incoming, true, sink);
}

}  // namespace corro::matching::detail
