// A bounded open-addressing index over records that live elsewhere.
//
// The index keeps, per entry, 32 bits of the record's hash and the record's slot number; whoever owns the records
// supplies the hash and decides equality. Deletion shifts the run back, so that there are no tombstones and lookups
// stay short for ever.
//
// Layout: 8 bytes per place; places are a power of two, at least twice the capacity.
// Limits: capacity is fixed at construction; inserting beyond it is a bug of the caller (asserted).
// Threads: none of its own.
// Cost: one allocation at construction; expected constant time per operation.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/large_array.hpp"

namespace corro::base {

/// A cheap 32-bit hash of 64 bits for tables: one multiplication, high bits kept.
[[nodiscard]] constexpr std::uint32_t hash32(std::uint64_t x) noexcept {
    x ^= x >> 32;
    x *= 0x9e3779b97f4a7c15ULL;
    return static_cast<std::uint32_t>(x >> 32);
}

class hashed_index {
 public:
    static constexpr std::uint32_t none = 0xffffffffU;

    /// @param capacity  Most entries that will ever be held at once; at most 2^30.
    explicit hashed_index(std::size_t capacity)
        : places_(std::bit_ceil(2 * (capacity < 4 ? std::size_t{4} : capacity))),
          mask_(static_cast<std::uint32_t>(places_.size() - 1)),
          capacity_(capacity) {
        CORRO_ASSERT(capacity <= (std::size_t{1} << 30));
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// The slot of the first entry with this hash for which `equal(slot)` holds, or `none`.
    template <class Equal>
    [[nodiscard]] std::uint32_t find(std::uint32_t hash, Equal&& equal) const noexcept {
        for (std::uint32_t at = hash & mask_; places_[at].slot_plus_one != 0; at = (at + 1) & mask_) {
            if (places_[at].hash == hash && equal(places_[at].slot_plus_one - 1)) return places_[at].slot_plus_one - 1;
        }
        return none;
    }

    /// Adds an entry. The caller has made sure that no equal record is present.
    void insert(std::uint32_t hash, std::uint32_t slot) noexcept {
        CORRO_ASSERT(size_ < capacity_, "the index was sized for every record");
        std::uint32_t at = hash & mask_;
        while (places_[at].slot_plus_one != 0) at = (at + 1) & mask_;
        places_[at] = {hash, slot + 1};
        ++size_;
    }

    /// Points the entry (hash, from) at another slot. Returns false if there is no such entry.
    bool replace(std::uint32_t hash, std::uint32_t from, std::uint32_t to) noexcept {
        const std::uint32_t at = position_of(hash, from);
        if (at == none) return false;
        places_[at].slot_plus_one = to + 1;
        return true;
    }

    /// Removes the entry (hash, slot). Returns false if there is no such entry.
    bool erase(std::uint32_t hash, std::uint32_t slot) noexcept {
        std::uint32_t hole = position_of(hash, slot);
        if (hole == none) return false;
        // Whatever stands behind the hole and would be found later than it could be moves up.
        for (std::uint32_t at = (hole + 1) & mask_; places_[at].slot_plus_one != 0; at = (at + 1) & mask_) {
            const std::uint32_t home = places_[at].hash & mask_;
            if (((at - home) & mask_) >= ((at - hole) & mask_)) {
                places_[hole] = places_[at];
                hole = at;
            }
        }
        places_[hole] = {};
        --size_;
        return true;
    }

    void prefetch(std::uint32_t hash) const noexcept { __builtin_prefetch(&places_[hash & mask_]); }

 private:
    struct place {
        std::uint32_t hash = 0;
        std::uint32_t slot_plus_one = 0;  ///< 0 when the place is free
    };

    [[nodiscard]] std::uint32_t position_of(std::uint32_t hash, std::uint32_t slot) const noexcept {
        for (std::uint32_t at = hash & mask_; places_[at].slot_plus_one != 0; at = (at + 1) & mask_) {
            if (places_[at].slot_plus_one == slot + 1) return at;
        }
        return none;
    }

    large_array<place> places_;
    std::uint32_t mask_;
    std::size_t size_ = 0;
    std::size_t capacity_;
};

}  // namespace corro::base
