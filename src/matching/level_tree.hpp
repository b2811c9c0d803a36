// SPDX-License-Identifier: Apache-2.0
// An ordered map from price key to level, for the prices far from the touch: a B+ tree over a shared pool of nodes.
//
// A node holds up to 31 entries of one 64-bit word each, key above index. A search compares three entries, which select
// eight, and then these eight at once: no branch, at most four cache lines. Inner entries carry a lower bound of their
// child's keys, the first one possibly 0.
//
// Layout: nodes of 256 bytes in one array; 32-bit links.
// Limits: the pool is sized for the levels of all its trees together. After a deletion a node of at most 14 entries
//         merges with a neighbour when both fit one, so that two neighbours hold at least 16 entries and a node at
//         least 8 on average.
// Threads: none of its own.
// Cost: no allocation after construction; logarithmic, base about 20.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "base/page_touch.hpp"
#include "matching/limits.hpp"

namespace corro::matching {

/// A price key with the index of what stands at it. Index 0 means "nothing".
struct keyed_index {
    std::uint64_t key = 0;
    std::uint32_t index = 0;
};

/// The nodes that the trees of one engine share.
class level_tree_pool {
 public:
    static constexpr std::uint32_t entries_max = 31;
    static constexpr std::int64_t unused = INT64_MAX;

    struct alignas(64) node {
        std::uint32_t count = 0;
        std::uint32_t height = 0;  ///< 0 for a leaf
        std::array<std::int64_t, entries_max> entries{};
    };
    static_assert(sizeof(node) == 256);

    /// @param levels_max  Most entries of all trees together.
    /// @param trees_max   Most trees.
    level_tree_pool(std::size_t levels_max, std::size_t trees_max, base::page_touch touch = base::page_touch::yes)
        : nodes_(levels_max / 7 + 2 * (trees_max < levels_max ? trees_max : levels_max) + 16, touch,
                 base::array_use::first_elements) {}

    [[nodiscard]] std::uint32_t acquire(std::uint32_t height) noexcept {
        std::uint32_t index = free_;
        if (index != 0) {
            free_ = nodes_[index].count;
        } else {
            CORRO_ASSERT(fresh_ < nodes_.size(), "the pool holds a node for every eight levels");
            index = fresh_++;
        }
        nodes_[index].count = 0;
        nodes_[index].height = height;
        nodes_[index].entries.fill(unused);
        return index;
    }
    void release(std::uint32_t index) noexcept {
        nodes_[index].count = free_;
        free_ = index;
    }
    [[nodiscard]] node& operator[](std::uint32_t index) noexcept { return nodes_[index]; }
    [[nodiscard]] const node& operator[](std::uint32_t index) const noexcept { return nodes_[index]; }
    [[nodiscard]] std::size_t size_bytes() const noexcept { return nodes_.size() * sizeof(node); }
    /// The number of additions, of single entries or of whole leaves.
    [[nodiscard]] std::uint64_t additions_count() const noexcept { return additions_; }
    void count_addition() noexcept { ++additions_; }

 private:
    base::large_array<node> nodes_;
    std::uint64_t additions_ = 0;
    std::uint32_t free_ = 0;   ///< head of the list of released nodes; 0 ends it
    std::uint32_t fresh_ = 1;  ///< nodes from here on have never been used and are in no list
};

class level_tree {
 public:
    /// Where a key is missing: for an insertion of this key that follows at once.
    struct place {
        std::uint32_t leaf = 0;  ///< 0: not known
        std::uint32_t rank = 0;  ///< how many entries of the leaf come before it
    };

    [[nodiscard]] bool empty() const noexcept { return root_ == 0; }

    /// The index at `key`, or 0.
    [[nodiscard]] std::uint32_t find(const level_tree_pool& pool, std::uint64_t key) const noexcept {
        place where;
        return find(pool, key, where);
    }
    /// The same. Sets `where` to the place that the key has, or would get.
    [[nodiscard]] std::uint32_t find(const level_tree_pool& pool, std::uint64_t key, place& where) const noexcept {
        if (root_ == 0) return 0;
        const std::uint32_t at = leaf_of(pool, key);
        const node& leaf = pool[at];
        const std::uint32_t rank = rank_of(leaf, key);
        where = {at, rank};
        if (rank == 0 || key_of(leaf.entries[rank - 1]) != key) return 0;
        return index_of(leaf.entries[rank - 1]);
    }

