// SPDX-License-Identifier: Apache-2.0
// The ring against a queue of bytes, at every step, from any position.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "io/shm/ring.hpp"
#include "io/shm/ring_fixture.hpp"

namespace corro::io::shm {
namespace {

TEST(ring_model, is_a_queue_of_bytes_of_bounded_length) {
    base::prng dice(base::test_seed());
    for (int round = 0; round < 60; ++round) {
        const std::size_t capacity = std::size_t{64} << dice.below(4);
        // Near the ends of 32 and 64 bits, and anywhere.
        std::uint64_t begin = dice();
        if (round % 3 == 1) begin = (std::uint64_t{1} << 32U) - dice.below(1000);
        if (round % 3 == 2) begin = 0 - dice.below(1000);
        ring_memory memory(capacity, begin);
        ring_writer writer = memory.writer(begin);
        ring_reader reader = memory.reader(begin);
        std::deque<std::byte> model;
        for (int step = 0; step < 400; ++step) {
            ASSERT_EQ(writer.has_room(), model.size() < capacity);
            ASSERT_EQ(reader.has_bytes(), !model.empty());
            if (dice.below(2) == 0) {
                std::vector<std::byte> sent(dice.below(capacity * 2));
                for (std::byte& each : sent) each = static_cast<std::byte>(dice());
                const std::size_t taken = writer.write(sent);
                ASSERT_EQ(taken, std::min(sent.size(), capacity - model.size()));
                model.insert(model.end(), sent.begin(), sent.begin() + static_cast<std::ptrdiff_t>(taken));
            } else {
                std::vector<std::byte> got(dice.below(capacity * 2));
                const std::size_t read = reader.read(got);
                ASSERT_EQ(read, std::min(got.size(), model.size()));
                ASSERT_TRUE(std::equal(got.begin(), got.begin() + static_cast<std::ptrdiff_t>(read), model.begin()));
                model.erase(model.begin(), model.begin() + static_cast<std::ptrdiff_t>(read));
            }
        }
        ASSERT_FALSE(writer.is_broken() || reader.is_broken());
    }
}

}  // namespace
}  // namespace corro::io::shm
