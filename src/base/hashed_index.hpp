// SPDX-License-Identifier: Apache-2.0
// A bounded hash index over records that live elsewhere.
//
// The index keeps, per entry, 32 bits of the record's hash and the record's slot number; the owner of the records
// supplies the hash and decides equality. Seven entries and their bucket's state share a cache line and are compared at
// once, so that a look-up needs no branch per entry. A full bucket sends entries on to the next one and counts them, so
// that lookups end as early as possible and deletion moves nothing. There are no tombstones.
//
// Layout: buckets of 64 bytes; at least twice as many places as the capacity unless stated otherwise, rounded up to a
//         power of two of buckets.
// Limits: capacity is fixed at construction; inserting beyond it is the caller's bug (asserted).
// Threads: none of its own.
// Cost: one allocation at construction; expected constant time per operation.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"
#include "base/equal_words.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"

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
    explicit hashed_index(std::size_t capacity, page_touch touch = page_touch::yes)
        : hashed_index(capacity, touch, 2 * capacity) {}
    /// @param places  A lower bound of the places, above the capacity; below twice the capacity a full index is slower.
    hashed_index(std::size_t capacity, page_touch touch, std::size_t places)
        : buckets_(std::bit_ceil((places + entries_count) / entries_count), touch),
          mask_(static_cast<std::uint32_t>(buckets_.size() - 1)),
          capacity_(capacity) {
        CORRO_ASSERT(capacity <= (std::size_t{1} << 30));
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

    /// The slot of an entry with this hash for which `equal(slot)` holds, or `none`.
    template <class Equal>
    [[nodiscard]] std::uint32_t find(std::uint32_t hash, Equal&& equal) const noexcept {
        const std::uint32_t tag = tag_of(hash);
        std::uint32_t at = home_of(hash);
        for (std::size_t left = buckets_.size(); left != 0; --left, at = (at + 1) & mask_) {
            const bucket& b = buckets_[at];
            for (std::uint32_t found = matches(b.tags, tag); found != 0; found &= found - 1) {
                const std::uint32_t slot = b.slots[first_of(found)];
                if (equal(slot)) [[likely]]
                    return slot;
            }
            if (b.passed_count == 0) [[likely]]
                break;
        }
        return none;
    }

    /// The slot of an entry that is likely to have this hash, or `none`: the record to prefetch before `find`. Reads
    /// only the home bucket, and no record.
    [[nodiscard]] std::uint32_t likely(std::uint32_t hash) const noexcept {
        const bucket& b = buckets_[home_of(hash)];
        const std::uint32_t found = matches(b.tags, tag_of(hash));
        return found != 0 ? b.slots[first_of(found)] : none;
    }

    /// Adds an entry. The caller has made sure that no equal record is present.
    void insert(std::uint32_t hash, std::uint32_t slot) noexcept {
        CORRO_ASSERT(size_ < capacity_, "the index was sized for every record");
        ++size_;
        for (std::uint32_t at = home_of(hash);; at = (at + 1) & mask_) {
            bucket& b = buckets_[at];
            const std::uint32_t free = matches(b.tags, 0) & places_mask;
            if (free != 0) [[likely]] {
                const std::size_t place = first_of(free);
                b.tags[place] = tag_of(hash);
                b.slots[place] = slot;
                return;
            }
            ++b.passed_count;
        }
    }

    /// Points the entry (hash, from) at another slot. Returns false if there is no such entry.
    bool replace(std::uint32_t hash, std::uint32_t from, std::uint32_t to) noexcept {
        std::uint32_t at = home_of(hash);
        for (std::size_t left = buckets_.size(); left != 0; --left, at = (at + 1) & mask_) {
            bucket& b = buckets_[at];
            if (const std::uint32_t found = place_of(b, hash, from); found != 0) {
                b.slots[first_of(found)] = to;
                return true;
            }
            if (b.passed_count == 0) break;
        }
        return false;
    }

    /// Removes the entry (hash, slot). Returns false if there is no such entry.
    bool erase(std::uint32_t hash, std::uint32_t slot) noexcept {
        std::uint32_t at = home_of(hash);
        for (std::size_t left = buckets_.size(); left != 0; --left, at = (at + 1) & mask_) {
            bucket& b = buckets_[at];
            if (const std::uint32_t found = place_of(b, hash, slot); found != 0) [[likely]] {
                b.tags[first_of(found)] = 0;
                --size_;
                // Decrements the count of each bucket that the entry had passed.
                for (std::uint32_t before = home_of(hash); before != at; before = (before + 1) & mask_) {
                    --buckets_[before].passed_count;
                }
                return true;
            }
            if (b.passed_count == 0) break;
        }
        return false;
    }

    /// The most entries that one bucket has sent on to the next: the cost of the longest search. Reads every bucket.
    [[nodiscard]] std::uint32_t passed_max() const noexcept {
        std::uint32_t most = 0;
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            most = most < buckets_[i].passed_count ? buckets_[i].passed_count : most;
        }
        return most;
    }

    void prefetch(std::uint32_t hash) const noexcept { __builtin_prefetch(&buckets_[home_of(hash)]); }

 private:
    static constexpr std::size_t entries_count = 7;
    static constexpr std::uint32_t places_mask = (1U << entries_count) - 1;
    /// One more than the entries, so that all are compared at once; the last one is 0 and never matches.
    using tag_array = std::array<std::uint32_t, entries_count + 1>;
    static_assert(std::tuple_size_v<tag_array> == 8, "equal_words");

    /// A bucket without entries is all zeros: an empty index touches no memory.
    struct bucket {
        tag_array tags{};  ///< 0 when the place is free
        std::array<std::uint32_t, entries_count> slots{};
        std::uint32_t passed_count = 0;  ///< entries with their home here or before that are stored in a later bucket
    };
    static_assert(sizeof(bucket) == 64);

    /// The tag that is compared: never 0, which marks a free place.
    [[nodiscard]] static std::uint32_t tag_of(std::uint32_t hash) noexcept { return hash | 2U; }
    [[nodiscard]] std::uint32_t home_of(std::uint32_t hash) const noexcept { return hash & mask_; }
    [[nodiscard]] static std::size_t first_of(std::uint32_t bits) noexcept {
        return static_cast<std::size_t>(std::countr_zero(bits));
    }
    /// One bit for each tag that equals `tag`.
    [[nodiscard]] static std::uint32_t matches(const tag_array& in, std::uint32_t tag) noexcept {
        return equal_words(in.data(), tag);
    }
    [[nodiscard]] static std::uint32_t place_of(const bucket& b, std::uint32_t hash, std::uint32_t slot) noexcept {
        std::uint32_t found = matches(b.tags, tag_of(hash));
        while (found != 0 && b.slots[first_of(found)] != slot) found &= found - 1;
        return found & (~found + 1);
    }

    large_array<bucket> buckets_;
    std::uint32_t mask_;
    std::size_t size_ = 0;
    std::size_t capacity_;
};

}  // namespace corro::base
