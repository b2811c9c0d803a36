// SPDX-License-Identifier: Apache-2.0
#include "risk/circuit_breaker.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/archive.hpp"
#include "base/byte_stream.hpp"

namespace corro::risk {
namespace {

using domain::price_ticks;
using domain::time_ns;

constexpr std::int64_t move = 10;
constexpr std::int64_t window = 1'000;

/// A book whose trades reach the breaker; each trade is of one lot.
struct traded_book {
    circuit_breaker breaker;
    std::uint64_t volume = 0;

    bool trade(std::int64_t time, std::int64_t price) {
        return breaker.trips(move, window, time_ns{time}, price_ticks{price}, ++volume);
    }
};

TEST(circuit_breaker, trips_at_a_move_above_the_limit_in_either_direction) {
    for (const std::int64_t direction : {1, -1}) {
        traded_book b;
        EXPECT_FALSE(b.trade(0, 100)) << "the first trade";
        EXPECT_FALSE(b.trade(1, 100 + direction * move));
        EXPECT_TRUE(b.trade(2, 100 + direction * (move + 1)));
    }
}

TEST(circuit_breaker, sees_nothing_while_nothing_trades) {
    traded_book b;
    EXPECT_FALSE(b.trade(0, 100));
    EXPECT_FALSE(b.breaker.trips(move, window, time_ns{1}, price_ticks{500}, b.volume));
    EXPECT_EQ(b.breaker.last_seen(), price_ticks{100});
}

TEST(circuit_breaker, begins_a_window_at_the_price_of_the_trade_before_it) {
    traded_book b;
    EXPECT_FALSE(b.trade(0, 100));
    EXPECT_FALSE(b.trade(window - 1, 108)) << "the last instant of the first window";
    EXPECT_FALSE(b.trade(window, 118)) << "10 from 108, where the second window begins";
    EXPECT_EQ(b.breaker.reference(), price_ticks{108});
    EXPECT_TRUE(b.trade(window + 1, 119));
}

TEST(circuit_breaker, compares_with_the_begin_of_the_window_and_not_with_the_trade_before) {
    traded_book b;
    EXPECT_FALSE(b.trade(0, 100));
    for (std::int64_t i = 1; i <= move; ++i) EXPECT_FALSE(b.trade(i, 100 + i));
    EXPECT_TRUE(b.trade(move + 1, 100 + move + 1));
}

TEST(circuit_breaker, begins_again_at_the_price_at_which_it_tripped) {
    traded_book b;
    EXPECT_FALSE(b.trade(0, 100));
    EXPECT_TRUE(b.trade(1, 120));
    EXPECT_FALSE(b.trade(2, 130)) << "10 from 120";
    EXPECT_EQ(b.breaker.reference(), price_ticks{120});
    EXPECT_TRUE(b.trade(3, 131));
}

TEST(circuit_breaker, begins_again_at_the_price_of_an_auction) {
    traded_book b;
    EXPECT_FALSE(b.trade(0, 100));
    b.volume += 50;
    b.breaker.restart(price_ticks{200}, b.volume);
    EXPECT_FALSE(b.breaker.trips(move, window, time_ns{1}, price_ticks{200}, b.volume)) << "it has seen the auction";
    EXPECT_FALSE(b.trade(1, 210));
    EXPECT_TRUE(b.trade(2, 211));
}

TEST(circuit_breaker, sees_trades_of_before_the_day_that_it_has_not_seen) {
    traded_book b;
    EXPECT_FALSE(b.trade(0, 100));
    b.volume += 5;  // lots that no call has reported yet
    b.breaker.forget_volume(b.volume);
    b.volume = 0;
    EXPECT_TRUE(b.breaker.trips(move, window, time_ns{1}, price_ticks{120}, b.volume));
    EXPECT_FALSE(b.breaker.trips(move, window, time_ns{1}, price_ticks{500}, b.volume)) << "now it has";
}

TEST(circuit_breaker, has_a_window_without_end_where_time_would_overflow) {
    circuit_breaker b;
    constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();
    EXPECT_FALSE(b.trips(move, window, time_ns{latest - 1}, price_ticks{100}, 1));
    EXPECT_EQ(b.window_end(), latest);
    EXPECT_TRUE(b.trips(move, window, time_ns{latest - 1}, price_ticks{111}, 2));
}

TEST(circuit_breaker, goes_on_after_a_snapshot) {
    traded_book b;
    EXPECT_FALSE(b.trade(0, 100));
    EXPECT_FALSE(b.trade(1, 105));
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    base::archive out(sink);
    b.breaker.transfer(out);
    ASSERT_TRUE(out.finish());
    traded_book loaded{.breaker = {}, .volume = b.volume};
    base::memory_source source(bytes);
    base::archive in(source);
    loaded.breaker.transfer(in);
    ASSERT_TRUE(in.finish());
    EXPECT_EQ(loaded.breaker.window_end(), b.breaker.window_end());
    EXPECT_EQ(loaded.breaker.reference(), b.breaker.reference());
    EXPECT_EQ(loaded.breaker.last_seen(), b.breaker.last_seen());
    EXPECT_FALSE(loaded.trade(2, 110));
    EXPECT_TRUE(loaded.trade(3, 111));
}

}  // namespace
}  // namespace corro::risk
