// SPDX-License-Identifier: Apache-2.0
// Signed positions per account and instrument, and the open interest that they add up to.
//
// A pair gets its slot when its first order enters, before anything trades; from then on a fill finds both positions
// without a search. A flat position keeps its slot; only the slots that a rejected command took are released.
//
// Units: lots, positive for long.
// Limits: the number of pairs is given at construction; `acquire` returns `none` when it is reached.
// Threads: none of its own.
// Cost: allocates at construction only; O(1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "base/hash.hpp"
#include "base/hashed_index.hpp"
#include "domain/types.hpp"
#include "risk/limits.hpp"

namespace corro::risk {

struct position {
    std::uint32_t account = 0;
    std::uint32_t instrument = 0;  ///< dense index, not the instrument's id
    std::int64_t lots = 0;
};

class positions {
 public:
    static constexpr std::uint32_t none = base::hashed_index::none;

    /// @param capacity           Most pairs of account and instrument.
    /// @param instruments_count  Instruments are numbered below this.
    /// @param hash_key           Secret of the index, because clients choose the pairs; changes no
    ///                           result.
    positions(std::uint32_t capacity, std::uint32_t instruments_count, std::uint64_t hash_key = 0)
        : index_(capacity), open_interest_(instruments_count), recent_(recent_count), hash_(hash_key) {
        CORRO_ASSERT(capacity > 0 && capacity <= positions_max);
        entries_.reserve(capacity);
    }

    /// @pre There is no pair.
    void set_hash_key(std::uint64_t key) noexcept { hash_ = base::keyed_hash(key); }
    /// The slot of a pair, or `none` if it has none yet.
    [[nodiscard]] std::uint32_t find(std::uint32_t account, std::uint32_t instrument) const noexcept {
        return index_.find(hash(account, instrument), [&](std::uint32_t slot) {
            return entries_[slot].account == account && entries_[slot].instrument == instrument;
        });
    }
    /// The slot of a pair, assigned now if it has none; `none` when all are taken.
    [[nodiscard, gnu::always_inline]] std::uint32_t acquire(std::uint32_t account, std::uint32_t instrument) noexcept {
        recent_pair& recent = recent_[place_of(account, instrument)];
        if (recent.account == account && recent.instrument == instrument) [[likely]]
            return recent.slot;
        const std::uint32_t slot = acquire_other(account, instrument);
        if (slot != none) recent = {account, instrument, slot};
        return slot;
    }

    /// A command begins, which may be rejected.
    void begin_command() noexcept { taken_ = 0; }
    /// Releases the slots that the command has taken, because it is rejected. No trade has used them.
    void give_back() noexcept {
        for (; taken_ != 0; --taken_) {
            const position& last = entries_.back();
            CORRO_ASSERT(last.lots == 0);
            index_.erase(hash(last.account, last.instrument), static_cast<std::uint32_t>(entries_.size() - 1));
            recent_[place_of(last.account, last.instrument)] = {};
            entries_.pop_back();
        }
    }

    /// Moves `lots` from seller to buyer; both slots belong to the instrument. Returns its open interest afterwards.
    std::uint64_t trade(std::uint32_t instrument, std::uint32_t buyer_slot, std::uint32_t seller_slot,
                        std::uint32_t lots) noexcept {
        CORRO_ASSERT(entries_[buyer_slot].instrument == instrument && entries_[seller_slot].instrument == instrument);
        const std::int64_t bought = add(entries_[buyer_slot], static_cast<std::int64_t>(lots));
        const std::int64_t sold = add(entries_[seller_slot], -static_cast<std::int64_t>(lots));
        return open_interest_[instrument] += static_cast<std::uint64_t>(bought + sold);
    }

    /// Ends a position. Returns what it was.
    std::int64_t settle(std::uint32_t slot) noexcept {
        const std::int64_t lots = entries_[slot].lots;
        if (lots > 0) open_interest_[entries_[slot].instrument] -= static_cast<std::uint64_t>(lots);
        entries_[slot].lots = 0;
        return lots;
    }

    [[nodiscard]] const position& operator[](std::uint32_t slot) const noexcept { return entries_[slot]; }
    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(entries_.size()); }
    /// The sum of the long positions in an instrument.
    [[nodiscard]] std::uint64_t open_interest(std::uint32_t instrument) const noexcept {
        return open_interest_[instrument];
    }

    /// The most pairs that one bucket of the index has sent on to the next. Reads the whole index.
    [[nodiscard]] std::uint32_t passed_max() const noexcept { return index_.passed_max(); }

    /// Saves everything, or loads it into newly made positions.
    void transfer(base::archive& a) noexcept {
        const std::uint32_t pairs = a.count(entries_.size(), index_.capacity());
        for (std::uint32_t slot = 0; slot < pairs; ++slot) {
            position p = a.loads() ? position{} : entries_[slot];
            a.value(p);
            if (!a.loads()) continue;
            a.require(p.instrument < open_interest_.size() && find(p.account, p.instrument) == none);
            if (a.failed()) return;
            entries_.push_back(p);
            index_.insert(hash(p.account, p.instrument), slot);
        }
        a.sparse(
            open_interest_.size(), [&](std::size_t i) { return open_interest_[i] == 0; },
            [&](std::size_t i) { a.value(open_interest_[i]); });
    }

 private:
    static constexpr std::uint32_t recent_count = 1024;
    struct alignas(16) recent_pair {
        std::uint32_t account = none;
        std::uint32_t instrument = none;
        std::uint32_t slot = none;
    };

    [[nodiscard]] static std::uint32_t place_of(std::uint32_t account, std::uint32_t instrument) noexcept {
        return (account ^ (instrument << 4U)) % recent_count;
    }

    [[nodiscard, gnu::noinline]] std::uint32_t acquire_other(std::uint32_t account, std::uint32_t instrument) noexcept {
        const std::uint32_t known = find(account, instrument);
        if (known != none || entries_.size() == index_.capacity()) return known;
        const auto slot = static_cast<std::uint32_t>(entries_.size());
        entries_.push_back({account, instrument, 0});
        index_.insert(hash(account, instrument), slot);
        ++taken_;
        return slot;
    }
    [[nodiscard]] std::uint32_t hash(std::uint32_t account, std::uint32_t instrument) const noexcept {
        return hash_(instrument, account);
    }
    /// Returns how much the position has grown on the long side.
    static std::int64_t add(position& p, std::int64_t lots) noexcept {
        const std::int64_t long_before = p.lots > 0 ? p.lots : 0;
        p.lots += lots;
        return (p.lots > 0 ? p.lots : 0) - long_before;
    }

    std::vector<position> entries_;
    base::hashed_index index_;
    std::vector<std::uint64_t> open_interest_;
    /// Pairs that were acquired last, by account and instrument.
    std::vector<recent_pair> recent_;
    base::keyed_hash hash_;
    std::uint32_t taken_ = 0;  ///< slots, by the running command
};
static_assert(sizeof(positions) == 152, "`transfer` knows every member; then correct the size here");

}  // namespace corro::risk
