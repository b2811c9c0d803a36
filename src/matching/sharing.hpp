// SPDX-License-Identifier: Apache-2.0
// Trading in a book whose orders at one price share by a policy (matching/allocation.hpp).
//
// Units: lots and keys; orders by index of their node.
// Limits: as many claims as the engine has orders.
// Threads: none of its own.
// Cost: per price level that it reaches, as `share_out` for all orders there.
// Source: docs/spec/allocation.md.
#pragma once

#include <cstdint>
#include <span>

#include "domain/types.hpp"
#include "matching/allocation.hpp"
#include "matching/core_events.hpp"
#include "matching/entry.hpp"
#include "matching/order_books.hpp"
#include "matching/resting.hpp"
#include "matching/sweep.hpp"

namespace corro::matching::detail {

/// Applies the aggressor's self-match instruction to all its own orders at a level, oldest first. True if there were
/// any; the level may then be gone.
template <class Sink>
[[nodiscard]] bool prevent_at(order_books& books, std::uint32_t at, aggressor& incoming, Sink& sink) noexcept {
    bool met = false;
    for (std::uint32_t i = books.pool[at].next; i != at && !incoming.is_stopped;) {
        const std::uint32_t next = books.pool[i].next;
        if (books.is_own(i, incoming.own_mask, incoming.own_value, incoming.group)) {
            prevent_self_match(books, i, incoming, sink);
            met = true;
        }
        i = next;
    }
    return met;
}

/// Trades every claim's share at a level.
template <class Sink>
void trade_shares(order_books& books, price_ladder& against, std::uint32_t at, std::span<const claim> claims,
                  aggressor& incoming, Sink& sink) noexcept {
    node* const nodes = books.pool.data();
    node& level = nodes[at];
    const std::uint64_t key = level.level.key;
    fill now{.aggressor = books.pool.id_of(incoming.index),
             .aggressor_slot = books.pool.slot_of(incoming.index),
             .aggressor_account = incoming.account,
             .level = state_of(level, true)};
    incoming.is_known = true;
    for (const claim& c : claims) {
        if (c.share == 0) continue;
        const std::uint32_t index = c.index;
        incoming.open -= c.share;
        now.quantity = c.share;
        now.aggressor_open = incoming.open;
        now.resting = books.pool.id_of(index);
        now.resting_slot = books.pool.slot_of(index);
        now.resting_account = c.account;
        now.resting_open = c.open - c.share;
        now.resting_hidden = books.hidden_of(index);
        now.level.volume -= c.share;
        level.level.volume = now.level.volume;
        if (now.resting_open != 0) {
            nodes[index].order.open = now.resting_open;
            sink.filled(now);
            continue;
        }
        const std::uint32_t next = nodes[index].next;
        const std::uint32_t prev = nodes[index].prev;
        nodes[prev].next = next;
        nodes[next].prev = prev;
        level.level.orders_count = --now.level.orders_count;
        if (now.resting_hidden != 0) books.hidden_at(at) -= now.resting_hidden;
        if (now.level.orders_count == 0) {
            against.erase(key);
            books.pool.release_level(at);
        }
        if (now.resting_hidden == 0) {
            sink.filled(now);
            books.close(index);
        } else {
            books.clear_top_order(index);
            sink.filled(now);
            refresh(books, index, level_side(now.level), key, sink);
            now.level = state_of(level, true);  // not read after the last claim, when the level is another one
        }
    }
}

/// Trades the aggressor against a side of a book with a policy, best price first. At each price the aggressor's
/// self-match instruction comes first. Then the shares are computed from the displayed lots and traded, the
/// oldest order first and each once. The next parts of icebergs are shared again.
template <class Sink>
void match_shared(order_books& books, price_ladder& against, aggressor& incoming, std::uint32_t book,
                  Sink& sink) noexcept {
    while (incoming.open != 0 && against.best_key() <= incoming.limit) {
        const std::uint32_t at = against.best_level();
        if (incoming.own_value != none && prevent_at(books, at, incoming, sink)) {
            if (incoming.is_stopped) return;
            continue;
        }
        const node& level = books.pool[at];
        const bool takes_all = incoming.open >= level.level.volume;
        const domain::order_id top_id = books.shares.top(book, side_of(level.level.side));
        claim* top = nullptr;
        std::uint32_t count = 0;
        for (std::uint32_t i = level.next; i != at; i = books.pool[i].next) {
            const node& n = books.pool[i];
            __builtin_prefetch(&books.pool[n.next]);
            claim& c = books.shares.claim_at(count++);
            c = {i, account_of(n), n.order.open, takes_all ? n.order.open : 0};
            if (books.pool.id_of(i) == top_id) top = &c;
        }
        const std::span<claim> claims = books.shares.claims(count);
        if (!takes_all) share_out(books.shares.policy(book), claims, top, incoming.open, books.shares.ranks());
        trade_shares(books, against, at, claims, incoming, sink);
    }
}

/// `enter` and `enter_again` for a book with a policy. Takes the entry by value, so that books without a policy can
/// keep theirs in registers.
template <class Sink>
[[gnu::noinline]] entry_result enter_shared(order_books& books, std::uint32_t index, entry e, std::uint64_t key,
                                            std::uint64_t limit, bool is_linked, Sink& sink) noexcept {
    aggressor incoming = make_aggressor(index, e, limit, is_linked);
    match_shared(books, books.sides[side_index(e.book, e.side) ^ 1U], incoming, e.book, sink);
    return settle(books, e, key, incoming, is_linked, sink);
}

}  // namespace corro::matching::detail