    /// The entry with the smallest key; index 0 when the tree is empty.
    [[nodiscard]] keyed_index first(const level_tree_pool& pool) const noexcept {
        return root_ == 0 ? keyed_index{} : leftmost(pool, root_);
    }

    /// The entry with the smallest key above `key`; index 0 when there is none.
    [[nodiscard]] keyed_index next_after(const level_tree_pool& pool, std::uint64_t key) const noexcept {
        if (root_ == 0) return {};
        std::uint32_t at = root_;
        std::uint32_t right = 0;  // the subtree just right of the path
        while (pool[at].height != 0) {
            const node& inner = pool[at];
            const std::uint32_t position = child_position(inner, key);
            if (position + 1 < inner.count) right = index_of(inner.entries[position + 1]);
            at = index_of(inner.entries[position]);
        }
        const std::uint32_t rank = rank_of(pool[at], key);
        if (rank < pool[at].count) return unpack(pool[at].entries[rank]);
        return right == 0 ? keyed_index{} : leftmost(pool, right);
    }

    /// The entry with the largest key up to `key`, which must not be the largest of all; index 0 when there is none.
    [[nodiscard]] keyed_index last_up_to(const level_tree_pool& pool, std::uint64_t key) const noexcept {
        if (root_ == 0) return {};
        std::uint32_t at = root_;
        std::uint32_t left = 0;  // the subtree just left of the path
        while (pool[at].height != 0) {
            const node& inner = pool[at];
            const std::uint32_t position = child_position(inner, key);
            if (position != 0) left = index_of(inner.entries[position - 1]);
            at = index_of(inner.entries[position]);
        }
        const std::uint32_t rank = rank_of(pool[at], key);
        if (rank != 0) return unpack(pool[at].entries[rank - 1]);
        return left == 0 ? keyed_index{} : rightmost(pool, left);
    }

    /// Adds an entry; `key` is not present, `index` is not 0.
    void insert(level_tree_pool& pool, std::uint64_t key, std::uint32_t index) noexcept {
        pool.count_addition();
        if (root_ == 0) root_ = pool.acquire(0);
        const std::uint32_t split = insert_below(pool, root_, key, index);
        if (split != 0) grow(pool, split);
    }

    /// The same after `find` has set `where` for this key, without a second search unless the leaf is full.
    void insert(level_tree_pool& pool, std::uint64_t key, std::uint32_t index, const place& where) noexcept {
        if (where.leaf == 0 || pool[where.leaf].count == entries_max) return insert(pool, key, index);
        pool.count_addition();
        insert_at(pool[where.leaf], where.rank, pack(key, index));
    }

    /// Most entries that `prepend` takes.
    static constexpr std::size_t run_max = 28;
    /// Adds entries whose keys are below all others, the largest key first. Faster than one by one.
    void prepend(level_tree_pool& pool, std::span<const keyed_index> run) noexcept {
        if (run.size() < kept) {
            // A leaf with so few entries would exceed the pool's size.
            for (const keyed_index& e : run) insert(pool, e.key, e.index);
            return;
        }
        pool.count_addition();
        const std::uint32_t leaf = pool.acquire(0);
        node& n = pool[leaf];
        for (const keyed_index& e : run) n.entries[run.size() - ++n.count] = pack(e.key, e.index);
        if (root_ == 0) {
            root_ = leaf;
        } else if (pool[root_].height == 0) {
            const std::uint32_t right = root_;
            root_ = leaf;
            grow(pool, right);
        } else if (const std::uint32_t split = prepend_below(pool, root_, leaf); split != 0) {
            grow(pool, split);
        }
    }

    /// Removes the entry at `key`, which is present.
    void erase(level_tree_pool& pool, std::uint64_t key) noexcept {
        node& leaf = pool[leaf_of(pool, key)];
        if (leaf.count > merge_max / 2 + 1) [[likely]] {
            erase_key(leaf, key);  // enough entries stay, so nothing above the leaf changes
            return;
        }
        erase_below(pool, root_, key);
        while (pool[root_].height != 0 && pool[root_].count == 1) {
            const std::uint32_t child = index_of(pool[root_].entries[0]);
            pool.release(root_);
            root_ = child;
        }
        if (pool[root_].count == 0) {
            pool.release(root_);
            root_ = 0;
        }
    }

