// SPDX-License-Identifier: Apache-2.0
#include "base/pool.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::base {
namespace {

struct order {
    std::uint64_t id = 5;
    std::uint32_t next = no_slot;
};

TEST(pool, gives_every_slot_once_and_then_says_that_none_is_left) {
    pool<order> orders{100};
    std::set<std::uint32_t> slots;
    for (int i = 0; i < 100; ++i) {
        const std::uint32_t slot = orders.acquire();
        ASSERT_LT(slot, 100U);
        EXPECT_TRUE(slots.insert(slot).second) << "slot " << slot << " was given twice";
    }
    EXPECT_TRUE(orders.exhausted());
    EXPECT_EQ(orders.acquire(), no_slot);
    EXPECT_EQ(orders.acquire(), no_slot) << "asking again changes nothing";
    EXPECT_EQ(orders.size(), 100U);
    orders.release(42);
    EXPECT_EQ(orders.acquire(), 42U);
    EXPECT_EQ(orders.acquire(), no_slot);
}

TEST(pool, constructs_each_object_anew) {
    pool<order> orders{1};
    const std::uint32_t slot = orders.acquire(order{.id = 9, .next = 3});
    EXPECT_EQ(orders[slot].id, 9U);
    orders.release(slot);
    EXPECT_EQ(orders[orders.acquire()].id, 5U) << "nothing of the slot's former object is left";
}

TEST(pool, uses_the_slot_released_last_first) {
    pool<order> orders{8};
    for (int i = 0; i < 8; ++i) ASSERT_NE(orders.acquire(), no_slot);
    orders.release(3);
    orders.release(6);
    EXPECT_EQ(orders.acquire(), 6U);
    EXPECT_EQ(orders.acquire(), 3U);
}

TEST(pool, an_empty_pool_is_exhausted_from_the_start) {
    pool<order> none{0};
    EXPECT_TRUE(none.exhausted());
    EXPECT_EQ(none.acquire(), no_slot);
}

TEST(pool_death, catches_a_second_release_and_slots_that_do_not_exist) {
    pool<order> orders{4, page_touch::no};
    const std::uint32_t slot = orders.acquire();
    orders.release(slot);
    EXPECT_DEATH(orders.release(slot), "released once");
    EXPECT_DEATH(orders.release(4), "released once");
    EXPECT_DEATH(orders.release(no_slot), "released once");
    EXPECT_DEATH(static_cast<void>(orders[3]), "assertion failed");
}

TEST(pool, keeps_objects_apart_over_random_use) {
    prng random{test_seed()};
    pool<order> orders{257};
    std::map<std::uint32_t, std::uint64_t> model;
    for (int step = 0; step < 100'000; ++step) {
        if (random.chance(1, 2)) {
            const std::uint64_t id = random();
            const std::uint32_t slot = orders.acquire(order{.id = id});
            ASSERT_EQ(slot == no_slot, model.size() == 257);
            if (slot != no_slot) {
                ASSERT_TRUE(model.emplace(slot, id).second);
            }
        } else if (!model.empty()) {
            auto victim = model.lower_bound(static_cast<std::uint32_t>(random.below(257)));
            if (victim == model.end()) victim = model.begin();
            ASSERT_EQ(orders[victim->first].id, victim->second);
            orders.release(victim->first);
            ASSERT_FALSE(orders.is_used(victim->first));
            model.erase(victim);
        }
        ASSERT_EQ(orders.size(), model.size());
    }
    for (const auto& [slot, id] : model) EXPECT_EQ(orders[slot].id, id);
}

}  // namespace
}  // namespace corro::base
