// SPDX-License-Identifier: Apache-2.0
// One side of a book as an ordered map from price key to level: constant time near the touch, logarithmic far from it.
//
// Keys within the window [low, high) are array positions; a bitmap of three tiers marks the occupied ones. Everything
// at or above `high` is in a tree. The window is a ring over the low bits of the key, so that it moves without
// copying: moving it towards better prices moves the levels at its far end to the tree, moving it away takes levels
// back, one occupied word of 64 ticks per operation on the tree.
//
// Invariants: every key in the tree is at or above `high`; the window is empty only if the whole ladder is; `low` and
//             `high` are multiples of 64 and at most the window's size apart. So the best level is always in the
//             window.
// Units: keys of matching/limits.hpp, lower is better.
// Limits: keys below 2^33.
// Threads: none of its own.
// Cost: memory 4 bytes per tick of the window and one bit; no allocation after construction. A new best price below
//       the window moves levels that no longer fit to the tree, at most the window's levels: one step of the tree for
//       28 of them.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/archive.hpp"
#include "base/assert.hpp"
#include "matching/level_tree.hpp"
#include "matching/limits.hpp"

namespace corro::matching {

class price_ladder {
 public:
    /// The best key of an empty ladder: worse than every key.
    static constexpr std::uint64_t no_key = std::uint64_t{1} << key_bits;

    /// @param window_bits  The window holds 2^window_bits ticks; from window_bits_min to window_bits_max.
    /// @param number       Distinguishes ladders, so that equal prices of many books fall on different cache sets.
    price_ladder(level_tree_pool& pool, std::uint32_t window_bits, std::uint32_t number)
        : mask_((std::uint64_t{1} << window_bits) - 1),
          shift_(64ULL * 37 * number),
          levels_(std::make_unique<std::uint32_t[]>(std::size_t{1} << window_bits)),
          words_(std::make_unique<std::uint64_t[]>(words_count(window_bits))),
          pool_(&pool),
          groups_(words_.get() + (std::size_t{1} << (window_bits - 6))) {
        CORRO_ASSERT(window_bits >= window_bits_min && window_bits <= window_bits_max);
    }

    [[nodiscard]] std::uint64_t best_key() const noexcept { return best_key_; }
    /// The best level, or 0 when the ladder is empty.
    [[nodiscard]] std::uint32_t best_level() const noexcept { return best_level_; }
    [[nodiscard]] bool empty() const noexcept { return best_level_ == 0; }

    /// The level at `key`, or 0.
    [[nodiscard]] std::uint32_t find(std::uint64_t key) const noexcept {
        if (in_window(key)) [[likely]]
            return levels_[position(key)];
        return key >= high_ ? tree_.find(*pool_, key) : 0;
    }

    /// The same. Sets `where` for an insertion of this key that follows at once.
    [[nodiscard, gnu::always_inline]] std::uint32_t find(std::uint64_t key, level_tree::place& where) const noexcept {
        if (in_window(key)) [[likely]]
            return levels_[position(key)];
        return key >= high_ ? tree_.find(*pool_, key, where) : 0;
    }

    /// Adds a level; `key` is not present, `level` is not 0.
    ///
    /// @param where  Of `find`.
    void insert(std::uint64_t key, std::uint32_t level, const level_tree::place& where = {}) noexcept {
        if (!in_window(key)) [[unlikely]] {
            if (best_level_ == 0) {
                place_window(key);
            } else if (key < low_) {
                lower_window(key);
            } else {
                tree_.insert(*pool_, key, level, where);
                grow_window();
                return;
            }
        }
        put(key, level);
        if (key < best_key_) {
            best_key_ = key;
            best_level_ = level;
        }
    }

    /// Removes the level at `key`, which is present.
    void erase(std::uint64_t key) noexcept {
        if (!in_window(key)) [[unlikely]] {
            tree_.erase(*pool_, key);
            grow_window();
            return;
        }
        take(key);
        if (key == best_key_) find_best();
    }

    /// The level with the smallest key above `key`; index 0 when there is none. `key` is at least the best key.
    [[nodiscard]] keyed_index next_after(std::uint64_t key) const noexcept {
        if (key + 1 < high_) {
            const std::uint64_t at = next_occupied(key + 1);
            if (at < high_) return {at, levels_[position(at)]};
        }
        return tree_.next_after(*pool_, key);
    }

    /// The level with the largest key up to `key`; index 0 when there is none.
    [[nodiscard]] keyed_index last_up_to(std::uint64_t key) const noexcept {
        if (key < best_key_) return {};
        if (key >= high_) {
            const keyed_index far = tree_.last_up_to(*pool_, key);
            if (far.index != 0) return far;
        }
        const std::uint64_t at = last_occupied(key < high_ ? key : high_ - 1);
        return {at, levels_[position(at)]};
    }

