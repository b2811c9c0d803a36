// SPDX-License-Identifier: Apache-2.0
#include "node/venue/event_backlog.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::node {
namespace {

std::vector<domain::event> events_from(std::uint64_t first, std::size_t count) {
    std::vector<domain::event> all(count);
    for (std::size_t i = 0; i < count; ++i) all[i].command = domain::sequence_number{first + i};
    return all;
}

TEST(event_backlog, gives_back_what_it_got_in_the_same_order_however_it_grows) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    base::prng random(seed);
    event_backlog backlog(8);
    std::deque<std::uint64_t> expected;
    std::uint64_t next = 1;
    for (int step = 0; step < 20'000; ++step) {
        const std::size_t count = random.below(step % 100 == 0 ? 200 : 9);
        if (random.below(2) == 0) {
            const auto events = events_from(next, count);
            backlog.push(events);
            for (std::size_t i = 0; i < count; ++i) expected.push_back(next++);
        } else {
            const auto front = backlog.front();
            const std::size_t taken = std::min(count, front.size());
            for (std::size_t i = 0; i < taken; ++i) {
                ASSERT_EQ(front[i].command.value, expected.front());
                expected.pop_front();
            }
            backlog.pop(taken);
        }
        ASSERT_EQ(backlog.size(), expected.size());
        ASSERT_EQ(backlog.empty(), expected.empty());
        ASSERT_EQ(backlog.front().empty(), expected.empty());
    }
}

}  // namespace
}  // namespace corro::node
