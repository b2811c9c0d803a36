// SPDX-License-Identifier: Apache-2.0
// What will happen in a market, ordered by time and then by the order in which it was planned.
//
// An entry is 16 bytes: the time, and the number of the entry with the slot of what happens. The number makes every key
// different, so any correct queue gives the same order.
//
// Layout: a heap in which each node has four children, which share a cache line.
// Units:  nanoseconds of the market's time, not negative.
// Limits: slots_max slots, 2^40 entries in a run (asserted).
// Cost:   logarithmic; allocates only beyond its largest size so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/assert.hpp"
#include "base/int128.hpp"

namespace corro::market {

class schedule {
 public:
    static constexpr unsigned slot_bits = 24;
    static constexpr std::uint32_t slots_max = 1U << slot_bits;

    struct entry {
        std::uint64_t number_and_slot = 0;
        std::uint64_t at_ns = 0;
        [[nodiscard]] std::uint32_t slot() const noexcept {
            return static_cast<std::uint32_t>(number_and_slot) & (slots_max - 1);
        }
        /// The number of the entry, from 1.
        [[nodiscard]] std::uint64_t number() const noexcept { return number_and_slot >> slot_bits; }
    };

    [[nodiscard]] bool empty() const noexcept { return heap_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return heap_.size(); }
    /// @pre Not empty.
    [[nodiscard]] const entry& next() const noexcept { return heap_.front(); }
    /// Calls `look(slot)` for some entries that come soon: the next one first.
    template <class Look>
    void visit_soon(Look&& look) const {
        const std::size_t count = heap_.size() < 5 ? heap_.size() : 5;
        for (std::size_t i = 0; i < count; ++i) look(i, heap_[i].slot());
    }
    [[nodiscard]] std::uint64_t planned_count() const noexcept { return planned_count_; }

    /// @return The entry's number. Among entries of one time, lower numbers come first.
    std::uint64_t add(std::int64_t at_ns, std::uint32_t slot) {
        CORRO_ASSERT(at_ns >= 0 && slot < slots_max && planned_count_ + 1 < (std::uint64_t{1} << 40U));
        const entry added{++planned_count_ << slot_bits | slot, static_cast<std::uint64_t>(at_ns)};
        std::size_t place = heap_.size();
        heap_.push_back(added);
        while (place != 0) {
            const std::size_t parent = (place - 1) / 4;
            if (!precedes(added, heap_[parent])) break;
            heap_[place] = heap_[parent];
            place = parent;
        }
        heap_[place] = added;
        return planned_count_;
    }

    /// Removes the next entry. @pre Not empty (asserted).
    entry take() noexcept {
        CORRO_ASSERT(!heap_.empty(), "there is no next entry");
        const entry first = heap_.front();
        const entry moved = heap_.back();
        heap_.pop_back();
        const std::size_t size = heap_.size();
        if (size == 0) return first;
        entry* const all = heap_.data();
        std::size_t place = 0;
        for (;;) {
            const std::size_t child = 4 * place + 1;
            if (child >= size) break;
            std::size_t least = child;
            if (child + 4 <= size) {
                // Two comparisons at once, and then one: half of the time of three that wait for each other.
                const std::size_t left = child + static_cast<std::size_t>(precedes(all[child + 1], all[child]));
                const std::size_t right =
                    child + 2 + static_cast<std::size_t>(precedes(all[child + 3], all[child + 2]));
                least = precedes(all[right], all[left]) ? right : left;
            } else {
                for (std::size_t other = child + 1; other < size; ++other) {
                    least = precedes(all[other], all[least]) ? other : least;
                }
            }
            if (!precedes(all[least], moved)) break;
            all[place] = all[least];
            place = least;
        }
        all[place] = moved;
        return first;
    }

 private:
    [[nodiscard]] static bool precedes(const entry& a, const entry& b) noexcept {
        const auto key = [](const entry& e) { return static_cast<base::uint128>(e.at_ns) << 64U | e.number_and_slot; };
        return key(a) < key(b);
    }

    std::vector<entry> heap_;
    std::uint64_t planned_count_ = 0;
};

}  // namespace corro::market