 private:
    using node = level_tree_pool::node;
    static constexpr std::uint32_t entries_max = level_tree_pool::entries_max;
    static constexpr std::uint32_t merge_max =
        28;  ///< merged nodes keep free entries, or the next insertion would split again
    static constexpr std::uint32_t kept = 16;  ///< by a node that splits
    static_assert(run_max == merge_max);

    [[nodiscard]] static std::int64_t pack(std::uint64_t key, std::uint32_t index) noexcept {
        return static_cast<std::int64_t>((key << index_bits) | index);
    }
    [[nodiscard]] static std::uint64_t key_of(std::int64_t entry) noexcept {
        return static_cast<std::uint64_t>(entry) >> index_bits;
    }
    [[nodiscard]] static std::uint32_t index_of(std::int64_t entry) noexcept {
        return static_cast<std::uint32_t>(entry) & ((1U << index_bits) - 1);
    }
    [[nodiscard]] static keyed_index unpack(std::int64_t entry) noexcept { return {key_of(entry), index_of(entry)}; }

    /// How many entries have a key of at most `key`. Unused entries compare above every key.
    [[nodiscard]] static std::uint32_t rank_of(const node& n, std::uint64_t key) noexcept {
        // The largest key with the largest index is not in use, so `unused` never counts.
        const std::int64_t probe = pack(key, (1U << index_bits) - 1);
        const std::uint32_t above_8 = n.entries[8] <= probe ? 1U : 0U;
        const std::uint32_t above_16 = n.entries[16] <= probe ? 1U : 0U;
        const std::uint32_t above_24 = n.entries[24] <= probe ? 1U : 0U;
        // The rank lies among the eight entries from 0, 8, 16 or 23 on; from 24 on there are only seven.
        static_assert(entries_max == 31);
        const std::uint32_t begin = 8 * (above_8 + above_16 + above_24) - above_24;
        std::int64_t rank = 0;
        for (std::uint32_t i = 0; i < 8; ++i) rank += n.entries[begin + i] <= probe ? 1 : 0;
        return begin + static_cast<std::uint32_t>(rank);
    }
    /// The leaf that has the key, or would get it; the tree is not empty.
    [[nodiscard]] std::uint32_t leaf_of(const level_tree_pool& pool, std::uint64_t key) const noexcept {
        std::uint32_t at = root_;
        while (pool[at].height != 0) at = index_of(pool[at].entries[child_position(pool[at], key)]);
        return at;
    }
    /// Removes a key from the leaf that has it.
    static void erase_key(node& leaf, std::uint64_t key) noexcept {
        const std::uint32_t rank = rank_of(leaf, key);
        CORRO_ASSERT(rank != 0 && key_of(leaf.entries[rank - 1]) == key, "only a present key may be erased");
        erase_at(leaf, rank - 1);
    }
    [[nodiscard]] static std::uint32_t child_position(const node& inner, std::uint64_t key) noexcept {
        return rank_of(inner, key) - 1;  // the first bound is at most every key that comes here
    }
    [[nodiscard]] static keyed_index leftmost(const level_tree_pool& pool, std::uint32_t at) noexcept {
        while (pool[at].height != 0) at = index_of(pool[at].entries[0]);
        return unpack(pool[at].entries[0]);
    }

    [[nodiscard]] static keyed_index rightmost(const level_tree_pool& pool, std::uint32_t at) noexcept {
        while (pool[at].height != 0) at = index_of(pool[at].entries[pool[at].count - 1]);
        return unpack(pool[at].entries[pool[at].count - 1]);
    }

    static void insert_at(node& n, std::uint32_t position, std::int64_t entry) noexcept {
        std::int64_t* const at = n.entries.data() + position;
        std::copy_backward(at, n.entries.data() + n.count, n.entries.data() + n.count + 1);
        *at = entry;
        ++n.count;
    }
    static void erase_at(node& n, std::uint32_t position) noexcept {
        std::int64_t* const at = n.entries.data() + position;
        std::copy(at + 1, n.entries.data() + n.count, at);
        --n.count;
        n.entries[n.count] = level_tree_pool::unused;
    }

