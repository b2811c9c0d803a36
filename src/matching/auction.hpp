// SPDX-License-Identifier: Apache-2.0
// Auctions: the price at which most lots trade, and the trades at one price until the book is no longer
// crossed.
//
// Units: ticks and lots; orders by index of their node.
// Threads: none of its own.
// Cost: the price takes one step per level by which the ends of the curve move, the trades constant time each.
// Source: docs/spec/phases.md.
#pragma once

#include <cstdint>

#include "domain/types.hpp"
#include "matching/auction_curve.hpp"
#include "matching/core_events.hpp"
#include "matching/entry.hpp"
#include "matching/order_books.hpp"
#include "matching/resting.hpp"

namespace corro::matching::detail {

/// A level of one side, with the lots at it and before it.
struct curve_end {
    std::uint64_t key = 0;
    std::uint32_t index = 0;  ///< 0: there is none
    domain::side side = domain::side::buy;
    std::uint64_t total = 0;
    [[nodiscard]] std::int64_t price() const noexcept {
        const auto offset = static_cast<std::int64_t>(key - key_bias);
        return side == domain::side::sell ? offset : -offset;
    }
};
[[nodiscard]] inline curve_end after(const order_books& books, const price_ladder& ladder,
                                     const curve_end& before) noexcept {
    const keyed_index next = ladder.next_after(before.key);
    ++books.steps;
    if (next.index == 0) return {};
    return {next.key, next.index, before.side, before.total + books.lots_at(next.index)};
}

/// The price, from the last levels that trade on either side.
[[nodiscard]] inline equilibrium choose(const order_books& books, const price_ladder& bids, const price_ladder& asks,
                                        const curve_end& bid, const curve_end& ask,
                                        domain::price_ticks reference) noexcept {
    const auto surplus = [](std::uint64_t more, std::uint64_t less) { return static_cast<std::int64_t>(more - less); };
    if (bid.total > ask.total) {
        return {domain::price_ticks{bid.price()}, ask.total, surplus(bid.total, ask.total)};
    }
    if (ask.total > bid.total) {
        return {domain::price_ticks{ask.price()}, bid.total, -surplus(ask.total, bid.total)};
    }
    const std::uint64_t volume = bid.total;
    const auto nearest = [&](std::int64_t low, std::int64_t high) {
        if (reference == domain::no_price) return low + (high - low) / 2;
        return reference.value < low ? low : reference.value > high ? high : reference.value;
    };
    const curve_end next_bid = after(books, bids, bid);
    const curve_end next_ask = after(books, asks, ask);
    const auto above = [](const curve_end& b, std::int64_t low) {
        return b.index != 0 && b.price() + 1 > low ? b.price() + 1 : low;
    };
    const auto below = [](const curve_end& a, std::int64_t high) {
        return a.index != 0 && a.price() - 1 < high ? a.price() - 1 : high;
    };
    const std::int64_t low = above(next_bid, ask.price());
    const std::int64_t high = below(next_ask, bid.price());
    if (low <= high) return {domain::price_ticks{nearest(low, high)}, volume, 0};
    // The next bid and the next ask are one tick apart: at every price one of them is left over.
    const std::int64_t of_buyers = surplus(next_bid.total, volume);
    const std::int64_t of_sellers = surplus(next_ask.total, volume);
    if (of_buyers < of_sellers) return {domain::price_ticks{next_bid.price()}, volume, of_buyers};
    if (of_sellers < of_buyers) return {domain::price_ticks{next_ask.price()}, volume, -of_sellers};
    const std::int64_t price =
        nearest(above(after(books, bids, next_bid), ask.price()), below(after(books, asks, next_ask), bid.price()));
    return {domain::price_ticks{price}, volume, price <= next_bid.price() ? of_buyers : -of_sellers};
}

/// The end of one side of a curve, with its last level.
struct curve_walk {
    const order_books& books;
    const price_ladder& ladder;
    domain::side side;
    auction_curve::end& at;

