// SPDX-License-Identifier: Apache-2.0
#include "base/spsc_ring.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <vector>

namespace corro::base {
namespace {

std::vector<int> numbers(int first, int count) {
    std::vector<int> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), first);
    return values;
}

TEST(spsc_ring, hands_elements_over_in_order_until_full_and_until_empty) {
    spsc_ring<int> ring{4};
    EXPECT_TRUE(ring.empty());
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.try_push(i));
    EXPECT_FALSE(ring.try_push(4)) << "every slot is used, and no more";
    EXPECT_EQ(ring.size(), 4U);
    int value = -1;
    for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(ring.try_pop(value));
        EXPECT_EQ(value, i);
    }
    value = 77;
    EXPECT_FALSE(ring.try_pop(value));
    EXPECT_EQ(value, 77) << "a failed pop leaves its target alone";
}

TEST(spsc_ring, keeps_order_over_many_turns_of_the_buffer) {
    spsc_ring<std::uint64_t> ring{8};
    std::uint64_t pushed = 0;
    std::uint64_t popped = 0;
    for (int round = 0; round < 1'000; ++round) {
        for (int i = 0; i < 1 + round % 8; ++i) pushed += ring.try_push(pushed) ? 1U : 0U;
        for (int i = 0; i < 1 + round % 5; ++i) {
            std::uint64_t value = 0;
            if (ring.try_pop(value)) {
                ASSERT_EQ(value, popped++);
            }
        }
    }
    EXPECT_EQ(ring.size(), pushed - popped);
}

TEST(spsc_ring, takes_as_much_of_a_span_as_fits_across_the_wrap) {
    spsc_ring<int> ring{8};
    EXPECT_EQ(ring.try_push(numbers(0, 6)), 6U);
    EXPECT_EQ(ring.consume([](int) {}, 5), 5U);
    EXPECT_EQ(ring.try_push(numbers(6, 10)), 7U);
    EXPECT_EQ(ring.try_push(numbers(99, 1)), 0U);
    EXPECT_EQ(ring.try_push(std::vector<int>{}), 0U);
    std::vector<int> seen;
    EXPECT_EQ(ring.consume([&seen](int value) { seen.push_back(value); }), 8U);
    EXPECT_EQ(seen, numbers(5, 8));
    EXPECT_TRUE(ring.empty());
}

TEST(spsc_ring, shows_elements_in_place_and_frees_them_on_release_only) {
    spsc_ring<int> ring{4};
    EXPECT_TRUE(ring.peek().empty());
    ASSERT_EQ(ring.try_push(numbers(0, 4)), 4U);
    EXPECT_EQ(ring.peek().size(), 4U);
    EXPECT_FALSE(ring.try_push(4)) << "a look frees nothing";
    ring.release(3);
    EXPECT_EQ(ring.producer_space(), 3U);
    ASSERT_EQ(ring.try_push(numbers(4, 2)), 2U);
    ASSERT_EQ(ring.peek().size(), 1U) << "the view ends at the end of the buffer";
    EXPECT_EQ(ring.peek()[0], 3);
    ring.release(1);
    ASSERT_EQ(ring.peek().size(), 2U);
    EXPECT_EQ(ring.peek()[1], 5);
}

TEST(spsc_ring_death, refuses_capacities_that_are_not_powers_of_two_and_releases_of_nothing) {
    EXPECT_DEATH(spsc_ring<int>{3}, "power of two");
    EXPECT_DEATH(spsc_ring<int>{0}, "power of two");
    EXPECT_DEATH(spsc_ring<int>{4}.release(1), "only elements that were seen");
}

TEST(spsc_ring, keeps_the_two_sides_indices_apart) {
    // Mask and pointer, then two areas of two cache lines each. In a smaller ring the two sides would share a line.
    EXPECT_GE(sizeof(spsc_ring<int>), 3 * interference_bytes);
    EXPECT_EQ(alignof(spsc_ring<int>), interference_bytes);
}

}  // namespace
}  // namespace corro::base
