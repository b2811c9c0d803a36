// SPDX-License-Identifier: Apache-2.0
#include "base/byte_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <random>

namespace corro::base {
namespace {

TEST(byte_queue, refuses_a_reservation_that_does_not_fit) {
    byte_queue buffer(64);
    EXPECT_EQ(buffer.reserve(64).size(), 64U);
    EXPECT_TRUE(buffer.reserve(65).empty());
    ASSERT_EQ(buffer.reserve(60).size(), 60U);
    buffer.commit(60);
    EXPECT_TRUE(buffer.reserve(8).empty()) << "neither behind nor, with nothing consumed, before";
    buffer.consume(20);
    EXPECT_EQ(buffer.reserve(8).size(), 8U) << "wraps to the front";
}

TEST(byte_queue, keeps_bytes_in_order_over_random_reservations_and_reads) {
    const char* given = std::getenv("CORRO_SEED");
    const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
    SCOPED_TRACE(testing::Message() << "CORRO_SEED=" << seed);
    std::mt19937_64 random(seed);
    byte_queue buffer(1'000);
    std::deque<std::byte> expected;
    unsigned char next = 0;
    std::size_t refused_count = 0;
    for (int step = 0; step < 300'000; ++step) {
        if (random() % 100 < 55) {  // more writes than reads, so that the buffer is sometimes full
            const std::size_t size = 1 + random() % 120;
            const auto room = buffer.reserve(size);
            if (room.empty()) {
                ++refused_count;
                EXPECT_GT(expected.size() + 2 * 120, 500U) << "refused although more than half is free";
                continue;
            }
            const std::size_t used = 1 + random() % size;
            for (std::size_t i = 0; i < used; ++i) {
                room[i] = std::byte{next++};
                expected.push_back(room[i]);
            }
            buffer.commit(used);
        } else {
            const auto ready = buffer.readable();
            ASSERT_EQ(ready.empty(), expected.empty());
            if (ready.empty()) continue;
            const std::size_t count = 1 + random() % std::min<std::size_t>(ready.size(), 150);
            for (std::size_t i = 0; i < count; ++i) {
                ASSERT_EQ(ready[i], expected.front());
                expected.pop_front();
            }
            buffer.consume(count);
        }
    }
    EXPECT_GT(refused_count, 0U);
}

}  // namespace
}  // namespace corro::base
