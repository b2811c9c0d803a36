// SPDX-License-Identifier: Apache-2.0
#include "market/public_history.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::market {
namespace {

TEST(public_history, finds_the_state_of_any_moment_that_a_link_may_still_show) {
    base::prng random{base::test_seed()};
    public_history history;
    std::vector<std::pair<std::int64_t, std::int32_t>> plain{{-1, 0}};
    std::int64_t now = 0;
    const std::int64_t reach = 5'000;
    for (std::int32_t i = 1; i < 50'000; ++i) {
        now += random.between(0, 40);
        book_view state;
        state.at_ns = now;
        state.trades_count = i;
        history.add(state, now - reach);
        plain.emplace_back(now, i);
        const std::int64_t asked = std::max<std::int64_t>(now - random.between(0, reach), 0);
        std::size_t expected = plain.size() - 1;
        while (plain[expected].first > asked) --expected;
        ASSERT_EQ(history.as_of(asked).trades_count, plain[expected].second);
        std::size_t next = expected;
        history.visit_after(asked, [&](const book_view& after) {
            EXPECT_EQ(after.trades_count, plain[++next].second);
            return next < expected + 5;
        });
        ASSERT_EQ(next, std::min(plain.size() - 1, expected + 5));
    }
    EXPECT_LT(history.kept_count(), 2'048U) << "old states are forgotten";
}

TEST(public_history, keeps_the_last_state_however_old) {
    public_history history;
    book_view state;
    state.at_ns = 5;
    state.bid = domain::price_ticks{1};
    history.add(state, -100);
    EXPECT_EQ(history.as_of(1'000'000'000'000).bid.value, 1);
    EXPECT_EQ(history.as_of(4).bid, domain::no_price);
    EXPECT_EQ(history.latest().at_ns, 5);
}

}  // namespace
}  // namespace corro::market
