// SPDX-License-Identifier: Apache-2.0
// A hash map from 64-bit keys to small values: open addressing, linear probing, backward-shift deletion.
//
// For the layers outside the core: it grows when it is three quarters full, so an insertion may allocate. A capacity
// given at construction avoids that. The order of iteration depends on the table's size.
//
// When clients choose the keys, pass a secret, so that they cannot choose keys that collide.
//
// Cost: one cache miss per look-up in the common case; no tombstones, so it does not become slower after many
// insertions and erasures.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/hash.hpp"

namespace corro::base {

template <class Value>
    requires std::is_trivially_copyable_v<Value>
class flat_map {
 public:
    /// `capacity` is how many entries fit before the table grows; `secret` changes only their places.
    explicit flat_map(std::size_t capacity = 12, std::uint64_t secret = 0)
        : slots_(std::bit_ceil(capacity + capacity / 2 + 4)), hash_(secret) {}

    [[nodiscard]] std::size_t size() const noexcept { return size_; }

    /// The value of `key`, or nullptr. The pointer lives until the next insertion or erasure.
    [[nodiscard]] Value* find(std::uint64_t key) noexcept {
        const std::size_t at = locate(key);
        return slots_[at].used ? &slots_[at].value : nullptr;
    }
    [[nodiscard]] const Value* find(std::uint64_t key) const noexcept { return const_cast<flat_map*>(this)->find(key); }

    /// Prefetches what `find` will read for the key.
    void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(&slots_[home_of(key)]); }

    /// Inserts unless the key is there. Returns the value's place and whether it is new.
    std::pair<Value*, bool> try_insert(std::uint64_t key, const Value& value) {
        if ((size_ + 1) * 4 > slots_.size() * 3) grow();
        const std::size_t at = locate(key);
        if (slots_[at].used) return {&slots_[at].value, false};
        slots_[at] = {key, value, true};
        ++size_;
        return {&slots_[at].value, true};
    }

    /// Removes the key; false when it was not there.
    bool erase(std::uint64_t key) noexcept {
        std::size_t hole = locate(key);
        if (!slots_[hole].used) return false;
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t next = (hole + 1) & mask; slots_[next].used; next = (next + 1) & mask) {
            const std::size_t home = home_of(slots_[next].key);
            // The entry may move back into the hole unless its home lies cyclically within (hole, next].
            if (((next - home) & mask) >= ((next - hole) & mask)) {
                slots_[hole] = slots_[next];
                hole = next;
            }
        }
        slots_[hole] = {};
        --size_;
        return true;
    }

    /// The most steps that finding any key takes. Reads every slot.
    [[nodiscard]] std::size_t longest_search() const noexcept {
        std::size_t longest = 0;
        for (std::size_t at = 0; at < slots_.size(); ++at) {
            if (!slots_[at].used) continue;
            const std::size_t steps = (at - home_of(slots_[at].key)) & (slots_.size() - 1);
            longest = longest < steps ? steps : longest;
        }
        return longest;
    }

    void clear() noexcept {
        for (slot& s : slots_) s = {};
        size_ = 0;
    }

    /// Calls `f(key, value)` for every entry, in no particular order.
    template <class F>
    void for_each(F&& f) const {
        for (const slot& s : slots_) {
            if (s.used) f(s.key, s.value);
        }
    }

 private:
    struct slot {
        std::uint64_t key{};
        Value value{};
        bool used = false;
    };

    [[nodiscard]] std::size_t home_of(std::uint64_t key) const noexcept {
        return static_cast<std::size_t>(hash_(key)) & (slots_.size() - 1);
    }
    [[nodiscard]] std::size_t locate(std::uint64_t key) const noexcept {
        std::size_t at = home_of(key);
        while (slots_[at].used && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
        return at;
    }
    void grow() {
        std::vector<slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (const slot& s : old) {
            if (s.used) slots_[locate(s.key)] = s;
        }
    }

    std::vector<slot> slots_;
    std::size_t size_ = 0;
    keyed_hash hash_;
};

}  // namespace corro::base