    /// Puts an entry into a node; a full node gives its upper half to a new right neighbour, which is returned.
    static std::uint32_t insert_or_split(level_tree_pool& pool, std::uint32_t at, std::uint32_t position,
                                         std::int64_t entry) noexcept {
        if (pool[at].count < entries_max) {
            insert_at(pool[at], position, entry);
            return 0;
        }
        const std::uint32_t right_index = pool.acquire(pool[at].height);
        node& left = pool[at];
        node& right = pool[right_index];
        for (std::uint32_t i = kept; i < entries_max; ++i) {
            right.entries[i - kept] = left.entries[i];
            left.entries[i] = level_tree_pool::unused;
        }
        right.count = entries_max - kept;
        left.count = kept;
        if (position <= kept) {
            insert_at(left, position, entry);
        } else {
            insert_at(right, position - kept, entry);
        }
        return right_index;
    }

    static std::uint32_t insert_below(level_tree_pool& pool, std::uint32_t at, std::uint64_t key,
                                      std::uint32_t index) noexcept {
        if (pool[at].height == 0) return insert_or_split(pool, at, rank_of(pool[at], key), pack(key, index));
        const std::uint32_t position = child_position(pool[at], key);
        const std::uint32_t split = insert_below(pool, index_of(pool[at].entries[position]), key, index);
        if (split == 0) return 0;
        return insert_or_split(pool, at, position + 1, pack(key_of(pool[split].entries[0]), split));
    }

    /// Puts a leaf before all others below an inner node. Returns the right neighbour that the node has got, or 0.
    static std::uint32_t prepend_below(level_tree_pool& pool, std::uint32_t at, std::uint32_t leaf) noexcept {
        const std::uint32_t height = pool[at].height;
        const std::uint32_t child = index_of(pool[at].entries[0]);
        if (height == 1) {
            // The bound of the old first child is 0 and must now be above the leaf's keys.
            pool[at].entries[0] = pack(key_of(pool[child].entries[0]), child);
            return insert_or_split(pool, at, 0, pack(0, leaf));
        }
        const std::uint32_t split = prepend_below(pool, child, leaf);
        if (split == 0) return 0;
        return insert_or_split(pool, at, 1, pack(key_of(pool[split].entries[0]), split));
    }
    /// Gives the tree a new root over the old one and its right neighbour.
    void grow(level_tree_pool& pool, std::uint32_t right) noexcept {
        const std::uint32_t root = pool.acquire(pool[right].height + 1);
        node& top = pool[root];
        top.count = 2;
        top.entries[0] = pack(0, root_);
        top.entries[1] = pack(key_of(pool[right].entries[0]), right);
        root_ = root;
    }

    static void erase_below(level_tree_pool& pool, std::uint32_t at, std::uint64_t key) noexcept {
        node& n = pool[at];
        if (n.height == 0) {
            erase_key(n, key);
            return;
        }
        const std::uint32_t position = child_position(n, key);
        const std::uint32_t child = index_of(n.entries[position]);
        erase_below(pool, child, key);
        if (pool[child].count == 0) {
            pool.release(child);
            erase_at(n, position);
            // The new first child takes the keys of the old one too.
            if (position == 0 && n.count != 0) n.entries[0] = pack(0, index_of(n.entries[0]));
            return;
        }
        // Reading a neighbour may miss the caches. Of two that fit one node, one holds at most half of it; if the other
        // one has shrunk, they stay apart until the small one shrinks.
        if (pool[child].count > merge_max / 2) return;
        if (position > 0 && fits_one(pool, n, position - 1)) {
            merge(pool, n, position - 1);
        } else if (position + 1 < n.count && fits_one(pool, n, position)) {
            merge(pool, n, position);
        }
    }
    [[nodiscard]] static bool fits_one(const level_tree_pool& pool, const node& parent,
                                       std::uint32_t position) noexcept {
        return pool[index_of(parent.entries[position])].count + pool[index_of(parent.entries[position + 1])].count <=
               merge_max;
    }
    /// Moves the entries of the child right of `position` into the child at `position`.
    static void merge(level_tree_pool& pool, node& parent, std::uint32_t position) noexcept {
        node& left = pool[index_of(parent.entries[position])];
        const std::uint32_t right_index = index_of(parent.entries[position + 1]);
        const node& right = pool[right_index];
        for (std::uint32_t i = 0; i < right.count; ++i) left.entries[left.count + i] = right.entries[i];
        // The first bound of an inner node may be 0; the parent's bound of that node is exact.
        if (right.height != 0) {
            left.entries[left.count] = pack(key_of(parent.entries[position + 1]), index_of(right.entries[0]));
        }
        left.count += right.count;
        pool.release(right_index);
        erase_at(parent, position + 1);
    }

    std::uint32_t root_ = 0;
};

}  // namespace corro::matching
