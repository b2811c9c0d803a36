// SPDX-License-Identifier: Apache-2.0
// The engine's memory: one array of 32-byte nodes, two to a cache line, linked by 32-bit indices.
//
// Accounts, price levels and orders share the index space and the link fields, so that removing an order from a ring
// is two stores without a branch: the level is the sentinel of its FIFO ring, the account of the ring of its orders.
//
// Layout: [0, accounts) account nodes, then `orders` level nodes, then, from an even index on, two nodes per order: the
//         order's, and the place of its record (matching/order_record.hpp) in the same cache line. Snapshots number an
//         order as one node.
// Limits: matching/limits.hpp. There are as many levels as orders, so levels never run out first. An order node whose
//         generations are used up is never used again, so that no id is given twice.
// Threads: none of its own.
//
// Nodes that were never used are in no list: a released node is used first, then the first one that never was. A
// newly made node is all zeros.
//
// Cost: one allocation at construction, which touches every page of the orders and of the first levels unless
// `page_touch::no` is passed; O(1) to acquire and release.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "domain/types.hpp"
#include "matching/limits.hpp"
#include "matching/order_record.hpp"

namespace corro::matching {

/// The data of an order that matching, cancelling and reducing need.
struct order_fields {
    std::uint32_t level;       ///< index of its level
    std::uint32_t open;        ///< lots; of an account node: how many orders are in its ring
    std::uint32_t account;     ///< index of its account node
    std::uint32_t generation;  ///< odd while the order is open; part of its id
    std::uint32_t
        account_next;  ///< ring of the account's orders, oldest first; an account node has only these two and `open`
    std::uint32_t account_prev;
};

struct level_fields {
    std::uint64_t volume;        ///< sum of the open lots
    std::uint64_t key;           ///< see matching/limits.hpp
    std::uint32_t orders_count;  ///< length of the ring
    std::uint32_t side;          ///< the number of its ladder, see matching/book_keys.hpp
};

struct node {
    std::uint32_t next;  ///< FIFO ring of a level, oldest first; of a released node: the one released before it, or 0
    std::uint32_t prev;
    union {
        order_fields order;
        level_fields level;
    };
};
static_assert(sizeof(node) == 32, "two nodes in a cache line");

class node_pool {
 public:
    node_pool(std::uint32_t accounts, std::uint32_t orders, base::page_touch touch = base::page_touch::yes)
        : nodes_(std::size_t{even(accounts + orders)} + 2 * std::size_t{orders},
                 touch == base::page_touch::yes ? base::page_touch::no : touch),  // what is touched is chosen here
          levels_begin_(accounts),
          orders_begin_(even(accounts + orders)),
          orders_capacity_(orders) {
        CORRO_ASSERT(accounts > 0 && accounts <= accounts_max && orders > 0 && orders <= orders_max);
        if (touch == base::page_touch::yes) {
            nodes_.touch(0, std::size_t{accounts} + orders / base::first_elements_divisor);
            nodes_.touch(orders_begin_, 2 * std::size_t{orders});
        }
        for (std::uint32_t i = 0; i < accounts; ++i) nodes_[i].order = {0, 0, i, 0, i, i};
        levels_fresh_ = levels_begin_;
        orders_fresh_ = orders_begin_;
        orders_free_count_ = orders;
    }

    [[nodiscard]] node& operator[](std::uint32_t index) noexcept { return nodes_[index]; }
    [[nodiscard]] const node& operator[](std::uint32_t index) const noexcept { return nodes_[index]; }
    /// The array itself, for loops over many nodes; it never moves.
    [[nodiscard]] node* data() noexcept { return nodes_.data(); }
    [[nodiscard]] std::uint32_t accounts_count() const noexcept { return levels_begin_; }
    [[nodiscard]] std::uint32_t orders_capacity() const noexcept { return orders_capacity_; }
    [[nodiscard]] std::uint32_t orders_free_count() const noexcept { return orders_free_count_; }
    /// Order nodes that are never used again.
    [[nodiscard]] std::uint32_t orders_retired_count() const noexcept { return orders_retired_count_; }
    [[nodiscard]] std::uint32_t orders_open_count() const noexcept {
        return orders_capacity() - orders_free_count_ - orders_retired_count_;
    }
    /// For tests: as if each order node had been used and released `times` times. @pre No node was used (asserted).
    void age(std::uint32_t times) noexcept {
        CORRO_ASSERT(orders_fresh_ == orders_begin_ && times < retired / 2);
        for (std::uint32_t i = 0; i < orders_capacity(); ++i) nodes_[index_of(i)].order.generation = 2 * times;
    }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return nodes_.size() * sizeof(node); }

