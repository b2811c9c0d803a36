// SPDX-License-Identifier: Apache-2.0
#include "base/flat_map.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <unordered_map>
#include <vector>

namespace corro::base {
namespace {

TEST(flat_map, finds_what_was_inserted_and_nothing_else) {
    flat_map<int> map;
    EXPECT_TRUE(map.try_insert(7, 70).second);
    EXPECT_FALSE(map.try_insert(7, 71).second) << "the first value stays";
    ASSERT_NE(map.find(7), nullptr);
    EXPECT_EQ(*map.find(7), 70);
    EXPECT_EQ(map.find(8), nullptr);
    EXPECT_TRUE(map.erase(7));
    EXPECT_FALSE(map.erase(7));
    EXPECT_EQ(map.size(), 0U);
}

TEST(flat_map, keys_chosen_to_collide_do_not_collide_under_another_secret) {
    constexpr std::uint64_t guessed = 42;
    const keyed_hash hash(guessed);
    std::vector<std::uint64_t> keys;
    for (std::uint64_t key = 0; keys.size() < 1'000; ++key) {
        if (hash(key) % 4'096 == 0) keys.push_back(key);
    }
    const auto longest = [&](std::uint64_t secret) {
        flat_map<int> map(1'000, secret);
        for (const std::uint64_t key : keys) map.try_insert(key, 0);
        return map.longest_search();
    };
    EXPECT_EQ(longest(guessed), 999U) << "the one who knows the secret can do it";
    EXPECT_LT(longest(0x0123'4567'89ab'cdef), 100U);
}

TEST(flat_map, agrees_with_the_standard_map_over_random_operations) {
    const char* given = std::getenv("CORRO_SEED");
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20261120;
    SCOPED_TRACE(testing::Message() << "CORRO_SEED=" << seed);
    std::mt19937_64 random(seed);
    flat_map<std::uint64_t> map;
    std::unordered_map<std::uint64_t, std::uint64_t> reference;
    for (int step = 0; step < 200'000; ++step) {
        const std::uint64_t key = random() % 997 * (random() % 2 != 0 ? 1 : 1024);
        switch (random() % 3) {
            case 0: EXPECT_EQ(map.try_insert(key, random()).second, !reference.contains(key)); break;
            case 1: EXPECT_EQ(map.erase(key), reference.erase(key) == 1); break;
            default: EXPECT_EQ(map.find(key) != nullptr, reference.contains(key)); break;
        }
        if (const auto* value = map.find(key); value != nullptr) reference[key] = *value;
        ASSERT_EQ(map.size(), reference.size());
    }
    std::size_t seen_count = 0;
    map.for_each([&](std::uint64_t key, std::uint64_t value) {
        ++seen_count;
        EXPECT_EQ(reference.at(key), value);
    });
    EXPECT_EQ(seen_count, reference.size());
}

}  // namespace
}  // namespace corro::base
