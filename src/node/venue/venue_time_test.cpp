// SPDX-License-Identifier: Apache-2.0
#include "node/venue/venue_time.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::node {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t hour = 3'600 * second;
constexpr std::int64_t noon = 1'800'000'000 * second;
constexpr std::uint32_t percent = 10'000;  // parts per million

/// Venue time under clocks that the test sets.
struct clocks {
    explicit clocks(std::int64_t last = 0, std::uint32_t slew_ppm = percent) { time.begin(mono, wall, last, slew_ppm); }

    [[nodiscard]] std::int64_t now() const { return time.at(mono); }
    void pass(std::int64_t ns, std::int64_t drift_ppm = 0) {
        mono += static_cast<std::uint64_t>(ns);
        wall += ns + ns / 1'000'000 * drift_ppm;
    }
    /// Runs for this many seconds, with a reading in each.
    void run(int seconds, std::int64_t drift_ppm = 0) {
        for (int i = 0; i < seconds; ++i) {
            pass(second, drift_ppm);
            time.look(mono, wall);
        }
    }

    std::uint64_t mono = 17;
    std::int64_t wall = noon;
    venue_time time;
};

TEST(venue_time, C4_begins_with_the_wall_clock) {
    const clocks c(noon - hour);
    EXPECT_EQ(c.now(), noon);
    EXPECT_EQ(c.time.offset_ns(), 0);
}

TEST(venue_time, C4_goes_on_behind_a_life_whose_clock_was_ahead) {
    clocks c(noon + hour);
    EXPECT_EQ(c.now(), noon + hour) << "commands keep their order";
    EXPECT_EQ(c.time.offset_ns(), hour);
    c.pass(second);
    EXPECT_EQ(c.now(), noon + hour + second - second / 100) << "a second passes in a second, less the correction";
}

TEST(venue_time, C4_comes_back_to_the_wall_clock) {
    clocks c(noon + 30 * second);
    c.run(3'000);
    EXPECT_LT(c.time.offset_ns(), second) << "a hundredth of the time";
    c.run(60);
    EXPECT_NEAR(static_cast<double>(c.time.offset_ns()), 0, 1'000);
}

TEST(venue_time, C4_does_not_leap_when_the_wall_clock_does) {
    for (const std::int64_t leap : {hour, -hour, std::int64_t{40} * 365 * 24 * hour, -noon}) {
        clocks c;
        c.run(10);
        const std::int64_t before = c.now();
        c.wall += leap;
        c.run(100);
        const std::int64_t passed = c.now() - before;
        EXPECT_GE(passed, 99 * second - 10);
        EXPECT_LE(passed, 101 * second);
        EXPECT_EQ(c.time.offset_ns() > 0, leap < 0);
        c.wall -= leap;
        c.run(200);
        EXPECT_NEAR(static_cast<double>(c.time.offset_ns()), 0, 1'000) << "the step was taken back";
    }
}

TEST(venue_time, C4_stays_with_the_wall_clock_for_days_of_drift) {
    for (const std::int64_t drift_ppm : {-50, 50, 500}) {
        clocks c;
        c.run(3 * 24 * 3'600, drift_ppm);
        // The difference of the rates, times the time of a correction.
        EXPECT_LE(std::abs(c.time.offset_ns()), std::abs(drift_ppm) * venue_time::correction_ns / 1'000'000 + 100);
        EXPECT_LE(std::abs(c.now() - c.wall), 2 * std::abs(drift_ppm) * venue_time::correction_ns / 1'000'000);
    }
}

TEST(venue_time, C4_does_not_correct_too_much_when_nobody_looks) {
    clocks c;
    c.wall += second;
    c.run(1);
    EXPECT_NEAR(static_cast<double>(c.time.offset_ns()), -static_cast<double>(second), 1);
    c.pass(hour);
    EXPECT_NEAR(static_cast<double>(c.now() - c.wall), -static_cast<double>(second - venue_time::correction_ns / 100),
                10);
}

TEST(venue_time, C4_never_goes_back_and_its_rate_is_bounded_whatever_the_clocks_do) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    base::prng random(seed);
    const auto between = [&](std::int64_t low, std::int64_t high) {
        return low + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(high - low) + 1));
    };
    for (int venue = 0; venue < 100; ++venue) {
        const auto ppm = static_cast<std::uint32_t>(random.below(venue_time::slew_ppm_max + 1));
        clocks c(noon + between(-2 * hour, 2 * hour), ppm);
        for (int i = 0; i < 1'000; ++i) {
            const std::int64_t before = c.now();
            const std::int64_t passed = between(0, random.below(100) == 0 ? hour : 2 * second);
            c.pass(passed, between(-500, 500));
            if (random.below(50) == 0) c.wall += between(-2 * hour, 2 * hour);
            const std::int64_t unlooked = c.now();
            if (random.below(2) == 0) c.time.look(c.mono, c.wall);
            ASSERT_EQ(c.now(), unlooked) << "a look changes the rate and not the time";
            const std::int64_t bound = passed / 1'000'000 * ppm + 1'000'000;
            ASSERT_GE(c.now() - before, passed - bound);
            ASSERT_LE(c.now() - before, passed + bound);
            ASSERT_GE(c.now(), before);
        }
    }
}

TEST(venue_time, a_reading_of_another_core_that_is_earlier_changes_nothing) {
    clocks c;
    c.run(1);
    const std::int64_t now = c.now();
    EXPECT_EQ(c.time.at(c.mono - 5), now);
    c.time.look(c.mono - 5, c.wall);
    EXPECT_EQ(c.now(), now);
}

}  // namespace
}  // namespace corro::node
