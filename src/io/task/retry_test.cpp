// SPDX-License-Identifier: Apache-2.0
#include "io/task/retry.hpp"

#include <gtest/gtest.h>

#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"

namespace corro::io {
namespace {

using namespace std::chrono_literals;

class retrying : public on_backend {};

task<std::expected<int, std::error_code>> works_at(int* calls_count, int attempt) {
    if (++*calls_count == attempt) co_return attempt;
    co_return std::unexpected(std::make_error_code(std::errc::connection_refused));
}

retry_options quickly() {
    retry_options options;
    options.first_pause = 100us;
    options.longest_pause = 400us;
    return options;
}

TEST_P(retrying, goes_on_until_an_attempt_works) {
    int calls_count = 0;
    const auto attempt = [&calls_count] { return works_at(&calls_count, 3); };
    EXPECT_EQ(block_on(ctx, retry(quickly(), attempt)), 3);
    EXPECT_EQ(calls_count, 3);
}

TEST_P(retrying, gives_the_last_failure_when_patience_ends) {
    int calls_count = 0;
    const auto attempt = [&calls_count] { return works_at(&calls_count, 100); };
    const auto result = block_on(ctx, retry(quickly(), attempt));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error(), std::errc::connection_refused);
    EXPECT_EQ(calls_count, 5);
}

TEST_P(retrying, stops_in_a_pause) {
    int calls_count = 0;
    retry_options options;
    options.first_pause = 1h;
    options.longest_pause = 1h;
    const auto attempt = [&calls_count] { return works_at(&calls_count, 100); };
    const auto result = block_on(ctx, with_timeout(1ms, retry(options, attempt)));
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(calls_count, 1);
}

TEST(retry_pause, doubles_up_to_the_longest_and_is_only_ever_shortened) {
    retry_options options;
    options.first_pause = 100ms;
    options.longest_pause = 350ms;
    std::uint64_t random = 7;
    const std::chrono::nanoseconds full[] = {100ms, 200ms, 350ms, 350ms, 350ms};
    unsigned attempt = 2;
    bool shortened = false;
    for (const auto expected : full) {
        const auto pause = detail::retry_pause(options, attempt++, random);
        EXPECT_LE(pause, expected);
        EXPECT_GE(pause, expected / 2);
        shortened |= pause < expected;
    }
    EXPECT_TRUE(shortened);
    options.jitter_percent = 0;
    EXPECT_EQ(detail::retry_pause(options, 60, random), 350ms);
}

CORRO_ON_EVERY_BACKEND(retrying);

}  // namespace
}  // namespace corro::io
