// SPDX-License-Identifier: Apache-2.0
// Resting orders and their calls to a sink: they come to rest, shrink, show their next part, and leave.
//
// Units: ticks and lots; orders by index of their node.
// Threads: none of its own.
// Cost: constant time per order, but for the first order at a price beyond the window of its side (logarithmic).
#pragma once

#include <cstdint>

#include "matching/core_events.hpp"
#include "matching/entry.hpp"
#include "matching/order_books.hpp"

namespace corro::matching::detail {

/// Rests an order that hides a part or belongs to a group.
template <class Sink>
[[gnu::noinline]] void rest_specially(order_books& books, std::uint32_t index, const entry& e, std::uint64_t key,
                                      std::uint32_t total, Sink& sink) noexcept {
    const std::uint32_t open = e.display != 0 && e.display < total ? e.display : total;
    const std::uint32_t hidden = total - open;
    books.pool[index].order.account = e.account | (e.display != 0 ? iceberg_bit : 0) | (e.group != 0 ? group_bit : 0);
    books.extras[books.pool.slot_of(index)] = {e.display, hidden, e.group};
    books.had_icebergs = books.had_icebergs || e.display != 0;
    const level_state level = books.queue(index, side_index(e.book, e.side), key, open);
    books.hidden_at(books.pool[index].order.level) += hidden;
    if (!books.shares.is_empty()) books.crown(index);
    sink.rested(books.change_of(index, open, open, hidden, 0, level));
}

/// Rests an order in the book.
template <class Sink>
[[gnu::always_inline]] inline void rest(order_books& books, std::uint32_t index, const entry& e, std::uint64_t key,
                                        std::uint32_t open, Sink& sink) noexcept {
    if ((e.display | e.group) != 0) [[unlikely]]
        return rest_specially(books, index, e, key, open, sink);
    const level_state level = books.queue(index, side_index(e.book, e.side), key, open);
    if (!books.shares.is_empty()) [[unlikely]]
        books.crown(index);
    sink.rested(books.change_of(index, open, open, 0, 0, level));
}

/// engine::add.
template <class Sink>
[[gnu::always_inline]] inline void add(order_books& books, std::uint32_t book, std::uint32_t account, domain::side side,
                                       domain::price_ticks price, std::uint32_t quantity, Sink& sink) noexcept {
    const std::uint32_t index = books.pool.acquire_order();
    books.link_account(index, account);
    const std::uint32_t ladder = side_index(book, side);
    const std::uint64_t key = key_of(side, price);
    const node& level = books.link_level(index, ladder, key, quantity);
    if (!books.shares.is_empty()) [[unlikely]]
        books.crown(index);
    const order_change change{.order = books.pool.id_of(index),
                              .slot = books.pool.slot_of(index),
                              .account = account,
                              .open = quantity,
                              .change = quantity,
                              .level = {.book = book,
                                        .side = side,
                                        .top_changed = key == books.sides[ladder].best_key(),
                                        .orders_count = level.level.orders_count,
                                        .price = price,
                                        .volume = level.level.volume}};
    if constexpr (requires { sink.entered(change); }) {
        sink.entered(change);
    } else {
        sink.rested(change);
    }
}

/// Returns the hidden lots of an order that leaves its level, and subtracts them from the level.
[[nodiscard]] inline std::uint32_t take_hidden(order_books& books, std::uint32_t index) noexcept {
    if ((books.pool[index].order.account & iceberg_bit) == 0) [[likely]]
        return 0;
    const std::uint32_t hidden = books.extras[books.pool.slot_of(index)].hidden;
    books.hidden_at(books.pool[index].order.level) -= hidden;
    return hidden;
}

/// Removes an order from the book; it stays in its account's ring.
template <class Sink>
[[gnu::always_inline]] inline void remove(order_books& books, std::uint32_t index, removal cause, Sink& sink) noexcept {
    const std::uint32_t open = books.pool[index].order.open;
    const std::uint32_t hidden = take_hidden(books, index);
    const level_state level = books.deduct(index, open, true);
    sink.removed(books.change_of(index, 0, open, 0, open + hidden, level), cause);
}

/// Takes `lots` from an order that has more; what is hidden goes first.
template <class Sink>
void shrink(order_books& books, std::uint32_t index, std::uint32_t lots, reduction cause, Sink& sink) noexcept {
    const std::uint32_t hidden = books.hidden_of(index);
    const std::uint32_t from_hidden = lots < hidden ? lots : hidden;
    if (from_hidden != 0) {
        books.extras[books.pool.slot_of(index)].hidden -= from_hidden;
        books.hidden_at(books.pool[index].order.level) -= from_hidden;
    }
    books.pool[index].order.open -= lots - from_hidden;
    const level_state level = books.deduct(index, lots - from_hidden, false);
    sink.reduced(
        books.change_of(index, books.pool[index].order.open, lots - from_hidden, hidden - from_hidden, lots, level),
        cause);
}

/// An iceberg whose shown part has traded shows the next, at the end of its level. Its hidden lots have left the level
/// with the part.
template <class Sink>
[[gnu::noinline]] void refresh(order_books& books, std::uint32_t index, std::uint32_t side, std::uint64_t key,
                               Sink& sink) noexcept {
    extra& part = books.extras[books.pool.slot_of(index)];
    const std::uint32_t shown = part.display < part.hidden ? part.display : part.hidden;
    part.hidden -= shown;
    const level_state level = books.queue(index, side, key, shown);
    books.hidden_at(books.pool[index].order.level) += part.hidden;
    sink.refreshed(books.change_of(index, shown, shown, part.hidden, 0, level));
}

/// engine::cancel_book.
template <class Wanted, class Sink>
void cancel_book(order_books& books, std::uint32_t book, Wanted&& wanted, Sink& sink, removal cause) noexcept {
    for (const std::uint32_t side : {0U, 1U, 2U, 3U}) {
        const price_ladder& ladder = books.sides[4 * book + side];
        for (keyed_index at{ladder.best_key(), ladder.best_level()}; at.index != 0;) {
            // The level is released with its last order, so the next one is looked up first.
            const keyed_index following = ladder.next_after(at.key);
            std::uint32_t left = books.pool[at.index].level.orders_count;
            for (std::uint32_t i = books.pool[at.index].next; left != 0; --left) {
                const std::uint32_t next = books.pool[i].next;
                if (wanted(books.pool.slot_of(i))) {
                    remove(books, i, cause, sink);
                    books.close(i);
                }
                i = next;
            }
            at = following;
        }
    }
}

/// engine::reduce.
template <class Sink>
void reduce(order_books& books, std::uint32_t slot, std::uint32_t open, Sink& sink) noexcept {
    const std::uint32_t index = books.pool.index_of(slot);
    shrink(books, index, books.view(index).total() - open, reduction::amended, sink);
}

/// engine::reshape.
template <class Sink>
void reshape(order_books& books, std::uint32_t slot, std::uint32_t open, std::uint32_t display, Sink& sink) noexcept {
    const std::uint32_t index = books.pool.index_of(slot);
    const order_view before = books.view(index);
    const std::uint32_t lots = before.total() - open;
    const std::uint32_t from_shown = lots > before.hidden ? lots - before.hidden : 0;
    const std::uint32_t shown_max = before.open - from_shown;
    const std::uint32_t shown = display != 0 && display < shown_max ? display : shown_max;
    books.pool[index].order.account |= iceberg_bit;
    books.extras[slot] = {display, open - shown, before.group};
    books.had_icebergs = true;
    books.pool[index].order.open = shown;
    std::uint64_t& hidden = books.hidden_at(books.pool[index].order.level);
    hidden = hidden - before.hidden + (open - shown);
    const level_state level = books.deduct(index, before.open - shown, false);
    sink.reduced(books.change_of(index, shown, before.open - shown, open - shown, lots, level), reduction::amended);
}

/// engine::cancel_account.
template <class Wanted, class Sink>
std::uint32_t cancel_account(order_books& books, std::uint32_t account, Wanted&& wanted, Sink& sink,
                             removal cause) noexcept {
    std::uint32_t count = 0;
    for (std::uint32_t at = books.pool[account].order.account_next; at != account;) {
        const std::uint32_t next = books.pool[at].order.account_next;
        __builtin_prefetch(&books.pool[next]);
        ++books.steps;
        if (wanted(books.pool.slot_of(at), books.book_of(at))) {
            remove(books, at, cause, sink);
            books.close(at);
            ++count;
        }
        at = next;
    }
    return count;
}

}  // namespace corro::matching::detail
