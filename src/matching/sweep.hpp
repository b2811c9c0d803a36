// SPDX-License-Identifier: Apache-2.0
// Matching of an incoming order with the other side, first in, first out, and the fate of its
// remainder.
//
// Units: lots and keys; orders by index of their node.
// Threads: none of its own.
// Cost: constant time per fill.
// Source: docs/spec/matching.md.
#pragma once

#include <cstdint>

#include "domain/command.hpp"
#include "domain/reject_reason.hpp"
#include "matching/core_events.hpp"
#include "matching/entry.hpp"
#include "matching/order_books.hpp"
#include "matching/resting.hpp"

namespace corro::matching::detail {

[[nodiscard]] inline entry_result refusal(domain::reject_reason reason) noexcept {
    return {{}, outcome::refused, reason, 0};
}

[[nodiscard, gnu::always_inline]] inline aggressor make_aggressor(std::uint32_t index, const entry& e,
                                                                  std::uint64_t limit, bool is_known) noexcept {
    const bool prevents = e.self_match != domain::self_match_prevention::none;
    const bool by_group = e.group != 0;
    return {.index = index,
            .account = e.account,
            .open = e.quantity.value,
            .limit = limit,
            .self_match = e.self_match,
            .group = e.group,
            .own_mask = by_group ? group_bit : account_mask,
            .own_value = !prevents  ? none
                         : by_group ? group_bit
                                    : e.account,
            .is_known = is_known,
            .is_linked = is_known};
}

inline void stop(aggressor& incoming, std::uint32_t taken_out) noexcept {
    incoming.is_stopped = true;
    incoming.taken_out = taken_out;
    incoming.open = 0;
}

/// The aggressor meets an own order: the aggressor's instruction decides (docs/spec/matching.md).
template <class Sink>
void prevent_self_match(order_books& books, std::uint32_t index, aggressor& incoming, Sink& sink) noexcept {
    using domain::self_match_prevention;
    const std::uint32_t resting_open = books.pool[index].order.open + books.hidden_of(index);
    if (incoming.self_match == self_match_prevention::cancel_newest) {
        stop(incoming, incoming.open);
        return;
    }
    if (incoming.self_match != self_match_prevention::decrement) {
        remove(books, index, removal::self_match_prevented, sink);
        books.close(index);
        if (incoming.self_match == self_match_prevention::cancel_both) stop(incoming, incoming.open);
        return;
    }
    const std::uint32_t lots = incoming.open < resting_open ? incoming.open : resting_open;
    if (lots == resting_open) {
        remove(books, index, removal::self_match_prevented, sink);
        books.close(index);
    } else {
        shrink(books, index, lots, reduction::self_match_prevented, sink);
    }
    if (lots == incoming.open) {
        stop(incoming, lots);
        return;
    }
    incoming.open -= lots;
    incoming.is_known = true;
    sink.aggressor_decremented(decrement{books.pool.id_of(incoming.index), books.pool.slot_of(incoming.index),
                                         incoming.account, incoming.open, lots});
}

/// Trades the aggressor against a side, best price first and oldest order first, as far as its limit allows.
///
/// Values that the fills at one level share are computed once. The sink receives the state of the level after
/// each fill.
template <class Sink>
[[gnu::always_inline]] inline void match(order_books& books, price_ladder& against, aggressor& incoming,
                                         Sink& sink) noexcept {
    node* const nodes = books.pool.data();
    fill now{.aggressor = books.pool.id_of(incoming.index),
             .aggressor_slot = books.pool.slot_of(incoming.index),
             .aggressor_account = incoming.account};
    const std::uint32_t own_mask = incoming.own_mask;
    const std::uint32_t own_value = incoming.own_value;
    while (incoming.open != 0 && against.best_key() <= incoming.limit) {
        const std::uint32_t at = against.best_level();
        const std::uint64_t key = against.best_key();
        node& level = nodes[at];
        now.level = state_of(level, true);
        for (;;) {
            const std::uint32_t index = level.next;
            node& resting = nodes[index];
            const std::uint32_t behind = resting.next;
            __builtin_prefetch(&nodes[behind]);
            if (books.is_own(index, own_mask, own_value, incoming.group)) [[unlikely]] {
                prevent_self_match(books, index, incoming, sink);
                if (incoming.is_stopped) return;
                break;  // the shared values may have changed
            }
            const std::uint32_t had = resting.order.open;
            const std::uint32_t lots = incoming.open < had ? incoming.open : had;
            incoming.open -= lots;
            now.quantity = lots;
            now.aggressor_open = incoming.open;
            now.resting = books.pool.id_of(index);
            now.resting_slot = books.pool.slot_of(index);
            now.resting_account = account_of(resting);
            now.resting_open = had - lots;
            now.resting_hidden = books.hidden_of(index);
            now.level.volume -= lots;
            level.level.volume = now.level.volume;
            if (lots != had) {  // then nothing of the aggressor is left
                resting.order.open = had - lots;
                incoming.is_known = true;
                sink.filled(now);
                return;
            }
            level.next = behind;
            nodes[behind].prev = at;
            level.level.orders_count = --now.level.orders_count;
            const bool was_last = now.level.orders_count == 0;
            if (was_last) {
                against.erase(key);
                books.pool.release_level(at);
            }
            incoming.is_known = true;
            sink.filled(now);
            if (now.resting_hidden == 0) [[likely]] {
                books.close(index);
            } else {
                books.hidden_at(at) -= now.resting_hidden;  // though the level may be gone
                refresh(books, index, level_side(now.level), key, sink);
                break;
            }
            if (was_last || incoming.open == 0) break;
        }
    }
}

/// Decides the fate of an order after it has traded. An amended order is still in its account's ring.
template <class Sink>
entry_result settle(order_books& books, const entry& e, std::uint64_t key, const aggressor& incoming, bool is_linked,
                    Sink& sink) noexcept {
    const std::uint32_t index = incoming.index;
    const domain::order_id id = books.pool.id_of(index);
    if (incoming.open != 0 && e.rest == remainder::rests) {
        if (!is_linked) books.link_account(index, e.account);
        rest(books, index, e, key, incoming.open, sink);
        return {id, outcome::rested, domain::reject_reason::none, incoming.open};
    }
    entry_result result{id, outcome::filled, domain::reject_reason::none, 0};
    if (incoming.is_stopped || incoming.open != 0) {
        result.reason =
            incoming.is_stopped ? domain::reject_reason::self_match_prevented : domain::reject_reason::no_counterparty;
        result.what = incoming.is_known ? outcome::cancelled : outcome::refused;
        result.quantity = incoming.is_stopped ? incoming.taken_out : incoming.open;
    }
    if (is_linked) {
        books.close(index);
    } else if (incoming.is_known) {
        books.pool.release_order(index);
    } else {
        books.pool.return_order(index);
        result.order = {};
    }
    return result;
}

/// Whether an order would trade `wanted` lots at once, with the effects of its self-match instruction: the reject
/// reason, or none. Reads at most fill_count_max levels or orders.
[[nodiscard]] inline domain::reject_reason check_fill(const order_books& books, const price_ladder& against,
                                                      const entry& e, std::uint64_t limit,
                                                      std::uint64_t wanted) noexcept {
    using domain::reject_reason;
    using domain::self_match_prevention;
    const bool meets_itself =
        e.self_match != self_match_prevention::none && (e.group != 0 || books.has_orders(e.account));
    const bool skips_own = e.self_match == self_match_prevention::cancel_resting;
    // With an allocation policy own orders come before all others, so the whole level is read.
    const bool own_come_first = meets_itself && !skips_own && books.shares.shares(e.book);
    const aggressor incoming = make_aggressor(0, e, limit, false);
    std::uint32_t left = fill_count_max;
    for (keyed_index at{against.best_key(), against.best_level()}; at.index != 0 && at.key <= limit;
         at = against.next_after(at.key)) {
        const node& level = books.pool[at.index];
        const std::uint32_t steps = own_come_first ? level.level.orders_count : 1;
        if (steps > left) return reject_reason::count_limit;
        if (!meets_itself || own_come_first) {
            left -= steps;
            books.steps += steps;
            if (own_come_first && books.has_own(at.index, incoming)) return reject_reason::insufficient_quantity;
            const std::uint64_t lots = books.lots_at(at.index);
            if (lots >= wanted) return reject_reason::none;
            wanted -= lots;
            continue;
        }
        std::uint64_t hidden = 0;  // shown after all lots that the level shows now
        for (std::uint32_t i = level.next; i != at.index; i = books.pool[i].next) {
            if (left == 0) return reject_reason::count_limit;
            --left;
            ++books.steps;
            if (books.is_own(i, incoming.own_mask, incoming.own_value, e.group)) {
                if (skips_own) continue;
                return reject_reason::insufficient_quantity;
            }
            if (books.pool[i].order.open >= wanted) return reject_reason::none;
            wanted -= books.pool[i].order.open;
            hidden += books.hidden_of(i);
        }
        if (hidden >= wanted) return reject_reason::none;
        wanted -= hidden;
    }
    return reject_reason::insufficient_quantity;
}

}  // namespace corro::matching::detail
