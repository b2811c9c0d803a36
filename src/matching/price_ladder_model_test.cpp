// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "matching/level_tree.hpp"
#include "matching/price_ladder.hpp"

namespace corro::matching {
namespace {

TEST(level_tree_model, agrees_with_a_map_while_it_grows_and_shrinks) {
    base::prng random{base::test_seed()};
    constexpr std::size_t levels_max = 20'000;
    level_tree_pool pool(levels_max, 1);
    level_tree tree;
    std::map<std::uint64_t, std::uint32_t> model;
    std::vector<std::uint64_t> keys;
    for (int phase = 0; phase < 12; ++phase) {
        const bool grows = phase % 2 == 0;
        const std::uint64_t range = phase % 4 < 2 ? std::uint64_t{1} << 33 : levels_max + 1'000;
        for (int step = 0; step < 15'000; ++step) {
            const std::uint64_t dice = random.below(10);
            if (dice < (grows ? 8U : 2U) && model.size() < levels_max) {
                const std::uint64_t key = random.below(range);
                if (model.contains(key)) continue;
                const auto index = static_cast<std::uint32_t>(1 + random.below((1U << index_bits) - 2));
                level_tree::place where;
                if (random.below(2) == 0) {
                    ASSERT_EQ(tree.find(pool, key, where), 0U);
                }
                tree.insert(pool, key, index, where);
                model[key] = index;
                keys.push_back(key);
            } else if (!keys.empty()) {
                // Often neighbours, so that nodes become empty one after the other.
                const std::size_t at = random.below(3) == 0 ? keys.size() - 1 : random.below(keys.size());
                const std::uint64_t key = keys[at];
                keys[at] = keys.back();
                keys.pop_back();
                tree.erase(pool, key);
                model.erase(key);
            }
            const std::uint64_t probe =
                random.below(2) == 0 || keys.empty() ? random.below(range) : keys[random.below(keys.size())];
            const auto expected = model.find(probe);
            ASSERT_EQ(tree.find(pool, probe), expected == model.end() ? 0 : expected->second);
            const auto next = model.upper_bound(probe);
            const keyed_index found = tree.next_after(pool, probe);
            ASSERT_EQ(found.index, next == model.end() ? 0 : next->second);
            const keyed_index last = tree.last_up_to(pool, probe);
            ASSERT_EQ(last.index, next == model.begin() ? 0 : std::prev(next)->second);
            ASSERT_EQ(tree.first(pool).index, model.empty() ? 0 : model.begin()->second);
        }
    }
    for (const auto& [key, index] : model) tree.erase(pool, key);
    EXPECT_TRUE(tree.empty());
}

TEST(level_tree_model, never_needs_more_nodes_than_its_pool_was_sized_for) {
    // The worst case of an attacker: fills nodes and leaves one entry in each, again and again.
    base::prng random{base::test_seed()};
    constexpr std::size_t levels_max = 4'000;
    level_tree_pool pool(levels_max, 1);
    level_tree tree;
    std::map<std::uint64_t, std::uint32_t> model;
    for (std::uint64_t round = 0; round < 60; ++round) {
        for (std::uint64_t key = round << 20; model.size() < levels_max; ++key) {
            tree.insert(pool, key, 1);
            model[key] = 1;
        }
        const std::uint64_t stride = 2 + random.below(29);
        std::uint64_t count = 0;
        for (auto at = model.begin(); at != model.end();) {
            if (count++ % stride != 0) {
                tree.erase(pool, at->first);
                at = model.erase(at);
            } else {
                ++at;
            }
        }
    }
    EXPECT_EQ(tree.first(pool).key, model.begin()->first);
}

/// Compares all answers of a ladder with a map.
void expect_same(const price_ladder& ladder, const std::map<std::uint64_t, std::uint32_t>& model) {
    ASSERT_EQ(ladder.empty(), model.empty());
    ASSERT_EQ(ladder.best_key(), model.empty() ? price_ladder::no_key : model.begin()->first);
    ASSERT_EQ(ladder.best_level(), model.empty() ? 0 : model.begin()->second);
}

TEST(price_ladder_model, agrees_with_a_map_at_every_scale_and_window) {
    base::prng random{base::test_seed()};
    constexpr std::array<std::uint64_t, 6> scales{10, 200, 2'000, 70'000, 1'000'000, 1'000'000'000};
    for (std::uint32_t bits = window_bits_min; bits <= window_bits_max; bits += 2) {
        for (const std::uint64_t scale : scales) {
            level_tree_pool pool(3'000, 1);
            price_ladder ladder(pool, bits, static_cast<std::uint32_t>(random.below(100)));
            std::map<std::uint64_t, std::uint32_t> model;
            std::vector<std::uint64_t> keys;
            std::uint64_t middle = key_bias;
            for (int step = 0; step < 12'000; ++step) {
                if (random.below(400) == 0) middle = key_bias - scale + random.below(2 * scale + 1);
                if (random.below(100) < (step % 4'000 < 2'500 ? 60U : 35U) && model.size() < 3'000) {
                    const std::uint64_t key = middle + random.below(scale) + random.below(scale / 4 + 1);
                    if (!model.contains(key)) {
                        ASSERT_EQ(ladder.find(key), 0U);
                        const auto level = static_cast<std::uint32_t>(1 + random.below(1'000'000));
                        ladder.insert(key, level);
                        model[key] = level;
                        keys.push_back(key);
                    }
                } else if (!keys.empty()) {
                    std::size_t at = random.below(keys.size());
                    if (random.below(3) == 0) {  // removes the best level, as a sweep does
                        at = static_cast<std::size_t>(std::find(keys.begin(), keys.end(), model.begin()->first) -
                                                      keys.begin());
                    }
                    const std::uint64_t key = keys[at];
                    keys[at] = keys.back();
                    keys.pop_back();
                    ladder.erase(key);
                    model.erase(key);
                }
                expect_same(ladder, model);
                if (::testing::Test::HasFatalFailure()) return;
                if (!keys.empty()) {
                    const std::uint64_t key = keys[random.below(keys.size())];
                    ASSERT_EQ(ladder.find(key), model.at(key));
                    const auto next = model.upper_bound(key);
                    ASSERT_EQ(ladder.next_after(key).index, next == model.end() ? 0 : next->second);
                    const std::uint64_t probe = middle + random.below(2 * scale) - scale / 2;
                    const auto behind = model.upper_bound(probe);
                    ASSERT_EQ(ladder.last_up_to(probe).index, behind == model.begin() ? 0 : std::prev(behind)->second);
                }
            }
        }
    }
}

TEST(price_ladder_model, N6_a_window_that_moves_hands_its_levels_to_the_tree_by_the_leaf) {
    for (const std::uint32_t bits : {10U, 11U, 12U}) {
        const std::uint64_t size = std::uint64_t{1} << bits;
        level_tree_pool pool(2 * size, 1);
        price_ladder ladder(pool, bits, 3);
        std::map<std::uint64_t, std::uint32_t> model;
        const auto insert = [&](std::uint64_t key) {
            ladder.insert(key, static_cast<std::uint32_t>(key - key_bias + 10 * size));
            model[key] = static_cast<std::uint32_t>(key - key_bias + 10 * size);
        };
        for (std::uint64_t i = 0; i < size / 2; ++i) insert(key_bias + i);
        const std::uint64_t before = pool.additions_count();
        insert(key_bias - 4 * size);
        EXPECT_LE(pool.additions_count() - before, size / 2 / 28 + 28) << "one by one it would be " << size / 2;
        for (const auto& [key, level] : model) ASSERT_EQ(ladder.find(key), level);
        while (!model.empty()) {
            ASSERT_EQ(ladder.best_key(), model.begin()->first);
            ladder.erase(model.begin()->first);
            model.erase(model.begin());
        }
        EXPECT_TRUE(ladder.empty());
    }
}

TEST(price_ladder_model, needs_no_more_nodes_than_its_pool_was_sized_for_however_windows_move) {
    base::prng random{base::test_seed()};
    constexpr std::size_t levels_max = 4'000;
    level_tree_pool pool(levels_max, 1);
    price_ladder ladder(pool, 10, 0);
    std::map<std::uint64_t, std::uint32_t> model;
    std::uint64_t base = key_bias;
    for (int round = 0; round < 400; ++round) {
        // Windows of few and of many levels, each below the last one. Then removes some of the remaining levels.
        base -= 4'096;
        const std::uint64_t wanted = random.below(3) == 0 ? 1 + random.below(700) : 1 + random.below(20);
        for (std::uint64_t i = 0; i < wanted && model.size() < levels_max; ++i) {
            ladder.insert(base + i, 1);
            model[base + i] = 1;
        }
        if (model.size() < levels_max - 800) continue;
        const std::uint64_t stride = 2 + random.below(29);
        std::uint64_t count = 0;
        for (auto at = model.begin(); at != model.end();) {
            if (count++ % stride != 0) {
                ladder.erase(at->first);
                at = model.erase(at);
            } else {
                ++at;
            }
        }
        for (const auto& [key, level] : model) ASSERT_EQ(ladder.find(key), level);
        const auto far = std::prev(model.end());
        ASSERT_EQ(ladder.last_up_to(2 * key_bias - 2).key, far->first);
    }
}

}  // namespace
}  // namespace corro::matching