    /// An order's slot: dense from 0, for arrays that lie in parallel to the orders.
    [[nodiscard]] std::uint32_t slot_of(std::uint32_t index) const noexcept { return (index - orders_begin_) / 2; }
    [[nodiscard]] std::uint32_t index_of(std::uint32_t slot) const noexcept { return 2 * slot + orders_begin_; }
    [[nodiscard]] order_records records() noexcept {
        return order_records(reinterpret_cast<order_record*>(nodes_.data() + orders_begin_ + 1));
    }
    [[nodiscard]] domain::order_id id_of(std::uint32_t index) const noexcept {
        return make_id(nodes_[index].order.generation, slot_of(index));
    }
    /// The slot of the order that is acquired next. @pre There is a free one.
    [[nodiscard]] std::uint32_t next_slot() const noexcept {
        return slot_of(order_free_ != 0 ? order_free_ : orders_fresh_);
    }
    /// The id of the order that is acquired next, or `ahead` orders later; 0 when there are not enough free ones.
    [[nodiscard]] domain::order_id next_id(std::uint32_t ahead = 0) const noexcept {
        if (orders_free_count_ <= ahead) return domain::order_id{};
        std::uint32_t free = order_free_;
        std::uint32_t fresh = orders_fresh_;
        const auto take_fresh = [&] {
            free = fresh;
            fresh += 2;
        };
        if (free == 0) take_fresh();
        for (std::uint32_t i = 0; i < ahead; ++i) {
            free = free < orders_fresh_ ? nodes_[free].next : 0;
            if (free == 0) take_fresh();
        }
        return make_id(nodes_[free].order.generation + 1, slot_of(free));
    }
    /// The node of an open order, or 0 if the id is not that of an open order.
    [[nodiscard]] std::uint32_t find(domain::order_id id) const noexcept {
        const auto slot = static_cast<std::uint32_t>(id.value);
        const auto generation = static_cast<std::uint32_t>(id.value >> 32);
        if (slot >= orders_capacity() || (generation & 1) == 0) return 0;
        const std::uint32_t index = index_of(slot);
        return nodes_[index].order.generation == generation ? index : 0;
    }
    /// True if the id was that of an order that is closed now.
    [[nodiscard]] bool was_issued(domain::order_id id) const noexcept {
        const auto slot = static_cast<std::uint32_t>(id.value);
        const auto generation = static_cast<std::uint32_t>(id.value >> 32);
        return slot < orders_capacity() && (generation & 1) != 0 &&
               generation < nodes_[index_of(slot)].order.generation;
    }

    /// Prefetches the neighbours of an open order's node.
    void prefetch_neighbours(std::uint32_t index) const noexcept {
        const node& n = nodes_[index];
        for (const std::uint32_t linked : {n.next, n.prev, n.order.level, n.order.account_next, n.order.account_prev}) {
            __builtin_prefetch(&nodes_[linked], 1);
        }
    }

    /// Takes a free order node; its generation becomes odd.
    [[nodiscard, gnu::always_inline]] std::uint32_t acquire_order() noexcept {
        CORRO_ASSERT(orders_free_count_ != 0, "the caller must check orders_free_count first");
        std::uint32_t index = order_free_;
        if (index != 0) [[likely]] {
            order_free_ = nodes_[index].next;
        } else {
            index = orders_fresh_;
            orders_fresh_ += 2;
        }
        --orders_free_count_;
        ++nodes_[index].order.generation;
        return index;
    }
    /// Releases a closed order's node; its id is never used again.
    void release_order(std::uint32_t index) noexcept {
        if (++nodes_[index].order.generation == retired) [[unlikely]] {
            ++orders_retired_count_;
            return;
        }
        push_order(index);
        ++orders_free_count_;
    }
    /// Releases a node whose id no event has reported; the next order gets the same id.
    void return_order(std::uint32_t index) noexcept {
        --nodes_[index].order.generation;
        push_order(index);
        ++orders_free_count_;
    }
    [[nodiscard]] std::uint32_t acquire_level() noexcept {
        const std::uint32_t index = level_free_;
        if (index == 0) [[unlikely]]
            return levels_fresh_++;
        level_free_ = nodes_[index].next;
        return index;
    }
    void release_level(std::uint32_t index) noexcept {
        nodes_[index].next = level_free_;
        level_free_ = index;
    }

