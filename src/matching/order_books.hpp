// SPDX-License-Identifier: Apache-2.0
// The engine's state: its books, the orders in them, and how an order enters and leaves a level.
//
// The engine's parts (resting.hpp, waiting.hpp, sweep.hpp, sharing.hpp, auction.hpp) are functions over these books;
// callers use only `engine`. Orders, levels and accounts are nodes of one pool, identified by index. An order is in
// the ring of its level, by priority, and in that of its account, by age.
//
// Units: ticks, lots, and keys of matching/book_keys.hpp, lower is better.
// Limits: as given in engine_options; matching/limits.hpp for the largest values.
// Threads: none of its own.
// Cost: memory is allocated at construction. Every member takes constant time unless stated otherwise, or
//       logarithmic time where the price lies beyond the window of its side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "domain/allocation.hpp"
#include "domain/types.hpp"
#include "matching/allocation.hpp"
#include "matching/book_keys.hpp"
#include "matching/core_events.hpp"
#include "matching/entry.hpp"
#include "matching/level_tree.hpp"
#include "matching/node_pool.hpp"
#include "matching/price_ladder.hpp"

namespace corro::matching::detail {

/// Data that few orders have, beside their nodes.
struct extra {
    std::uint32_t display = 0;
    std::uint32_t hidden = 0;
    std::uint64_t group = 0;
};

/// The members are public for the engine's parts, so only this layer may use the type.
struct order_books {
    explicit order_books(const engine_options& options)
        : pool(options.accounts_max, options.orders_max, options.touch),
          tree_pool(options.orders_max, 4 * std::size_t{options.books_count}, options.touch),
          extras(options.orders_max, options.touch, base::array_use::few_elements),
          hidden_lots(options.orders_max, options.touch, base::array_use::few_elements) {
        CORRO_ASSERT(options.books_count > 0 && options.books_count <= domain::instruments_max);
        const std::uint32_t bits =
            options.window_bits != 0 ? options.window_bits : default_window_bits(options.books_count);
        sides.reserve(4 * std::size_t{options.books_count});
        for (std::uint32_t i = 0; i < 4 * options.books_count; ++i) {
            const bool is_small = (i & waiting_bit) != 0 && bits > waiting_window_bits;
            sides.emplace_back(tree_pool, is_small ? waiting_window_bits : bits, i);
        }
    }
    order_books(const order_books&) = delete;
    order_books& operator=(const order_books&) = delete;

    // --- Reading --------------------------------------------------------------------------------------------------

    [[nodiscard]] std::uint32_t books_count() const noexcept { return static_cast<std::uint32_t>(sides.size() / 4); }
    [[nodiscard]] bool has_orders(std::uint32_t account) const noexcept {
        return pool[account].order.account_next != account;
    }
    /// Open orders of an account, waiting ones too.
    [[nodiscard]] std::uint32_t orders_count(std::uint32_t account) const noexcept { return pool[account].order.open; }
    /// The book of an order that rests or waits.
    [[nodiscard]] std::uint32_t book_of(std::uint32_t index) const noexcept {
        return pool[pool[index].order.level].level.side >> 2;
    }
    /// True if a resting order must not trade with an incoming one.
    [[nodiscard, gnu::always_inline]] bool is_own(std::uint32_t index, std::uint32_t mask, std::uint32_t value,
                                                  std::uint64_t group) const noexcept {
        if ((pool[index].order.account & mask) != value) [[likely]]
            return false;
        return group == 0 || extras[pool.slot_of(index)].group == group;
    }
    [[nodiscard]] bool has_own(std::uint32_t level, const aggressor& incoming) const noexcept {
        for (std::uint32_t i = pool[level].next; i != level; i = pool[i].next) {
            if (is_own(i, incoming.own_mask, incoming.own_value, incoming.group)) return true;
        }
        return false;
    }
    [[nodiscard]] std::uint32_t hidden_of(std::uint32_t index) const noexcept {
        if ((pool[index].order.account & iceberg_bit) == 0) [[likely]]
            return 0;
        return extras[pool.slot_of(index)].hidden;
    }
    [[nodiscard]] order_view view(std::uint32_t index) const noexcept {
        const node& n = pool[index];
        const std::uint32_t slot = pool.slot_of(index);
        const bool is_iceberg = (n.order.account & iceberg_bit) != 0;
        return {pool.id_of(index),
                slot,
                account_of(n),
                n.order.open,
                is_iceberg ? extras[slot].hidden : 0,
                is_iceberg ? extras[slot].display : 0,
                (n.order.account & group_bit) != 0 ? extras[slot].group : 0};
    }
    [[nodiscard, gnu::always_inline]] order_change change_of(std::uint32_t index, std::uint32_t open,
                                                             std::uint32_t change, std::uint32_t hidden,
                                                             std::uint32_t taken,
                                                             const level_state& level) const noexcept {
        return {pool.id_of(index), pool.slot_of(index), account_of(pool[index]), open, change, hidden, taken, level};
    }

