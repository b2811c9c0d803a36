// The engine's memory: one array of 32-byte nodes, two to a cache line, linked by 32-bit indices.
//
// Accounts, price levels and orders share the index space and the link fields, so that taking an order out of a ring
// is two stores without a branch: the level is the sentinel of its FIFO ring, the account of the ring of its orders.
//
// Layout: [0, accounts) account nodes, then `orders` level nodes, then `orders` order nodes.
// Limits: matching/limits.hpp. There are as many levels as orders, so levels never run out first.
// Threads: none of its own.
// Cost: one allocation at construction, every page touched then; O(1) to acquire and release.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "domain/types.hpp"
#include "matching/limits.hpp"

namespace corro::matching {

/// What an order node knows of its order: all that matching, cancelling and reducing need.
struct order_fields {
    std::uint32_t level;         ///< index of its level
    std::uint32_t open;          ///< lots
    std::uint32_t account;       ///< index of its account node
    std::uint32_t generation;    ///< odd while the order is open; part of its id
    std::uint32_t account_next;  ///< ring of the account's orders, oldest first; an account node has only these two
    std::uint32_t account_prev;
};

struct level_fields {
    std::uint64_t volume;        ///< sum of the open lots
    std::uint64_t key;           ///< see matching/limits.hpp
    std::uint32_t orders_count;  ///< length of the ring
    std::uint32_t side;          ///< twice the book's index, plus 1 for the sell side
};

struct node {
    std::uint32_t next;  ///< FIFO ring of a level, oldest first; of a free node: the next free one
    std::uint32_t prev;
    union {
        order_fields order;
        level_fields level;
    };
};
static_assert(sizeof(node) == 32, "two nodes in a cache line");

class node_pool {
 public:
    node_pool(std::uint32_t accounts, std::uint32_t orders)
        : nodes_(std::size_t{accounts} + 2 * std::size_t{orders}),
          levels_begin_(accounts),
          orders_begin_(accounts + orders) {
        CORRO_ASSERT(accounts > 0 && accounts <= accounts_max && orders > 0 && orders <= orders_max);
        for (std::uint32_t i = 0; i < accounts; ++i) nodes_[i].order = {0, 0, i, 0, i, i};
        for (std::uint32_t i = orders; i > 0; --i) {
            release_level(levels_begin_ + i - 1);
            nodes_[orders_begin_ + i - 1].order = {};
            push_order(orders_begin_ + i - 1);
        }
        orders_free_count_ = orders;
    }

    [[nodiscard]] node& operator[](std::uint32_t index) noexcept { return nodes_[index]; }
    [[nodiscard]] const node& operator[](std::uint32_t index) const noexcept { return nodes_[index]; }
    /// For loops over many nodes: the array itself, which never moves.
    [[nodiscard]] node* data() noexcept { return nodes_.data(); }
    [[nodiscard]] std::uint32_t accounts_count() const noexcept { return levels_begin_; }
    [[nodiscard]] std::uint32_t orders_capacity() const noexcept { return orders_begin_ - levels_begin_; }
    [[nodiscard]] std::uint32_t orders_free_count() const noexcept { return orders_free_count_; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return nodes_.size() * sizeof(node); }

    /// An order's slot: dense from 0, for arrays that lie in parallel to the orders.
    [[nodiscard]] std::uint32_t slot_of(std::uint32_t index) const noexcept { return index - orders_begin_; }
    [[nodiscard]] std::uint32_t index_of(std::uint32_t slot) const noexcept { return slot + orders_begin_; }
    [[nodiscard]] domain::order_id id_of(std::uint32_t index) const noexcept {
        return make_id(nodes_[index].order.generation, slot_of(index));
    }
    /// The id of the order that is acquired next, or `ahead` orders later; 0 when not so many are free.
    [[nodiscard]] domain::order_id next_id(std::uint32_t ahead = 0) const noexcept {
        if (orders_free_count_ <= ahead) return domain::order_id{};
        std::uint32_t free = order_free_;
        for (std::uint32_t i = 0; i < ahead; ++i) free = nodes_[free].next;
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
    /// True if the id was given to an order that is closed by now.
    [[nodiscard]] bool was_given(domain::order_id id) const noexcept {
        const auto slot = static_cast<std::uint32_t>(id.value);
        const auto generation = static_cast<std::uint32_t>(id.value >> 32);
        return slot < orders_capacity() && (generation & 1) != 0 &&
               generation < nodes_[index_of(slot)].order.generation;
    }

    /// Takes a free order node; its generation becomes odd.
    [[nodiscard]] std::uint32_t acquire_order() noexcept {
        CORRO_ASSERT(orders_free_count_ != 0, "the caller looks at orders_free_count first");
        const std::uint32_t index = order_free_;
        order_free_ = nodes_[index].next;
        --orders_free_count_;
        ++nodes_[index].order.generation;
        return index;
    }
    /// Gives a closed order's node back; its id is never used again.
    void release_order(std::uint32_t index) noexcept {
        ++nodes_[index].order.generation;
        push_order(index);
        ++orders_free_count_;
    }
    /// Gives a node back whose id nobody has seen; the id will be used by the next order.
    void return_order(std::uint32_t index) noexcept {
        --nodes_[index].order.generation;
        push_order(index);
        ++orders_free_count_;
    }
    [[nodiscard]] std::uint32_t acquire_level() noexcept {
        const std::uint32_t index = level_free_;
        level_free_ = nodes_[index].next;
        return index;
    }
    void release_level(std::uint32_t index) noexcept {
        nodes_[index].next = level_free_;
        level_free_ = index;
    }

 private:
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
    std::uint32_t level_free_ = 0;
    std::uint32_t order_free_ = 0;
    std::uint32_t orders_free_count_ = 0;
};

}  // namespace corro::matching