    /// Saves or loads the window's position; the levels are restored one by one.
    void transfer(base::archive& a) noexcept {
        a.value(low_, high_);
        if (!a.loads()) return;
        a.require((low_ | high_) % 64 == 0 && low_ < high_ && high_ <= 2 * no_key && high_ - low_ <= window_size());
        if (a.failed()) low_ = high_ = 0;
    }
    /// Adds a level without moving the window. False if that is impossible: the key is taken, or better than the
    /// window.
    [[nodiscard]] bool restore(std::uint64_t key, std::uint32_t level) noexcept {
        if (key < low_ || key >= no_key || find(key) != 0) return false;
        if (key < best_key_) {
            best_key_ = key;
            best_level_ = level;
        }
        if (in_window(key)) {
            put(key, level);
        } else {
            tree_.insert(*pool_, key, level);
        }
        return true;
    }
    /// Whether the best level is in the window, as it must be when all levels have been restored.
    [[nodiscard]] bool is_sound() const noexcept { return empty() ? low_ == high_ : in_window(best_key_); }

    /// Hints that `key` will be looked up soon.
    void prefetch(std::uint64_t key) const noexcept { __builtin_prefetch(&levels_[position(key)]); }
    /// The level at `key` if that is in the window, or 0.
    [[nodiscard]] std::uint32_t find_near(std::uint64_t key) const noexcept {
        return in_window(key) ? levels_[position(key)] : 0;
    }

 private:
    [[nodiscard]] static constexpr std::size_t words_count(std::uint32_t bits) noexcept {
        const std::size_t words = std::size_t{1} << (bits - 6);
        return words + (words + 63) / 64;
    }
    [[nodiscard]] bool in_window(std::uint64_t key) const noexcept { return key - low_ < high_ - low_; }
    [[nodiscard]] std::uint64_t position(std::uint64_t key) const noexcept { return (key + shift_) & mask_; }
    [[nodiscard]] std::uint64_t window_size() const noexcept { return mask_ + 1; }
    /// Ticks kept free on the better side of the best price when the window moves.
    [[nodiscard]] std::uint64_t margin() const noexcept { return (window_size() / 4) & ~std::uint64_t{63}; }
    /// The beginning of the window when its best price is `key`.
    [[nodiscard]] std::uint64_t low_for(std::uint64_t key) const noexcept {
        const std::uint64_t aligned = key & ~std::uint64_t{63};
        return aligned > margin() ? aligned - margin() : 0;
    }

    [[nodiscard]] static std::uint64_t lowest(std::uint64_t bits) noexcept {
        return static_cast<std::uint64_t>(std::countr_zero(bits));
    }

    void put(std::uint64_t key, std::uint32_t level) noexcept {
        const std::uint64_t at = position(key);
        levels_[at] = level;
        words_[at >> 6] |= std::uint64_t{1} << (at & 63);
        groups_[at >> 12] |= std::uint64_t{1} << ((at >> 6) & 63);
        top_ |= std::uint64_t{1} << (at >> 12);
    }
    void take(std::uint64_t key) noexcept {
        const std::uint64_t at = position(key);
        levels_[at] = 0;
        if ((words_[at >> 6] &= ~(std::uint64_t{1} << (at & 63))) != 0) return;
        if ((groups_[at >> 12] &= ~(std::uint64_t{1} << ((at >> 6) & 63))) != 0) return;
        top_ &= ~(std::uint64_t{1} << (at >> 12));
    }

    /// The first occupied position of the ring at or after `from`, without wrapping; window_size() if there is none.
    [[nodiscard]] std::uint64_t scan(std::uint64_t from) const noexcept {
        constexpr std::uint64_t behind_first = ~std::uint64_t{1};
        std::uint64_t word = from >> 6;
        const std::uint64_t bits = words_[word] & (~std::uint64_t{0} << (from & 63));
        if (bits != 0) return (word << 6) + lowest(bits);
        std::uint64_t group = word >> 6;
        std::uint64_t words = groups_[group] & (behind_first << (word & 63));
        if (words == 0) {
            const std::uint64_t groups = top_ & (behind_first << group);
            if (groups == 0) return window_size();
            group = lowest(groups);
            words = groups_[group];
        }
        word = (group << 6) + lowest(words);
        return (word << 6) + lowest(words_[word]);
    }
    /// The smallest occupied key from `key` (inside the window) on; at or above `high_` if there is none.
    [[nodiscard]] std::uint64_t next_occupied(std::uint64_t key) const noexcept {
        const std::uint64_t from = position(key);
        std::uint64_t at = scan(from);
        if (at < window_size()) {
            const std::uint64_t found = key + (at - from);
            if (found < high_) return found;
        }
        // Continues at the beginning of the ring. A position found there may lie before `key`; its distance is then
        // beyond the window.
        at = top_ == 0 ? window_size() : scan(0);
        return at >= from ? no_key : key + (window_size() - from) + at;
    }