    /// Calls `visit(index)` for every open order, in the order of their slots.
    template <class Visit>
    void for_each_open(Visit&& visit) const {
        for (std::uint32_t i = orders_begin_, left = orders_open_count(); left != 0; i += 2) {
            if (!is_open(i)) continue;
            visit(i);
            --left;
        }
    }
    /// Calls `visit(index)` for every level in use among the first `touched` ones.
    template <class Visit>
    void for_each_level(std::uint32_t touched, Visit&& visit) const {
        for (std::uint32_t i = levels_begin_; i < levels_begin_ + touched; ++i) {
            if (is_level(i)) visit(i);
        }
    }
    /// Saves all nodes in use and both lists of free ones, or loads them into a newly made pool. Returns the number of
    /// levels that were ever in use. Checks that every ring is closed and every index in range.
    std::uint32_t transfer(base::archive& a) noexcept {
        a.sparse(
            levels_begin_, [&](std::size_t i) { return nodes_[i].order.account_next == i; },
            [&](std::size_t i) { transfer_links(a, nodes_[i].order.account_next, nodes_[i].order.account_prev); });
        const auto is_open_or_retired = [&](std::uint32_t i) { return is_open(i) || is_retired(i); };
        const auto is_level_in_use = [&](std::uint32_t i) { return is_level(i); };
        const auto is_new_order = [&](std::uint32_t i) { return nodes_[i].order.generation == 0; };
        const auto is_new_level = [&](std::uint32_t i) { return !is_level(i); };
        const std::uint32_t orders =
            a.count(touched_count(orders_begin_, orders_fresh_, 2, is_new_order), orders_capacity());
        const std::uint32_t levels =
            a.count(touched_count(levels_begin_, levels_fresh_, 1, is_new_level), orders_capacity());
        for (std::uint32_t slot = 0; slot < orders; ++slot) {
            node& n = nodes_[index_of(slot)];
            a.value(n.order.generation);
            if (!is_open(index_of(slot))) continue;
            transfer_links(a, n.next, n.prev);
            a.value(n.order.level, n.order.open, n.order.account);
            transfer_links(a, n.order.account_next, n.order.account_prev);
        }
        for (std::uint32_t i = levels_begin_; i < levels_begin_ + levels; ++i) {
            node& n = nodes_[i];
            a.value(n.level.orders_count);
            if (!is_level(i)) continue;
            transfer_links(a, n.next, n.prev);
            a.value(n.level.volume, n.level.key, n.level.side);
        }
        const std::uint32_t orders_free =
            transfer_free(a, order_free_, orders_fresh_, orders_begin_, orders, 2, is_open_or_retired);
        transfer_free(a, level_free_, levels_fresh_, levels_begin_, levels, 1, is_level_in_use);
        if (a.loads() && !a.failed()) {
            orders_free_count_ = orders_free + orders_capacity() - orders;
            for (std::uint32_t i = 0; i < orders; ++i) orders_retired_count_ += is_retired(index_of(i)) ? 1U : 0U;
            a.require(rings_are_closed(orders, levels));
        }
        return levels;
    }

 private:
    [[nodiscard]] bool is_open(std::uint32_t index) const noexcept { return (nodes_[index].order.generation & 1) != 0; }
    [[nodiscard]] bool is_retired(std::uint32_t index) const noexcept {
        return nodes_[index].order.generation == retired;
    }
    /// A level without orders is released at once.
    [[nodiscard]] bool is_level(std::uint32_t index) const noexcept { return nodes_[index].level.orders_count != 0; }

    [[nodiscard]] static constexpr std::uint32_t even(std::uint32_t number) noexcept { return number + (number & 1); }
    /// Whether the index is that of one of the first `touched` orders.
    [[nodiscard]] bool is_order(std::uint32_t index, std::uint32_t touched) const noexcept {
        return index >= orders_begin_ && (index - orders_begin_) % 2 == 0 && slot_of(index) < touched;
    }

    /// Saves an index, or loads it. A loaded one may be any number.
    void transfer_index(base::archive& a, std::uint32_t& index) const noexcept {
        // As if an order had one node and no node lay unused between levels and orders.
        const std::uint32_t begin = levels_begin_ + orders_capacity_;
        std::uint32_t saved = index < orders_begin_ ? index : begin + slot_of(index);
        a.value(saved);
        if (a.loads()) index = saved < begin ? saved : index_of(saved - begin);
    }
    void transfer_links(base::archive& a, std::uint32_t& next, std::uint32_t& prev) const noexcept {
        transfer_index(a, next);
        transfer_index(a, prev);
    }

