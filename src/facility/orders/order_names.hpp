// SPDX-License-Identifier: Apache-2.0
// Finds open orders by a number that their owner has given them.
//
// Most owners count: their next number is one more than the last. So a number has its line in a ring of all owners'
// numbers: the numbers of one owner follow each other there, sixteen to a line, from a start that is the owner's. The
// starts lie evenly apart, so that owners who count at the same pace do not meet. One round of the ring later the
// numbers follow each other from another start, and these lie apart too: owners that give each of their strategies a
// range of numbers, as sessions or strategies in the higher bits, have nearly all of them in different places. A name
// takes any free entry of its line; each entry has four bits of its name, so that nearly always only the record of the
// wanted order is read. Only a name whose line is full is kept in a hash table.
//
// Layout: an entry is the slot plus 1 and, in the high four bits, the lowest four of the name's place; 0: free.
// Limits: as many names as the engine holds orders. At least twice as many places, rounded up to a power of two.
// Clients choose the numbers, so the table's hash uses a secret: no choice of numbers makes the table slow. The places
// in the ring are no secret. An owner whose open orders fill the lines of another one sends that one's next names to
// the table, one for each of its own. The secret changes no result. A look-up reads at most the sixteen records of a
// line, and then the table.
// Threads: none of its own.
// Cost: allocates at construction only; expected constant time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/cache_line.hpp"
#include "base/equal_words.hpp"
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
        : entries_(std::max(std::bit_ceil(2 * std::size_t{orders_max}), line_entries), touch),
          mask_(static_cast<std::uint32_t>(places_count() - 1)),
          round_bits_(static_cast<std::uint32_t>(std::countr_zero(places_count()))),
          others_(orders_max, touch, std::size_t{orders_max} + orders_max / 4) {
        set_hash_key(hash_key);
    }
    /// @pre There is no name.
    void set_hash_key(std::uint64_t key) noexcept { hash_ = base::keyed_hash(key); }

    /// The slot of the order with this name for which `has_name(slot)` holds, or `none`. `has_name` is called for open
    /// orders that have other names, too.
    template <class HasName>
    [[nodiscard, gnu::always_inline]] std::uint32_t find(std::uint32_t owner, std::uint64_t name,
                                                         HasName&& has_name) const noexcept {
        const std::uint32_t place = place_of(owner, name);
        const std::uint32_t* const line = line_of(place);
        for (std::uint32_t found = candidates(line, place); found != 0; found &= found - 1) {
            const std::uint32_t slot = (line[first_of(found)] & slot_mask) - 1;
            if (has_name(slot)) [[likely]]
                return slot;
        }
        if (others_.size() == 0) [[likely]]
            return none;
        return find_other(owner, name, has_name);
    }
    /// @pre No order has the name.
    [[gnu::always_inline]] void insert(std::uint32_t owner, std::uint64_t name, std::uint32_t slot) noexcept {
        const std::uint32_t place = place_of(owner, name);
        const std::uint32_t entry = entry_of(place, slot);
        if (entries_[place] == 0) [[likely]] {
            entries_[place] = entry;
        } else if (!replace_in(line_of(place), 0, entry)) {
            insert_other(owner, name, slot);
        }
    }
    /// No effect if the order does not have the name.
    [[gnu::always_inline]] void erase(std::uint32_t owner, std::uint64_t name, std::uint32_t slot) noexcept {
        const std::uint32_t place = place_of(owner, name);
        const std::uint32_t entry = entry_of(place, slot);
        if (entries_[place] == entry) [[likely]] {
            entries_[place] = 0;
        } else if (!replace_in(line_of(place), entry, 0) && others_.size() != 0) {
            erase_other(owner, name, slot);
        }
    }

    void prefetch(std::uint32_t owner, std::uint64_t name) const noexcept {
        __builtin_prefetch(&entries_[place_of(owner, name)], 1);
    }
    /// The slot of the order that is likely to have the name, or `none`: to prefetch it before `find`.
    [[nodiscard]] std::uint32_t likely(std::uint32_t owner, std::uint64_t name) const noexcept {
        const std::uint32_t place = place_of(owner, name);
        const std::uint32_t* const line = line_of(place);
        const std::uint32_t found = candidates(line, place);
        return found != 0 ? (line[first_of(found)] & slot_mask) - 1 : none;
    }

    /// The most names that one bucket of the table has sent on to the next. Reads the whole table.
    [[nodiscard]] std::uint32_t passed_max() const noexcept { return others_.passed_max(); }
    /// Names in the table.
    [[nodiscard]] std::size_t others_count() const noexcept { return others_.size(); }
    [[nodiscard]] std::size_t places_count() const noexcept { return entries_.size(); }

 private:
    static constexpr std::size_t line_entries = 16;  ///< of a cache line: a large_array begins at one
    static_assert(line_entries * sizeof(std::uint32_t) == base::cache_line_bytes);
    static constexpr std::uint32_t mark_bits = 4;  ///< of a place
    static constexpr std::uint32_t slot_mask = ~std::uint32_t{0} >> mark_bits;
    static_assert(matching::orders_max <= slot_mask);

    [[nodiscard, gnu::always_inline]] std::uint32_t place_of(std::uint32_t owner, std::uint64_t name) const noexcept {
        // As parts of 2^64, multiples of the golden ratio lie evenly apart, however many there are. So do, nearly,
        // those of the second number, and of it times any power of two: the best of 500,000 random ones for ranges of
        // numbers of 200 and 1,000 strategies.
        constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;
        constexpr std::uint64_t step_of_round = 0x53c5'5c1b'4382'36dd;
        const std::uint64_t start = owner * golden_ratio + (name >> round_bits_) * step_of_round;
        return (static_cast<std::uint32_t>(start >> (64 - round_bits_)) + static_cast<std::uint32_t>(name)) & mask_;
    }
    /// The first entry of a place's line.
    [[nodiscard]] std::uint32_t* line_of(std::uint32_t place) noexcept {
        return &entries_[place / line_entries * line_entries];
    }
    [[nodiscard]] const std::uint32_t* line_of(std::uint32_t place) const noexcept {
        return &entries_[place / line_entries * line_entries];
    }
    [[nodiscard]] static std::uint32_t mark_of(std::uint32_t place) noexcept { return place << (32U - mark_bits); }
    [[nodiscard]] static std::uint32_t entry_of(std::uint32_t place, std::uint32_t slot) noexcept {
        return mark_of(place) | (slot + 1);
    }
    /// One bit for each entry that is `wanted`.
    [[nodiscard]] static std::uint32_t equal_entries(const std::uint32_t* line, std::uint32_t wanted,
                                                     std::uint32_t mask = ~std::uint32_t{0}) noexcept {
        return base::equal_words(line, wanted, mask) | base::equal_words(line + 8, wanted, mask) << 8U;
    }
    /// Puts `by` in the place of one entry that equals `wanted`. False if no entry does.
    [[nodiscard, gnu::always_inline]] static bool replace_in(std::uint32_t* line, std::uint32_t wanted,
                                                             std::uint32_t by) noexcept {
        const std::uint32_t found = equal_entries(line, wanted);
        if (found == 0) return false;
        line[first_of(found)] = by;
        return true;
    }
    /// The entries of names with the lowest bits of this place.
    [[nodiscard]] static std::uint32_t candidates(const std::uint32_t* line, std::uint32_t place) noexcept {
        return equal_entries(line, mark_of(place), ~slot_mask) & ~equal_entries(line, 0);
    }
    [[nodiscard]] static std::size_t first_of(std::uint32_t bits) noexcept {
        return static_cast<std::size_t>(std::countr_zero(bits));
    }
    [[nodiscard]] std::uint32_t hash_of(std::uint32_t owner, std::uint64_t name) const noexcept {
        return hash_(name, owner);
    }
    template <class HasName>
    [[nodiscard, gnu::noinline]] std::uint32_t find_other(std::uint32_t owner, std::uint64_t name,
                                                          HasName&& has_name) const noexcept {
        return others_.find(hash_of(owner, name), has_name);
    }
    [[gnu::noinline]] void insert_other(std::uint32_t owner, std::uint64_t name, std::uint32_t slot) noexcept {
        others_.insert(hash_of(owner, name), slot);
    }
    [[gnu::noinline]] void erase_other(std::uint32_t owner, std::uint64_t name, std::uint32_t slot) noexcept {
        others_.erase(hash_of(owner, name), slot);
    }

    base::large_array<std::uint32_t> entries_;
    std::uint32_t mask_;
    std::uint32_t round_bits_;
    base::hashed_index others_;
    base::keyed_hash hash_;
};

}  // namespace corro::facility