    /// The last occupied position of the ring at or before `from`, without wrapping; window_size() if there is none.
    [[nodiscard]] std::uint64_t scan_down(std::uint64_t from) const noexcept {
        const auto up_to = [](std::uint64_t bit) { return ~std::uint64_t{0} >> (63 - bit); };
        const auto highest = [](std::uint64_t bits) {
            return std::uint64_t{63} - static_cast<unsigned>(std::countl_zero(bits));
        };
        std::uint64_t word = from >> 6;
        const std::uint64_t bits = words_[word] & up_to(from & 63);
        if (bits != 0) return (word << 6) + highest(bits);
        std::uint64_t group = word >> 6;
        std::uint64_t words = (word & 63) == 0 ? 0 : groups_[group] & up_to((word & 63) - 1);
        if (words == 0) {
            const std::uint64_t groups = group == 0 ? 0 : top_ & up_to(group - 1);
            if (groups == 0) return window_size();
            group = highest(groups);
            words = groups_[group];
        }
        word = (group << 6) + highest(words);
        return (word << 6) + highest(words_[word]);
    }
    /// The largest occupied key up to `key`, which is inside the window and not better than the best.
    [[nodiscard]] std::uint64_t last_occupied(std::uint64_t key) const noexcept {
        const std::uint64_t from = position(key);
        std::uint64_t at = scan_down(from);
        // Continues at the end of the ring: at least the best level is there.
        if (at == window_size()) at = scan_down(mask_);
        return key - ((from - at) & mask_);
    }

    /// The best level was taken.
    void find_best() noexcept {
        if (top_ != 0) [[likely]] {
            // All levels are worse than it, so the first one behind it is the next one, unless the ring ends before.
            const std::uint64_t was = position(best_key_);
            const std::uint64_t at = scan(was);
            if (at < window_size()) [[likely]] {
                best_key_ += at - was;
                best_level_ = levels_[at];
                return;
            }
            best_key_ = next_occupied(best_key_);
            best_level_ = levels_[position(best_key_)];
            return;
        }
        const keyed_index far = tree_.first(*pool_);
        if (far.index == 0) {
            best_key_ = no_key;
            best_level_ = 0;
            low_ = high_ = 0;
            return;
        }
        // The window is empty: it moves to the best of the far levels, at no cost.
        low_ = low_for(far.key);
        high_ = far.key & ~std::uint64_t{63};
        best_key_ = far.key;
        best_level_ = far.index;
        take_word_from_tree(far.key);
        extend_over_gap();
    }

    void place_window(std::uint64_t key) noexcept {
        low_ = low_for(key);
        high_ = low_ + window_size();
    }

    /// Moves the window's beginning below `key`, which is better than all others.
    void lower_window(std::uint64_t key) noexcept {
        const std::uint64_t low = low_for(key);
        const std::uint64_t high = low + window_size();
        if (high_ > high) {
            move_to_tree_from(high);
            high_ = high;
        }
        low_ = low;
    }

    /// Moves the levels from `key` on to the tree, which has none before them; the window is not empty.
    void move_to_tree_from(std::uint64_t key) noexcept {
        std::array<keyed_index, level_tree::run_max> run;
        std::size_t size = 0;
        for (std::uint64_t at = last_occupied(high_ - 1); at >= key;) {
            run[size++] = {at, levels_[position(at)]};
            take(at);
            if (size == run.size()) {
                tree_.prepend(*pool_, run);
                size = 0;
            }
            if (at == best_key_) break;
            at = last_occupied(at - 1);
        }
        tree_.prepend(*pool_, std::span(run).first(size));
    }

    /// Extends the window: at no cost where the tree is empty, otherwise by one word of 64 ticks.
    void grow_window() noexcept {
        // Prices moved away from the beginning. There are no levels below the best, so the beginning follows at no
        // cost.
        if (best_key_ - low_ > window_size() / 2) low_ = low_for(best_key_);
        if (high_ - low_ >= window_size()) return;
        const keyed_index far = tree_.first(*pool_);
        if (far.index != 0 && far.key < low_ + window_size()) {
            high_ = far.key & ~std::uint64_t{63};
            take_word_from_tree(far.key);
        }
        extend_over_gap();
    }
    /// Takes the levels of the word that begins at `high_` out of the tree; the first of them is at `key`.
    void take_word_from_tree(std::uint64_t key) noexcept {
        high_ = (key | 63) + 1;
        for (keyed_index far = tree_.first(*pool_); far.index != 0 && far.key < high_; far = tree_.first(*pool_)) {
            tree_.erase(*pool_, far.key);
            put(far.key, far.index);
        }
    }
    /// Moves the end of the window to the tree's first level, or to its full size.
    void extend_over_gap() noexcept {
        const keyed_index far = tree_.first(*pool_);
        const std::uint64_t full = low_ + window_size();
        high_ = far.index != 0 && far.key < full ? far.key & ~std::uint64_t{63} : full;
    }

    // The members that every operation touches, in one cache line.
    std::uint64_t best_key_ = no_key;
    std::uint64_t low_ = 0;
    std::uint64_t high_ = 0;
    std::uint64_t mask_;
    std::uint64_t shift_;
    std::unique_ptr<std::uint32_t[]> levels_;
    std::unique_ptr<std::uint64_t[]> words_;
    std::uint32_t best_level_ = 0;
    level_tree tree_;
    level_tree_pool* pool_;
    std::uint64_t* groups_;
    std::uint64_t top_ = 0;
};
static_assert(sizeof(price_ladder) == 88, "`transfer` and `restore` know every member; then correct the size here");

}  // namespace corro::matching