    // --- Moving ---------------------------------------------------------------------------------------------------

    /// Makes an order the newest of an account.
    void link_account(std::uint32_t index, std::uint32_t account) noexcept {
        node* const nodes = pool.data();
        node& head = nodes[account];
        const std::uint32_t newest = head.order.account_prev;
        nodes[index].order.account = account;
        nodes[index].order.account_next = account;
        nodes[index].order.account_prev = newest;
        nodes[newest].order.account_next = index;
        head.order.account_prev = index;
        ++head.order.open;
    }
    void change_account(std::uint32_t index, std::uint32_t account) noexcept {
        const node& n = pool[index];
        --pool[account_of(n)].order.open;
        pool[n.order.account_prev].order.account_next = n.order.account_next;
        pool[n.order.account_next].order.account_prev = n.order.account_prev;
        link_account(index, account);
    }
    /// Closes an order that has left its level but is still in its account's ring.
    void close(std::uint32_t index) noexcept {
        node* const nodes = pool.data();
        const std::uint32_t next = nodes[index].order.account_next;
        const std::uint32_t prev = nodes[index].order.account_prev;
        nodes[prev].order.account_next = next;
        nodes[next].order.account_prev = prev;
        --nodes[account_of(nodes[index])].order.open;
        pool.release_order(index);
    }

    /// Puts an order at the end of the level at `key` of a ladder.
    [[gnu::always_inline]] level_state queue(std::uint32_t index, std::uint32_t side, std::uint64_t key,
                                             std::uint32_t open) noexcept {
        const node& level = link_level(index, side, key, open);
        return state_of(level, key == sides[side].best_key());
    }
    /// The same. Returns the level.
    [[gnu::always_inline]] const node& link_level(std::uint32_t index, std::uint32_t side, std::uint64_t key,
                                                  std::uint32_t open) noexcept {
        price_ladder& ladder = sides[side];
        level_tree::place where;
        std::uint32_t at = ladder.find(key, where);
        if (at == 0) {
            at = pool.acquire_level();
            node& fresh = pool[at];
            fresh.next = fresh.prev = at;
            fresh.level = {0, key, 0, side};
            ladder.insert(key, at, where);
        }
        node* const nodes = pool.data();
        node& level = nodes[at];
        node& order = nodes[index];
        const std::uint32_t last = level.prev;
        order.next = at;
        order.prev = last;
        order.order.level = at;
        order.order.open = open;
        nodes[last].next = index;
        level.prev = index;
        level.level.volume += open;
        ++level.level.orders_count;
        return level;
    }

    /// Subtracts `lots` from the order's level, and removes the order when it is `gone`. Returns the level's new state.
    [[gnu::always_inline]] level_state deduct(std::uint32_t index, std::uint32_t lots, bool gone) noexcept {
        node* const nodes = pool.data();
        const std::uint32_t at = nodes[index].order.level;
        node& level = nodes[at];
        price_ladder& ladder = sides[level.level.side];
        level_state state = state_of(level, level.level.key == ladder.best_key());
        state.volume -= lots;
        level.level.volume = state.volume;
        if (gone) {
            const std::uint32_t next = nodes[index].next;
            const std::uint32_t prev = nodes[index].prev;
            nodes[prev].next = next;
            nodes[next].prev = prev;
            level.level.orders_count = --state.orders_count;
            if (state.orders_count == 0) {
                ladder.erase(level.level.key);
                pool.release_level(at);
            }
        }
        return state;
    }

