// SPDX-License-Identifier: Apache-2.0
#include "lab/compare.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace corro::lab {
namespace {

result made(const char* row, const char* subject, better direction, spread value) {
    result one;
    one.suite = "first";
    one.row = row;
    one.subject = subject;
    one.unit = direction == better::higher ? "/s" : "ns";
    one.better = direction;
    one.value = value;
    one.samples = {value.median};
    return one;
}

TEST(compare, sets_our_best_against_their_best_and_knows_which_direction_is_better) {
    results all;
    all.rows = {made("speed", "corro_epoll", better::higher, {90, 90, 90}),
                made("speed", "corro_uring", better::higher, {150, 150, 150}),
                made("speed", "asio_callbacks", better::higher, {100, 100, 100}),
                made("speed", "asio_coroutines", better::higher, {80, 80, 80}),
                made("speed", "raw_epoll", better::higher, {200, 200, 200}),
                made("delay", "corro_epoll", better::lower, {40, 40, 40}),
                made("delay", "asio_callbacks", better::lower, {10, 10, 10})};
    const auto suites = compare(all);
    ASSERT_EQ(suites.size(), 1U);
    ASSERT_EQ(suites[0].rows.size(), 2U);
    const comparison& delay = suites[0].rows[0];
    EXPECT_EQ(delay.ours->row, "delay");
    EXPECT_DOUBLE_EQ(delay.ratio, 0.25);
    EXPECT_EQ(delay.floor, nullptr);
    const comparison& speed = suites[0].rows[1];
    EXPECT_EQ(speed.ours->subject, "corro_uring");
    EXPECT_EQ(speed.peer->subject, "asio_callbacks");
    EXPECT_DOUBLE_EQ(speed.ratio, 1.5);
    EXPECT_DOUBLE_EQ(speed.floor_ratio, 0.75);
    EXPECT_DOUBLE_EQ(*suites[0].mean_ratio, std::sqrt(0.25 * 1.5));
}

TEST(compare, counts_what_is_better_worse_and_within_the_spread) {
    results all;
    all.rows = {made("alone", "corro_epoll", better::higher, {1, 1, 1}),
                made("won", "corro_epoll", better::higher, {3, 3, 3}),
                made("won", "asio_callbacks", better::higher, {1, 1, 1}),
                made("also_won", "corro_epoll", better::lower, {3, 3, 3}),
                made("also_won", "asio_callbacks", better::lower, {5, 5, 5}),
                made("open", "corro_epoll", better::higher, {3, 1, 3}),
                made("open", "asio_callbacks", better::higher, {2, 2, 2}),
                made("lost", "corro_epoll", better::higher, {1, 1, 1}),
                made("lost", "asio_callbacks", better::higher, {2, 2, 2})};
    const verdicts count = verdicts_of(compare(all)[0]);
    EXPECT_EQ(count.better, 2);
    EXPECT_EQ(count.overlapping, 1);
    EXPECT_EQ(count.worse, 1);
}

TEST(compare, lists_losses_first_and_rows_without_a_peer_last) {
    results all;
    all.rows = {made("alone", "corro_epoll", better::higher, {1, 1, 1}),
                made("won", "corro_epoll", better::higher, {3, 3, 3}),
                made("won", "asio_callbacks", better::higher, {1, 1, 1}),
                made("lost", "corro_epoll", better::higher, {1, 1, 1}),
                made("lost", "asio_callbacks", better::higher, {2, 2, 2}),
                made("theirs", "asio_callbacks", better::higher, {2, 2, 2})};
    const auto suites = compare(all);
    ASSERT_EQ(suites[0].rows.size(), 3U);
    EXPECT_EQ(suites[0].rows[0].ours->row, "lost");
    EXPECT_EQ(suites[0].rows[1].ours->row, "won");
    EXPECT_EQ(suites[0].rows[2].ours->row, "alone");
    EXPECT_EQ(suites[0].not_ours, std::vector<std::string>{"theirs"});
    const std::string text = comparison_text(suites);
    EXPECT_LT(text.find("- lost"), text.find("+ won"));
    EXPECT_NE(text.find("1 of 3 rows below 1"), std::string::npos);
}

TEST(compare, says_when_the_spreads_overlap) {
    results all;
    all.rows = {made("close", "corro_epoll", better::higher, {100, 90, 110}),
                made("close", "asio_callbacks", better::higher, {105, 100, 120}),
                made("clear", "corro_epoll", better::higher, {100, 99, 101}),
                made("clear", "asio_callbacks", better::higher, {105, 104, 106})};
    const auto suites = compare(all);
    for (const comparison& one : suites[0].rows) EXPECT_EQ(one.within_spread(), one.ours->row == "close");
}

TEST(compare, writes_values_as_people_read_them) {
    EXPECT_EQ(value_text(182'400, "/s"), "182 k/s");
    EXPECT_EQ(value_text(7.9e9, "B/s"), "7.9 GB/s");
    EXPECT_EQ(value_text(25'300'000, "/s"), "25.3 M/s");
    EXPECT_EQ(value_text(12.34, "ns"), "12.3 ns");
    EXPECT_EQ(value_text(1240, "ns"), "1.24 us");
    EXPECT_EQ(value_text(5'600'000, "ns"), "5.6 ms");
    EXPECT_EQ(value_text(999'999, "/s"), "1 M/s");
    EXPECT_EQ(value_text(0, "/s"), "0 /s");
}

}  // namespace
}  // namespace corro::lab
