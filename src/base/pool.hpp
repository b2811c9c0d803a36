// SPDX-License-Identifier: Apache-2.0
// A fixed number of objects of one type, addressed by a 32-bit slot.
//
// A slot is half the size of a pointer, survives being copied into a snapshot and can be checked against the capacity.
// A free slot holds the number of the next free one, so that the free list costs no memory. The slot released last is
// used first, while it is still in the cache.
//
// Limits:  capacity below 2^32 - 1, fixed at construction. An exhausted pool returns `no_slot`; it does not assert.
// Threads: one.
// Cost:    one allocation at construction; `acquire` and `release` take a few instructions, O(1), and touch the slot
//          and one bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/page_touch.hpp"
#include "base/raw_array.hpp"

namespace corro::base {

/// "There is no such slot": the pool is exhausted, or a list ends here.
inline constexpr std::uint32_t no_slot = 0xFFFF'FFFF;

template <class T>
class pool {
    static_assert(std::is_trivially_destructible_v<T>, "slots that are still in use when the pool ends are dropped");

 public:
    using value_type = T;

    /// @param capacity  Number of slots, below `no_slot` (asserted).
    explicit pool(std::uint32_t capacity, page_touch touch = page_touch::yes)
        : capacity_(capacity), cells_(make_raw_array<cell>(capacity)), used_(capacity / 64 + 1) {
        CORRO_ASSERT(capacity < no_slot);
        if (touch == page_touch::yes) touch_pages(cells_.get(), std::size_t{capacity} * sizeof(cell));
    }
    pool(const pool&) = delete;
    pool& operator=(const pool&) = delete;

    /// Takes a free slot and constructs its object from `arguments`.
    /// @return  The slot, or `no_slot` when all are in use; nothing is constructed then.
    template <class... Arguments>
    [[nodiscard]] std::uint32_t acquire(Arguments&&... arguments) noexcept {
        static_assert(std::is_nothrow_constructible_v<T, Arguments...>);
        std::uint32_t slot = free_;
        if (slot != no_slot) {
            free_ = cells_.get()[slot].next_free;
        } else if (fresh_ != capacity_) {
            slot = fresh_++;
        } else {
            return no_slot;
        }
        ++in_use_;
        used_[slot / 64] |= bit(slot);
        std::construct_at(std::addressof(cells_.get()[slot].value), std::forward<Arguments>(arguments)...);
        return slot;
    }

    /// Gives a slot back. It must be in use (asserted, so that a second release is caught).
    void release(std::uint32_t slot) noexcept {
        CORRO_ASSERT(is_used(slot), "a slot is released once, and only when it is in use");
        used_[slot / 64] &= ~bit(slot);
        --in_use_;
        cells_.get()[slot].next_free = free_;
        free_ = slot;
    }

    /// The object in a slot, which must be in use. Only the range is asserted here: this is the hot path.
    [[nodiscard]] T& operator[](std::uint32_t slot) noexcept {
        CORRO_ASSERT(slot < fresh_);
        return cells_.get()[slot].value;
    }
    [[nodiscard]] const T& operator[](std::uint32_t slot) const noexcept {
        CORRO_ASSERT(slot < fresh_);
        return cells_.get()[slot].value;
    }

    /// Whether `slot` names an object now.
    [[nodiscard]] bool is_used(std::uint32_t slot) const noexcept {
        return slot < capacity_ && (used_[slot / 64] & bit(slot)) != 0;
    }

    [[nodiscard]] std::uint32_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::uint32_t size() const noexcept { return in_use_; }
    [[nodiscard]] bool empty() const noexcept { return in_use_ == 0; }
    [[nodiscard]] bool exhausted() const noexcept { return in_use_ == capacity_; }

 private:
    union cell {
        T value;
        std::uint32_t next_free;
    };

    [[nodiscard]] static constexpr std::uint64_t bit(std::uint32_t slot) noexcept {
        return std::uint64_t{1} << (slot % 64);
    }

    std::uint32_t capacity_;
    std::uint32_t free_ = no_slot;  ///< head of the list of released slots
    std::uint32_t fresh_ = 0;       ///< slots from here on have never been used and are in no list
    std::uint32_t in_use_ = 0;
    raw_array<cell> cells_;
    std::vector<std::uint64_t> used_;  ///< one bit per slot
};

}  // namespace corro::base