    /// The last level that trades.
    [[nodiscard]] curve_end last() const noexcept {
        ++books.steps;
        const keyed_index level = ladder.last_up_to(at.key);
        at.key = level.key;
        return {level.key, level.index, side, at.lots};
    }
    /// The level behind it.
    [[nodiscard]] curve_end next() const noexcept {
        ++books.steps;
        const keyed_index level =
            at.levels == 0 ? keyed_index{ladder.best_key(), ladder.best_level()} : ladder.next_after(at.key);
        if (level.index == 0) return {};
        return {level.key, level.index, side, at.lots + books.lots_at(level.index)};
    }
    void extend_to(const curve_end& level) const noexcept { at = {level.key, level.total, at.levels + 1}; }
    /// Removes the last level from the curve.
    void drop(const curve_end& level) const noexcept {
        at = {level.key - 1, level.total - books.lots_at(level.index), at.levels - 1};
    }
    [[nodiscard]] std::uint64_t lots_before(const curve_end& level) const noexcept {
        return level.total - books.lots_at(level.index);
    }
};

/// Removes levels from the ends of a curve that do not trade.
inline void trim_to_crossing(const curve_walk& bids, const curve_walk& asks) noexcept {
    while (bids.at.levels != 0 && asks.at.levels != 0) {
        const curve_end bid = bids.last();
        const curve_end ask = asks.last();
        const std::uint64_t volume = bid.total < ask.total ? bid.total : ask.total;
        const std::uint64_t bids_before = bids.lots_before(bid);
        const std::uint64_t asks_before = asks.lots_before(ask);
        const bool is_apart = bid.price() < ask.price();
        // Of two last levels that do not meet, the one with more before it has nothing to trade with.
        const bool drops_bid = bids_before >= volume || (is_apart && bids_before >= asks_before);
        const bool drops_ask = asks_before >= volume || (is_apart && asks_before >= bids_before);
        if (!drops_bid && !drops_ask) return;
        if (drops_bid) bids.drop(bid);
        if (drops_ask) asks.drop(ask);
    }
    bids.at = asks.at = {};
}

/// engine::find_equilibrium.
[[nodiscard]] inline equilibrium find_equilibrium(const order_books& books, std::uint32_t book,
                                                  domain::price_ticks reference, std::uint32_t levels_max,
                                                  auction_curve& curve) noexcept {
    const price_ladder& bid_ladder = books.sides[side_index(book, domain::side::buy)];
    const price_ladder& ask_ladder = books.sides[side_index(book, domain::side::sell)];
    const curve_walk bids{books, bid_ladder, domain::side::buy, curve.ends[0]};
    const curve_walk asks{books, ask_ladder, domain::side::sell, curve.ends[1]};
    trim_to_crossing(bids, asks);
    for (;;) {
        if (bids.at.levels + asks.at.levels > levels_max) return {.is_known = false};
        const bool takes_bid = bids.at.lots <= asks.at.lots;
        const bool takes_ask = asks.at.lots <= bids.at.lots;
        const curve_end bid = takes_bid ? bids.next() : bids.last();
        const curve_end ask = takes_ask ? asks.next() : asks.last();
        if (bid.index == 0 || ask.index == 0 || bid.price() < ask.price()) break;
        if (takes_bid) bids.extend_to(bid);
        if (takes_ask) asks.extend_to(ask);
    }
    if (bids.at.levels == 0) return {};
    return choose(books, bid_ladder, ask_ladder, bids.last(), asks.last(), reference);
}

/// Takes lots of an auction's trade from an order at the head of its level.
[[nodiscard, gnu::always_inline]] inline crossing fill_at_auction(order_books& books, std::uint32_t index,
                                                                  std::uint32_t lots) noexcept {
    const std::uint32_t open = books.pool[index].order.open - lots;
    const std::uint32_t hidden = books.hidden_of(index);
    if (open == 0 && hidden != 0 && !books.shares.is_empty()) books.clear_top_order(index);
    books.pool[index].order.open = open;
    if (open == 0 && hidden != 0) books.hidden_at(books.pool[index].order.level) -= hidden;
    const level_state level = books.deduct(index, lots, open == 0);
    return {books.pool.id_of(index), books.pool.slot_of(index), open, hidden, level};
}

/// An order without displayed lots is closed, or shows its next part.
template <class Sink>
void finish_crossing(order_books& books, std::uint32_t index, const crossing& side, std::uint64_t key,
                     Sink& sink) noexcept {
    if (side.hidden == 0) {
        books.close(index);
    } else {
        refresh(books, index, level_side(side.level), key, sink);
    }
}

/// Prefetches what a trade of the order behind another one will touch, and the node of the one after it.
template <class Sink>
void prefetch_next_order(const order_books& books, std::uint32_t index, const Sink& sink) noexcept {
    const std::uint32_t orders_begin = books.pool.index_of(0);
    const std::uint32_t behind = books.pool[index].next;
    if (behind < orders_begin) return;  // the level itself
    books.pool.prefetch_neighbours(behind);
    const std::uint32_t next = books.pool[behind].next;
    if constexpr (requires { sink.expect(next, next); }) {
        sink.expect(books.pool.slot_of(behind), books.pool.slot_of(next < orders_begin ? behind : next));
    }
}

/// engine::uncross.
template <class Sink>
void uncross(order_books& books, std::uint32_t book, domain::price_ticks price, Sink& sink) noexcept {
    price_ladder& bids = books.sides[side_index(book, domain::side::buy)];
    price_ladder& asks = books.sides[side_index(book, domain::side::sell)];
    const std::uint64_t bid_limit = key_of(domain::side::buy, price);
    const std::uint64_t ask_limit = key_of(domain::side::sell, price);
    std::uint32_t buyer_before = 0;
    std::uint32_t seller_before = 0;
    while (bids.best_key() <= bid_limit && asks.best_key() <= ask_limit) {
        const std::uint32_t buyer = books.pool[bids.best_level()].next;
        const std::uint32_t seller = books.pool[asks.best_level()].next;
        if (buyer != buyer_before) prefetch_next_order(books, buyer, sink);
        if (seller != seller_before) prefetch_next_order(books, seller, sink);
        buyer_before = buyer;
        seller_before = seller;
        const std::uint64_t bid_key = bids.best_key();
        const std::uint64_t ask_key = asks.best_key();
        const std::uint32_t lots = books.pool[buyer].order.open < books.pool[seller].order.open
                                       ? books.pool[buyer].order.open
                                       : books.pool[seller].order.open;
        const cross now{.buyer = fill_at_auction(books, buyer, lots),
                        .seller = fill_at_auction(books, seller, lots),
                        .quantity = lots,
                        .price = price};
        sink.crossed(now);
        if (now.buyer.open == 0) finish_crossing(books, buyer, now.buyer, bid_key, sink);
        if (now.seller.open == 0) finish_crossing(books, seller, now.seller, ask_key, sink);
    }
}

}  // namespace corro::matching::detail
