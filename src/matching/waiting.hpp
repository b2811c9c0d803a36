// SPDX-License-Identifier: Apache-2.0
// Orders that wait outside the book for a trigger price: their queues, one per price, and the next one to trigger.
//
// Units: ticks and lots.
// Threads: none of its own.
// Cost: constant time per order, but for the first order at a trigger beyond the window of its side (logarithmic).
// Source: docs/spec/matching.md.
#pragma once

#include <cstdint>

#include "domain/types.hpp"
#include "matching/entry.hpp"
#include "matching/order_books.hpp"

namespace corro::matching::detail {

/// engine::wait.
inline domain::order_id wait(order_books& books, std::uint32_t book, std::uint32_t account, bool is_rising,
                             domain::price_ticks trigger, std::uint32_t quantity) noexcept {
    const std::uint32_t index = books.pool.acquire_order();
    books.link_account(index, account);
    const domain::side direction = is_rising ? domain::side::sell : domain::side::buy;
    books.queue(index, waiting_index(book, direction), key_of(direction, trigger), quantity);
    return books.pool.id_of(index);
}

/// engine::next_triggered.
[[nodiscard]] inline std::uint32_t next_triggered(const order_books& books, std::uint32_t book, domain::price_ticks low,
                                                  domain::price_ticks high) noexcept {
    for (const domain::side direction : {domain::side::sell, domain::side::buy}) {
        const price_ladder& ladder = books.sides[waiting_index(book, direction)];
        if (ladder.best_key() <= key_of(direction, direction == domain::side::sell ? high : low)) {
            return books.pool.slot_of(books.pool[ladder.best_level()].next);
        }
    }
    return none;
}

/// engine::wake.
inline void wake(order_books& books, std::uint32_t slot) noexcept {
    const std::uint32_t index = books.pool.index_of(slot);
    books.deduct(index, books.pool[index].order.open, true);
}

/// engine::wait_again.
inline void wait_again(order_books& books, std::uint32_t slot, std::uint32_t account, bool is_rising,
                       domain::price_ticks trigger, std::uint32_t quantity) noexcept {
    const std::uint32_t index = books.pool.index_of(slot);
    const std::uint32_t book = books.book_of(index);
    books.deduct(index, books.pool[index].order.open, true);
    if (account != account_of(books.pool[index])) books.change_account(index, account);
    const domain::side direction = is_rising ? domain::side::sell : domain::side::buy;
    books.queue(index, waiting_index(book, direction), key_of(direction, trigger), quantity);
}

/// engine::resize_waiting.
inline void resize_waiting(order_books& books, std::uint32_t slot, std::uint32_t quantity) noexcept {
    node& order = books.pool[books.pool.index_of(slot)];
    std::uint64_t& volume = books.pool[order.order.level].level.volume;
    volume = volume - order.order.open + quantity;
    order.order.open = quantity;
}

}  // namespace corro::matching::detail