    /// The number of nodes of a kind before the free ones at its end that are in their original order: never used, or
    /// returned as if never used. The never used ones begin at `end`.
    ///
    /// @param step  Nodes of one of the kind.
    template <class IsNew>
    [[nodiscard]] std::uint32_t touched_count(std::uint32_t begin, std::uint32_t end, std::uint32_t step,
                                              IsNew&& is_new) const noexcept {
        for (std::uint32_t behind = 0; end != begin && is_new(end - step) && nodes_[end - step].next == behind;
             end -= step) {
            behind = end - step;
        }
        return (end - begin) / step;
    }
    /// Saves or loads the list of free nodes among the first `touched` ones of a kind. Returns their number.
    template <class IsUsed>
    std::uint32_t transfer_free(base::archive& a, std::uint32_t& head, std::uint32_t& fresh, std::uint32_t begin,
                                std::uint32_t touched, std::uint32_t step, IsUsed&& is_used) noexcept {
        const std::uint32_t end = begin + touched * step;
        std::uint32_t free = 0;
        for (std::uint32_t i = begin; i < end; i += step) free += is_used(i) ? 0U : 1U;
        std::uint32_t* link = &head;
        for (std::uint32_t i = 0; i < free; ++i) {
            std::uint32_t index = *link;
            transfer_index(a, index);
            if (a.loads()) {
                // A free node does not use `prev`, so it can mark the nodes that are in the list already.
                const bool is_sound = index >= begin && index < end && (index - begin) % step == 0 && !is_used(index) &&
                                      nodes_[index].prev != is_listed;
                a.require(is_sound);
                if (a.failed()) return 0;
                nodes_[index].prev = is_listed;
                *link = index;
            }
            link = &nodes_[index].next;
        }
        const std::uint32_t rest = end == fresh ? 0 : end;
        CORRO_ASSERT(a.loads() || *link == rest, "a level without orders is free, an order of even generation too");
        if (a.loads()) {
            *link = 0;
            fresh = end;
        }
        return free;
    }
    [[nodiscard]] bool rings_are_closed(std::uint32_t orders, std::uint32_t levels) const noexcept {
        const auto is_open_order = [&](std::uint32_t i) { return is_order(i, orders) && is_open(i); };
        const auto is_in_queue = [&](std::uint32_t i) {
            return is_open_order(i) || (i - levels_begin_ < levels && is_level(i));
        };
        const auto is_queued = [&](std::uint32_t i) {
            const node& n = nodes_[i];
            return is_in_queue(n.next) && is_in_queue(n.prev) && nodes_[n.next].prev == i && nodes_[n.prev].next == i;
        };
        const auto is_owned = [&](std::uint32_t i) {
            const std::uint32_t next = nodes_[i].order.account_next;
            const std::uint32_t prev = nodes_[i].order.account_prev;
            return (next < levels_begin_ || is_open_order(next)) && (prev < levels_begin_ || is_open_order(prev)) &&
                   nodes_[next].order.account_prev == i && nodes_[prev].order.account_next == i;
        };
        bool sound = true;
        for (std::uint32_t i = 0; i < levels_begin_; ++i) sound = sound && is_owned(i);
        for_each_level(levels, [&](std::uint32_t i) { sound = sound && is_queued(i); });
        for (std::uint32_t slot = 0; slot < orders && sound; ++slot) {
            const std::uint32_t i = index_of(slot);
            const std::uint32_t level = nodes_[i].order.level;
            if (is_open(i)) sound = is_queued(i) && is_owned(i) && level - levels_begin_ < levels && is_level(level);
        }
        return sound;
    }

    static constexpr std::uint32_t is_listed = 0xffffffffU;
    /// The generation of a used-up node: even, and the next but one would be the first again.
    static constexpr std::uint32_t retired = 0xfffffffeU;
    [[nodiscard]] static domain::order_id make_id(std::uint32_t generation, std::uint32_t slot) noexcept {
        return domain::order_id{(std::uint64_t{generation} << 32) | slot};
    }
    void push_order(std::uint32_t index) noexcept {
        nodes_[index].next = order_free_;
        order_free_ = index;
    }

    base::large_array<node> nodes_;
    std::uint32_t levels_begin_;
    std::uint32_t orders_begin_;
    std::uint32_t orders_capacity_;
    std::uint32_t level_free_ = 0;  ///< heads of the lists of released nodes; 0 ends them
    std::uint32_t order_free_ = 0;
    std::uint32_t orders_free_count_ = 0;
    std::uint32_t orders_retired_count_ = 0;
    std::uint32_t levels_fresh_ = 0;  ///< levels from here on have never been used and are in no list
    std::uint32_t orders_fresh_ = 0;  ///< the same of orders
};
static_assert(sizeof(node_pool) == 64, "`transfer` knows every member; then correct the size here");

}  // namespace corro::matching
