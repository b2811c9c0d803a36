// SPDX-License-Identifier: Apache-2.0
#include "risk/throttle.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace corro::risk {
namespace {

using domain::command_kind;
using domain::reject_reason;

constexpr throttle_options options{.requests_max = 3, .requests_end = 5, .window_ns = 1'000};

domain::command at(std::int64_t time, std::uint32_t request, command_kind kind = command_kind::enter_order,
                   std::uint32_t session = 1) {
    domain::command c;
    c.kind = kind;
    c.session = domain::session_id{session};
    c.set_request(request);
    c.time = domain::time_ns{time};
    return c;
}

TEST(throttle, S5_refuses_at_one_threshold_and_ends_at_the_next_exactly) {
    throttle t(options, 2);
    for (std::uint32_t r = 1; r <= 3; ++r) EXPECT_EQ(t.judge(at(10, r)), reject_reason::none) << r;
    for (std::uint32_t r = 4; r <= 5; ++r) EXPECT_EQ(t.judge(at(10, r)), reject_reason::throttled) << r;
    EXPECT_EQ(t.judge(at(10, 6)), reject_reason::flooded);
    EXPECT_EQ(t.judge(at(10, 1, command_kind::enter_order, 2)), reject_reason::none) << "of another session";
}

TEST(throttle, S5_counts_anew_at_the_edge_of_a_window_and_not_before) {
    throttle t(options, 1);
    for (std::uint32_t r = 1; r <= 3; ++r) EXPECT_EQ(t.judge(at(0, r)), reject_reason::none);
    EXPECT_EQ(t.judge(at(999, 4)), reject_reason::throttled) << "the last instant of the window";
    EXPECT_EQ(t.judge(at(1'000, 5)), reject_reason::none) << "the first of the next";
    EXPECT_EQ(t.judge(at(1'999, 6)), reject_reason::none);
    EXPECT_EQ(t.judge(at(1'999, 7)), reject_reason::none);
    EXPECT_EQ(t.judge(at(1'999, 8)), reject_reason::throttled);
    EXPECT_EQ(t.judge(at(1'999, 9)), reject_reason::throttled);
    EXPECT_EQ(t.judge(at(1'999, 10)), reject_reason::flooded);
    EXPECT_EQ(t.judge(at(2'000, 11)), reject_reason::none);
}

domain::command query_at(std::int64_t time, std::uint32_t request) {
    return at(time, request, command_kind::query_order);
}

TEST(throttle, N6_a_query_of_all_counts_like_the_requests_that_its_answers_are_worth) {
    constexpr throttle_options rated{.requests_max = 20, .requests_end = 30, .window_ns = 1'000};
    for (const std::uint32_t pages : {1U, 2U, 4U}) {
        throttle t(rated, 1);
        for (std::uint32_t r = 1; r <= pages; ++r) {
            ASSERT_EQ(t.judge(query_at(0, r)), reject_reason::none);
            t.charge(query_at(0, r), 2 * answers_per_request + 1, looks_per_request);
        }
        std::uint32_t taken = 0;
        while (t.judge(at(0, 100 + taken)) == reject_reason::none) ++taken;
        EXPECT_EQ(taken, 20 - 4 * pages) << pages << " queries of four requests each";
    }
}

TEST(throttle, N6_by_the_answers_to_its_queries_alone_no_session_is_logged_out) {
    throttle t(options, 1);
    EXPECT_EQ(t.judge(query_at(0, 1)), reject_reason::none);
    t.charge(query_at(0, 1), 1'000'000, 1'000'000);
    EXPECT_EQ(t.judge(query_at(0, 2)), reject_reason::throttled);
    t.charge(query_at(0, 2), 1, 1);
    EXPECT_EQ(t.judge(query_at(0, 3)), reject_reason::throttled);
    EXPECT_EQ(t.judge(query_at(0, 4)), reject_reason::flooded)
        << "the sixth request would be, and one counted as three";
    EXPECT_EQ(t.judge(query_at(1'000, 5)), reject_reason::none) << "in the next window";
    t.charge(at(1'000, 5), 1'000'000, 1'000'000);
    EXPECT_EQ(t.judge(at(1'000, 6)), reject_reason::none) << "what an order causes is not charged";
}

TEST(throttle, lets_cancels_through_up_to_the_second_threshold) {
    throttle t(options, 1);
    for (std::uint32_t r = 1; r <= 3; ++r) EXPECT_EQ(t.judge(at(0, r)), reject_reason::none);
    EXPECT_EQ(t.judge(at(0, 4, command_kind::cancel_order)), reject_reason::none);
    EXPECT_EQ(t.judge(at(0, 5, command_kind::cancel_orders)), reject_reason::none);
    EXPECT_EQ(t.judge(at(0, 6, command_kind::cancel_order)), reject_reason::flooded) << "but they count";
}

TEST(throttle, counts_the_commands_of_one_request_once) {
    throttle t(options, 1);
    for (std::uint32_t r = 1; r <= 3; ++r) {
        for (int i = 0; i < 6; ++i) EXPECT_EQ(t.judge(at(5, r, command_kind::enter_quote)), reject_reason::none);
    }
    for (int i = 0; i < 6; ++i) EXPECT_EQ(t.judge(at(5, 4, command_kind::enter_quote)), reject_reason::throttled);
}

TEST(throttle, leaves_alone_what_no_client_sent_and_everybody_when_there_is_none) {
    throttle t(options, 1);
    for (int i = 0; i < 10; ++i) EXPECT_EQ(t.judge(at(0, 0, command_kind::cancel_orders)), reject_reason::none);
    throttle off(throttle_options{}, 1);
    for (std::uint32_t r = 1; r <= 100; ++r) EXPECT_EQ(off.judge(at(0, r)), reject_reason::none);
}

TEST(throttle, S5_judges_the_same_commands_alike_when_they_are_replayed) {
    std::vector<domain::command> commands;
    for (std::uint32_t r = 1; r <= 200; ++r) commands.push_back(at(std::int64_t{r} * r * 7 % 5'000, r));
    throttle first(options, 1);
    throttle again(options, 1);
    for (const domain::command& c : commands) EXPECT_EQ(first.judge(c), again.judge(c));
}

}  // namespace
}  // namespace corro::risk
