// SPDX-License-Identifier: Apache-2.0
// Finds open orders by a number that their owner has given them.
//
// Most owners count: their next number is one more than the last. So a number has its place in a ring of all owners'
// numbers: the numbers of one owner follow each other there, sixteen to a cache line, from a start that is the owner's.
// One round of the ring later they follow each other from another start: owners that give each of their strategies a
// range of numbers have all of them in different places. To enter, find or remove a name takes one look at its place.
// Only a name whose place another open order has is kept in a hash table; its place counts it. Nothing else searches
// the table, so an owner whose numbers jump, or a long-lived order in the way, costs no more than the table.
//
// Layout: an entry of the ring is the slot plus 1 (0: free) in its low 29 bits and the count in the high 3; a full
// count
//         never decreases.
// Limits: as many names as the engine holds orders. At least twice as many places, rounded up to a power of two.
// Clients choose the numbers, so the table's hash uses a secret: no choice of numbers makes it slow. The secret has no
// other effect.
// Threads: none of its own.
// Cost: allocates at construction only; expected constant time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/hash.hpp"
#include "base/hashed_index.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "matching/limits.hpp"

namespace corro::facility {

class order_names {
 public:
    static constexpr std::uint32_t none = base::hashed_index::none;

    order_names(std::uint32_t orders_max, base::page_touch touch, std::uint64_t hash_key)
        : ring_(std::bit_ceil(2 * std::size_t{orders_max}), touch),
          mask_(static_cast<std::uint32_t>(ring_.size() - 1)),
          round_bits_(static_cast<std::uint32_t>(std::countr_zero(ring_.size()))),
          others_(orders_max, touch, std::size_t{orders_max} + orders_max / 4) {
        set_hash_key(hash_key);
    }
    /// @pre There is no name.
    void set_hash_key(std::uint64_t key) noexcept {
        hash_ = base::keyed_hash(key);
        start_ = base::mix64(key + 0x9e3779b97f4a7c15ULL) | 1U;  // the increment of splitmix64: mix64(0) is 0
    }

    /// The slot of the order with this name for which `has_name(slot)` holds, or `none`. `has_name` is called for open
    /// orders that have other names, too.
    template <class HasName>
    [[nodiscard, gnu::always_inline]] std::uint32_t find(std::uint32_t owner, std::uint64_t name,
                                                         HasName&& has_name) const noexcept {
        const std::uint32_t entry = ring_[place_of(owner, name)];
        const std::uint32_t slot = (entry & slot_mask) - 1;
        if (slot != none && has_name(slot)) return slot;
        if (entry <= slot_mask) [[likely]]
            return none;
        return find_other(owner, name, has_name);
    }
    /// @pre No order has the name.
    [[gnu::always_inline]] void insert(std::uint32_t owner, std::uint64_t name, std::uint32_t slot) noexcept {
        std::uint32_t& entry = ring_[place_of(owner, name)];
        if ((entry & slot_mask) == 0) [[likely]]
            entry += slot + 1;
        else
            insert_other(entry, owner, name, slot);
    }
    /// No effect if the order does not have the name.
    [[gnu::always_inline]] void erase(std::uint32_t owner, std::uint64_t name, std::uint32_t slot) noexcept {
        std::uint32_t& entry = ring_[place_of(owner, name)];
        if ((entry & slot_mask) == slot + 1) [[likely]]
            entry &= ~slot_mask;
        else if (entry > slot_mask)
            erase_other(entry, owner, name, slot);
    }

    void prefetch(std::uint32_t owner, std::uint64_t name) const noexcept {
        __builtin_prefetch(&ring_[place_of(owner, name)], 1);
    }
    // The table's part of `insert` and of `erase`, for the few names that need it. Both read what `prefetch` has
    // fetched.

    void prefetch_insert(std::uint32_t owner, std::uint64_t name) const noexcept {
        if ((ring_[place_of(owner, name)] & slot_mask) != 0) others_.prefetch(hash_of(owner, name));
    }
    void prefetch_erase(std::uint32_t owner, std::uint64_t name, std::uint32_t slot) const noexcept {
        const std::uint32_t entry = ring_[place_of(owner, name)];
        if (entry > slot_mask && (entry & slot_mask) != slot + 1) others_.prefetch(hash_of(owner, name));
    }
    /// The slot of the order that is likely to have the name, or `none`: to prefetch it before `find`.
    [[nodiscard]] std::uint32_t likely(std::uint32_t owner, std::uint64_t name) const noexcept {
        return (ring_[place_of(owner, name)] & slot_mask) - 1;
    }

    /// The most names that one bucket of the table has sent on to the next. Reads the whole table.
    [[nodiscard]] std::uint32_t passed_max() const noexcept { return others_.passed_max(); }
    /// Names in the table.
    [[nodiscard]] std::size_t others_count() const noexcept { return others_.size(); }
    [[nodiscard]] std::size_t places_count() const noexcept { return ring_.size(); }

 private:
    static constexpr std::uint32_t count_bits = 3;
    static constexpr std::uint32_t slot_mask = ~std::uint32_t{0} >> count_bits;
    static constexpr std::uint32_t one_more = slot_mask + 1;
    static constexpr std::uint32_t full_count = ~slot_mask;
    static_assert(matching::orders_max <= slot_mask);

    [[nodiscard]] std::uint32_t place_of(std::uint32_t owner, std::uint64_t name) const noexcept {
        const std::uint64_t start = owner * start_ + (name >> round_bits_) * 0x9e3779b97f4a7c15ULL;  // 2^64 / phi
        return (static_cast<std::uint32_t>(start >> 32U) + static_cast<std::uint32_t>(name)) & mask_;
    }
    [[nodiscard]] std::uint32_t hash_of(std::uint32_t owner, std::uint64_t name) const noexcept {
        return hash_(name, owner);
    }
    template <class HasName>
    [[nodiscard, gnu::noinline]] std::uint32_t find_other(std::uint32_t owner, std::uint64_t name,
                                                          HasName&& has_name) const noexcept {
        return others_.find(hash_of(owner, name), has_name);
    }
    [[gnu::noinline]] void insert_other(std::uint32_t& entry, std::uint32_t owner, std::uint64_t name,
                                        std::uint32_t slot) noexcept {
        others_.insert(hash_of(owner, name), slot);
        if (entry < full_count) entry += one_more;
    }
    [[gnu::noinline]] void erase_other(std::uint32_t& entry, std::uint32_t owner, std::uint64_t name,
                                       std::uint32_t slot) noexcept {
        if (others_.erase(hash_of(owner, name), slot) && entry < full_count) entry -= one_more;
    }

    base::large_array<std::uint32_t> ring_;
    std::uint32_t mask_;
    std::uint32_t round_bits_;
    base::hashed_index others_;
    base::keyed_hash hash_;
    std::uint64_t start_ = 1;
};

}  // namespace corro::facility
