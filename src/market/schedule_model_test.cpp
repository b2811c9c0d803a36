// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <tuple>

#include "base/random.hpp"
#include "base/test_seed.hpp"
#include "market/schedule.hpp"

namespace corro::market {
namespace {

TEST(schedule, gives_entries_by_time_and_then_in_the_order_in_which_they_were_added) {
    base::prng random{base::test_seed()};
    schedule fast;
    std::set<std::tuple<std::int64_t, std::uint64_t, std::uint32_t>> plain;
    std::int64_t now = 0;
    for (int step = 0; step < 200'000; ++step) {
        if (plain.empty() || random.chance(51, 100)) {
            // Often the same moment, so that the number decides.
            const std::int64_t at = now + random.between(0, random.chance(1, 2) ? 2 : 1'000'000'000'000);
            const auto slot = static_cast<std::uint32_t>(random.below(schedule::slots_max));
            plain.emplace(at, fast.add(at, slot), slot);
        } else {
            const auto& [at, number, slot] = *plain.begin();
            const schedule::entry next = fast.take();
            ASSERT_EQ(next.at_ns, static_cast<std::uint64_t>(at));
            ASSERT_EQ(next.number(), number);
            ASSERT_EQ(next.slot(), slot);
            now = at;
            plain.erase(plain.begin());
        }
        ASSERT_EQ(fast.size(), plain.size());
    }
}

}  // namespace
}  // namespace corro::market
