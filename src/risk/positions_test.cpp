// SPDX-License-Identifier: Apache-2.0
#include "risk/positions.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::risk {
namespace {

TEST(positions, give_each_pair_one_slot_until_all_are_taken) {
    positions p(2, 8);
    const std::uint32_t first = p.acquire(1, 5);
    EXPECT_EQ(p.acquire(1, 5), first);
    EXPECT_NE(p.acquire(5, 1), first);
    EXPECT_EQ(p.acquire(7, 7), positions::none);
    EXPECT_EQ(p.find(7, 7), positions::none);
    EXPECT_EQ(p.count(), 2U);
}

TEST(positions, add_up_to_zero_and_the_long_ones_to_the_open_interest) {
    base::prng random{base::test_seed()};
    positions p(64, 2);
    for (int i = 0; i < 20'000; ++i) {
        const auto instrument = static_cast<std::uint32_t>(random.below(2));
        const std::uint32_t buyer = p.acquire(static_cast<std::uint32_t>(random.below(6)), instrument);
        const std::uint32_t seller = p.acquire(static_cast<std::uint32_t>(random.below(6)), instrument);
        const std::uint64_t told =
            p.trade(instrument, buyer, seller, static_cast<std::uint32_t>(1 + random.below(1'000'000'000)));
        std::int64_t sum = 0;
        std::uint64_t open_interest = 0;
        for (std::uint32_t slot = 0; slot < p.count(); ++slot) {
            if (p[slot].instrument != instrument) continue;
            sum += p[slot].lots;
            if (p[slot].lots > 0) open_interest += static_cast<std::uint64_t>(p[slot].lots);
        }
        ASSERT_EQ(sum, 0);
        ASSERT_EQ(p.open_interest(instrument), open_interest);
        ASSERT_EQ(told, open_interest);
    }
}

TEST(positions, of_a_rejected_command_are_given_back_whatever_was_used_last) {
    base::prng random{base::test_seed()};
    positions p(200, 4, random());
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> model;
    for (int i = 0; i < 50'000; ++i) {
        p.begin_command();
        std::vector<std::pair<std::uint32_t, std::uint32_t>> taken;
        for (std::uint64_t left = random.below(4); left != 0; --left) {
            // Among these pairs, several share a place in the memory of the last ones.
            const std::pair pair{static_cast<std::uint32_t>(random.below(80)),
                                 static_cast<std::uint32_t>(random.below(4))};
            const std::uint32_t slot = p.acquire(pair.first, pair.second);
            const auto known = model.find(pair);
            if (known != model.end()) {
                ASSERT_EQ(slot, known->second);
            } else if (model.size() == 200) {
                ASSERT_EQ(slot, positions::none);
            } else {
                ASSERT_EQ(slot, model.size());
                model[pair] = slot;
                taken.push_back(pair);
            }
        }
        if (model.size() < 100 ? random.below(3) != 0 : random.below(50) != 0) {
            p.give_back();
            for (const auto& pair : taken) model.erase(pair);
        }
        ASSERT_EQ(p.count(), model.size());
    }
    for (const auto& [pair, slot] : model) EXPECT_EQ(p.find(pair.first, pair.second), slot);
}

}  // namespace
}  // namespace corro::risk