    /// An order that rests alone at the best price has improved the market: it becomes the top order if it is large
    /// enough; otherwise there is none.
    [[gnu::noinline]] void crown(std::uint32_t index) noexcept {
        const order_fields& order = pool[index].order;
        const level_fields& level = pool[order.level].level;
        const domain::allocation_policy& policy = shares.policy(level.side >> 2);
        const bool is_alone_at_best = level.orders_count == 1 && level.key == sides[level.side].best_key();
        if (!is_alone_at_best || !domain::has_top_order(policy.algorithm)) return;
        shares.top(level.side >> 2, side_of(level.side)) =
            order.open >= policy.top_minimum ? pool.id_of(index) : domain::order_id{};
    }
    void clear_top_order(std::uint32_t index) noexcept {
        const std::uint32_t side = pool[pool[index].order.level].level.side;
        domain::order_id& top = shares.top(side >> 2, side_of(side));
        if (top == pool.id_of(index)) top = {};
    }
    /// The hidden lots of all orders at a level.
    [[nodiscard]] std::uint64_t& hidden_at(std::uint32_t level) noexcept {
        return hidden_lots[level - pool.accounts_count()];
    }
    /// All lots at a level, displayed and hidden.
    [[nodiscard]] std::uint64_t lots_at(std::uint32_t level) const noexcept {
        return pool[level].level.volume + hidden_lots[level - pool.accounts_count()];
    }
    template <class Visit>
    void for_each_level_index(std::uint32_t book, domain::side side, Visit&& visit) const {
        const price_ladder& ladder = sides[side_index(book, side)];
        for (keyed_index at{ladder.best_key(), ladder.best_level()}; at.index != 0; at = ladder.next_after(at.key)) {
            visit(at.index);
        }
    }
    // --- Saving and loading ---------------------------------------------------------------------------------------

    /// engine::transfer.
    void transfer(base::archive& a) noexcept {
        const std::uint32_t levels = pool.transfer(a);
        a.sparse(
            sides.size(), [&](std::size_t i) { return sides[i].empty(); },
            [&](std::size_t i) { sides[i].transfer(a); });
        if (a.loads() && !a.failed()) restore_levels(a, levels);
        a.value(had_icebergs);
        shares.transfer(a);
        if (a.failed()) return;
        pool.for_each_open([&](std::uint32_t index) {
            const node& n = pool[index];
            a.require(account_of(n) < pool.accounts_count());
            if (a.failed()) return;
            if (a.loads()) ++pool[account_of(n)].order.open;
            if ((n.order.account & (iceberg_bit | group_bit)) != 0) a.value(extras[pool.slot_of(index)]);
            if (a.loads()) hidden_at(n.order.level) += hidden_of(index);
        });
    }

    node_pool pool;
    level_tree_pool tree_pool;
    std::vector<price_ladder> sides;
    base::large_array<extra> extras;               ///< by slot
    base::large_array<std::uint64_t> hidden_lots;  ///< by level, counted from the first: the hidden lots of its orders
    allocation_table shares;                       ///< empty as long as every book is first in, first out
    bool had_icebergs = false;                     ///< ever; kept for the snapshot's format alone
    /// Levels and orders that searches have read. Tests of the cost of a search use this number.
    mutable std::uint64_t steps = 0;

 private:
    void restore_levels(base::archive& a, std::uint32_t levels) noexcept {
        pool.for_each_level(levels, [&](std::uint32_t index) {
            const level_fields& level = pool[index].level;
            a.require(level.side < sides.size() && sides[level.side].restore(level.key, index));
        });
        for (const price_ladder& ladder : sides) a.require(ladder.is_sound());
    }
};
static_assert(sizeof(order_books) == 296, "`transfer` knows every member; then correct the size here");

}  // namespace corro::matching::detail
