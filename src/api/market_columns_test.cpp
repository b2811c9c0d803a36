// SPDX-License-Identifier: Apache-2.0
#include "api/market_columns.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/random.hpp"

namespace corro::api {
namespace {

using domain::price_ticks;
using domain::side;

constexpr std::int64_t length_us = 100'000;

/// A book, and the columns of its changes.
struct recorded_book {
    void set(std::int64_t time_us, side s, std::int64_t ticks, std::uint64_t lots) {
        columns.end_slots_until(time_us, book, ended);
        const std::int64_t rank = rank_of(s, price_ticks{ticks});
        level_map& levels = book[static_cast<std::size_t>(s)];
        const std::uint64_t before = levels.contains(rank) ? levels[rank] : 0;
        if (lots == 0) {
            levels.erase(rank);
        } else {
            levels[rank] = lots;
        }
        columns.on_level(s, rank, before, lots);
    }
    void end(std::int64_t time_us) { columns.end_slots_until(time_us, book, ended); }

    market_columns::book book{};
    market_columns columns{book, 0, length_us};
    std::vector<market_column> ended;
};

market_column::entry entry(std::int64_t rank, std::uint64_t lots) {
    market_column::entry e;
    e.rank = rank;
    e.lots = lots;
    return e;
}

TEST(market_columns, keep_the_largest_quantity_of_a_slot) {
    recorded_book r;
    r.set(10'000, side::sell, 105, 3);
    r.set(20'000, side::sell, 105, 9);
    r.set(30'000, side::sell, 105, 0);
    r.set(40'000, side::buy, 100, 2);
    EXPECT_TRUE(r.ended.empty()) << "the slot has not ended";
    r.end(99'999);
    EXPECT_TRUE(r.ended.empty());
    r.end(100'000);
    ASSERT_EQ(r.ended.size(), 1U);
    EXPECT_EQ(r.ended[0].begin_us, 0);
    EXPECT_EQ(r.ended[0].length_us, length_us);
    EXPECT_EQ(r.ended[0].levels[1], std::vector{entry(105, 9)}) << "it was there, though not at the end";
    EXPECT_EQ(r.ended[0].levels[0], std::vector{entry(-100, 2)});
    EXPECT_EQ(r.ended[0].best_bid, price_ticks{100});
    EXPECT_EQ(r.ended[0].best_ask, domain::no_price);
    // The next slot without a change shows what the book has; then there is nothing to show.
    r.end(1'000'000);
    ASSERT_EQ(r.ended.size(), 2U);
    EXPECT_EQ(r.ended[1].begin_us, 100'000);
    EXPECT_EQ(r.ended[1].levels[1], std::vector{entry(105, 0)});
    EXPECT_TRUE(r.ended[1].levels[0].empty());
    EXPECT_EQ(r.columns.whole().levels[0], std::vector{entry(-100, 2)});
    EXPECT_TRUE(r.columns.whole().levels[1].empty());
    EXPECT_FALSE(r.columns.has_changes());
    EXPECT_EQ(r.columns.slot_end_us(), 1'100'000);
}

TEST(market_columns, have_the_trades_of_a_slot) {
    recorded_book r;
    r.columns.on_trade(side::buy, price_ticks{-7}, 5);
    r.columns.on_trade(side::sell, price_ticks{-9}, 2);
    r.columns.on_trade(side::buy, price_ticks{-8}, 1);
    r.end(100'000);
    ASSERT_EQ(r.ended.size(), 1U) << "trades alone make a column";
    EXPECT_EQ(r.ended[0].bought, 6U);
    EXPECT_EQ(r.ended[0].sold, 2U);
    EXPECT_EQ(r.ended[0].high, price_ticks{-7});
    EXPECT_EQ(r.ended[0].low, price_ticks{-9});
    r.end(200'000);
    EXPECT_EQ(r.ended.size(), 1U);
}

TEST(market_columns, begin_at_multiples_of_their_length_before_1970_too) {
    const market_columns::book empty{};
    EXPECT_EQ(market_columns(empty, 250'000, length_us).slot_end_us(), 300'000);
    EXPECT_EQ(market_columns(empty, 300'000, length_us).slot_end_us(), 400'000);
    EXPECT_EQ(market_columns(empty, -1, length_us).slot_end_us(), 0);
    EXPECT_EQ(market_columns(empty, -100'000, length_us).slot_end_us(), 0);
}

// The naive way: the whole picture of each slot from all quantities that a level has had in it.
TEST(market_columns, added_up_they_are_the_largest_quantities_of_each_slot) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        SCOPED_TRACE(seed);
        base::prng random(seed);
        recorded_book r;
        std::map<std::int64_t, std::map<std::int64_t, std::uint64_t>> pictures;  // by slot, by rank
        std::map<std::int64_t, std::uint64_t> now;
        std::int64_t time = 0;
        std::int64_t slot = 0;
        for (int k = 0; k < 500; ++k) {
            time += static_cast<std::int64_t>(random.below(10)) == 0 ? static_cast<std::int64_t>(random.below(400'000))
                                                                     : static_cast<std::int64_t>(random.below(10'000));
            while (slot < time / length_us) pictures[++slot] = now;
            const auto ticks = static_cast<std::int64_t>(random.below(12));
            const std::uint64_t lots = random.below(4);
            r.set(time, side::sell, ticks, lots);
            if (lots == 0) {
                now.erase(ticks);
            } else {
                now[ticks] = lots;
                std::uint64_t& most = pictures[slot][ticks];
                most = std::max(most, lots);
            }
        }
        r.end((slot + 3) * length_us);
        pictures[slot + 1] = now;
        std::map<std::int64_t, std::uint64_t> shown;
        std::size_t next = 0;
        for (const auto& [of, picture] : pictures) {
            if (next < r.ended.size() && r.ended[next].begin_us == of * length_us) {
                EXPECT_FALSE(r.ended[next].levels[1].empty()) << "a column without a difference";
                for (const market_column::entry& e : r.ended[next].levels[1]) {
                    if (e.lots == 0) {
                        EXPECT_EQ(shown.erase(e.rank), 1U);
                    } else {
                        EXPECT_NE(std::exchange(shown[e.rank], e.lots), e.lots);
                    }
                }
                ++next;
            }
            ASSERT_EQ(shown, picture) << "slot " << of;
        }
        EXPECT_EQ(next, r.ended.size());
    }
}

}  // namespace
}  // namespace corro::api
