// SPDX-License-Identifier: Apache-2.0
#include "lab/measurement.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "lab/suites/coro_methods.hpp"
#include "lab/suites/http_shapes.hpp"

namespace corro::lab {
namespace {

TEST(timed_run, counts_nothing_while_it_warms_up) {
    timed_run run(1000);  // it will not be over within this test
    const std::uint64_t at = run.lap(run.now());
    EXPECT_NE(at, 0U);
    EXPECT_EQ(run.amount(), 0U);
    EXPECT_TRUE(run.latencies().empty());
    EXPECT_THROW((void)run.rate(), wrong_result);
}

TEST(timed_run, counts_what_begins_in_the_measured_time_and_then_ends) {
    timed_run run(0.001);
    std::uint64_t laps = 0;
    for (std::uint64_t at = run.now(); at != 0; at = run.lap(at, 3)) ++laps;
    EXPECT_GT(run.amount(), 0U);
    EXPECT_EQ(run.amount() % 3, 0U);
    EXPECT_LE(run.amount(), 3 * laps);
    EXPECT_EQ(run.latencies().count(), run.amount() / 3);
    EXPECT_GT(run.rate(), 0);
}

TEST(timed_run, goes_on_until_something_was_counted_even_when_its_time_is_over) {
    timed_run run(0.001);
    const std::uint64_t begun_while_warming_up = run.now();
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const std::uint64_t at = run.lap(begun_while_warming_up);
    EXPECT_NE(at, 0U);
    EXPECT_EQ(run.lap(at), 0U);
    EXPECT_EQ(run.amount(), 1U);
}

TEST(timed_run, merges_the_threads_of_a_run) {
    timed_run whole(0.001);
    timed_run part(whole, 0);
    for (std::uint64_t at = part.now(); at != 0; at = part.lap(at)) {
    }
    whole.merge(part);
    EXPECT_EQ(whole.amount(), part.amount());
    EXPECT_DOUBLE_EQ(whole.rate(), part.rate());
}

TEST(verification, says_what_is_wrong) {
    EXPECT_NO_THROW(verify(true, "right"));
    EXPECT_THROW(verify(false, "wrong"), wrong_result);
    try {
        verify_equal(3, 4, "wheels");
        FAIL() << "3 is not 4";
    } catch (const wrong_result& e) {
        EXPECT_STREQ(e.what(), "wheels: 3 instead of 4");
    }
}

TEST(coro_methods, measure_both_ways_and_notice_a_fast_wrong_answer) {
    run_parameters how;
    how.seconds = 0.002;
    const measurement right = both_methods_of(how, [](std::int64_t i) { return i; });
    ASSERT_EQ(right.values.size(), 2U);
    EXPECT_EQ(right.latency_row, 1U);
    EXPECT_THROW((void)both_methods_of(how, [](std::int64_t i) { return i / 2; }), wrong_result);
}

TEST(http_buffer, takes_messages_that_come_in_pieces_or_together) {
    const auto put = [](http_buffer& buffer, std::string_view text) {
        std::memcpy(buffer.room().data(), text.data(), text.size());
        buffer.filled(text.size());
    };
    http_buffer buffer;
    put(buffer, http_request.substr(0, 30));
    EXPECT_FALSE(buffer.take_request());
    put(buffer, http_request.substr(30));
    put(buffer, http_request);
    EXPECT_TRUE(buffer.take_request());
    EXPECT_TRUE(buffer.take_request());
    EXPECT_FALSE(buffer.take_request());
    put(buffer, http_response.substr(0, http_response.size() - 1));
    EXPECT_FALSE(buffer.take_response());
    put(buffer, http_response.substr(http_response.size() - 1));
    EXPECT_TRUE(buffer.take_response());
    put(buffer, "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, Word!!");
    EXPECT_THROW((void)buffer.take_response(), wrong_result);
}

}  // namespace
}  // namespace corro::lab
