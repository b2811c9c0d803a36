// SPDX-License-Identifier: Apache-2.0
#include "base/hashed_index.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::base {
namespace {

TEST(hashed_index, finds_what_was_inserted_and_forgets_what_was_erased) {
    hashed_index index(4);
    index.insert(7, 100);
    index.insert(7, 200);
    EXPECT_EQ(index.find(7, [](std::uint32_t slot) { return slot == 200; }), 200U);
    EXPECT_EQ(index.find(8, [](std::uint32_t) { return true; }), hashed_index::none);
    EXPECT_TRUE(index.erase(7, 100));
    EXPECT_FALSE(index.erase(7, 100));
    EXPECT_TRUE(index.replace(7, 200, 300));
    EXPECT_FALSE(index.replace(7, 200, 300));
    EXPECT_EQ(index.find(7, [](std::uint32_t) { return true; }), 300U);
    EXPECT_EQ(index.size(), 1U);
}

TEST(hashed_index, holds_its_capacity_with_few_places_more) {
    constexpr std::uint32_t capacity = 1'000;
    hashed_index index(capacity, page_touch::no, capacity + 100);
    prng random{test_seed()};
    std::map<std::uint32_t, std::uint32_t> hashes;
    for (std::uint32_t slot = 0; slot < capacity; ++slot) {
        hashes[slot] = static_cast<std::uint32_t>(random());
        index.insert(hashes[slot], slot);
    }
    for (const auto& [slot, hash] : hashes) {
        EXPECT_EQ(index.find(hash, [&](std::uint32_t found) { return found == slot; }), slot);
    }
    for (const auto& [slot, hash] : hashes) EXPECT_TRUE(index.erase(hash, slot));
    EXPECT_EQ(index.size(), 0U);
    EXPECT_EQ(index.passed_max(), 0U);
}

TEST(hashed_index, ends_a_search_when_displaced_entries_lie_all_round) {
    // Eight buckets. Entries with home 0 fill half of them, then all but the last leave. The same with home 4.
    hashed_index index(28);
    for (std::uint32_t slot = 0; slot < 28; ++slot) index.insert(0, slot);
    for (std::uint32_t slot = 0; slot < 27; ++slot) ASSERT_TRUE(index.erase(0, slot));
    for (std::uint32_t slot = 0; slot < 27; ++slot) index.insert(3, 100 + slot);
    for (std::uint32_t slot = 0; slot < 26; ++slot) ASSERT_TRUE(index.erase(3, 100 + slot));
    EXPECT_EQ(index.find(0, [](std::uint32_t) { return true; }), 27U);
    EXPECT_EQ(index.find(3, [](std::uint32_t) { return true; }), 126U);
    for (std::uint32_t hash = 0; hash < 16; ++hash) {
        EXPECT_EQ(index.find(hash, [](std::uint32_t) { return false; }), hashed_index::none);
        EXPECT_FALSE(index.erase(hash, 999));
        EXPECT_FALSE(index.replace(hash, 999, 1));
    }
}

TEST(hashed_index, says_ahead_of_a_search_which_slot_it_is_likely_to_find) {
    hashed_index index(100);
    EXPECT_EQ(index.likely(40), hashed_index::none);
    index.insert(40, 7);
    EXPECT_EQ(index.likely(40), 7U);
    EXPECT_EQ(index.likely(44), hashed_index::none);
    ASSERT_TRUE(index.erase(40, 7));
    EXPECT_EQ(index.likely(40), hashed_index::none);
}

TEST(hashed_index_death, is_never_filled_beyond_its_capacity) {
    hashed_index index(1);
    index.insert(1, 1);
    EXPECT_DEATH(index.insert(2, 2), "sized for every record");
}

TEST(hashed_index, agrees_with_a_map_when_every_hash_collides_with_its_neighbours) {
    prng random{test_seed()};
    hashed_index index(64);
    std::map<std::uint32_t, std::uint32_t> model;  // slot to hash
    for (int step = 0; step < 200'000; ++step) {
        const auto slot = static_cast<std::uint32_t>(random() % 96);
        const auto known = model.find(slot);
        if (known != model.end()) {
            ASSERT_TRUE(index.erase(known->second, slot));
            model.erase(known);
        } else if (model.size() < 64) {
            // Homes at the end of the table, so that displaced entries wrap around.
            const auto hash =
                static_cast<std::uint32_t>(28 + random() % 6) + 128 * static_cast<std::uint32_t>(random() % 3);
            index.insert(hash, slot);
            model[slot] = hash;
        }
        ASSERT_EQ(index.size(), model.size());
        const auto probe = static_cast<std::uint32_t>(random() % 96);
        const auto expected = model.find(probe);
        const std::uint32_t hash = expected != model.end() ? expected->second : 29;
        const std::uint32_t found = index.find(hash, [&](std::uint32_t s) { return s == probe; });
        ASSERT_EQ(found, expected != model.end() ? probe : hashed_index::none);
    }
}

}  // namespace
}  // namespace corro::base
