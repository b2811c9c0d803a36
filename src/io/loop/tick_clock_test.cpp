// SPDX-License-Identifier: Apache-2.0
#include "io/loop/tick_clock.hpp"

#include <gtest/gtest.h>

#include <string>

namespace corro::io {
namespace {

/// Waits for `wait_ns` on the system's clock and measures the interval by both clocks.
struct both_lengths {
    std::uint64_t system_low;   ///< the interval is at least this long
    std::uint64_t system_high;  ///< and at most this long
    std::uint64_t measured;
};

both_lengths measure(const tick_clock& clock, std::uint64_t wait_ns) {
    const std::uint64_t outer_begin = monotonic_ns();
    const std::uint64_t begin = clock.now_ticks_ordered();
    const std::uint64_t inner_begin = monotonic_ns();
    while (monotonic_ns() < inner_begin + wait_ns) {
    }
    const std::uint64_t inner_end = monotonic_ns();
    const std::uint64_t end = clock.now_ticks_ordered();
    const std::uint64_t outer_end = monotonic_ns();
    return {inner_end - inner_begin, outer_end - outer_begin, clock.between_ns(begin, end)};
}

void expect_agreement(const tick_clock& clock) {
    const both_lengths lengths = measure(clock, 10'000'000);
    // 0.05% for adjustments of the system's clock, the stated error of our clock, and one step of each.
    const std::uint64_t allowed =
        lengths.system_high / 2'000 + lengths.system_high * clock.calibration().error_ppb / 1'000'000'000 + 2;
    EXPECT_GE(lengths.measured + allowed, lengths.system_low);
    EXPECT_LE(lengths.measured, lengths.system_high + allowed);
}

TEST(tick_clock, agrees_with_the_system_clock_within_its_stated_error) {
    const tick_clock clock;
    if (clock.calibration().source != clock_source::tsc) {
        GTEST_SKIP() << "the time stamp counter is not usable here: invariant " << clock.calibration().invariant
                     << ", hypervisor " << clock.calibration().hypervisor << ", halves apart by "
                     << clock.calibration().halves_apart_ppb << " ppb";
    }
    expect_agreement(clock);
    EXPECT_GT(clock.calibration().ticks_per_second, 1e6);
    EXPECT_GT(clock.calibration().error_ppb, 0U);
    RecordProperty("error_ppb", std::to_string(clock.calibration().error_ppb));
    RecordProperty("ticks_per_second", std::to_string(clock.calibration().ticks_per_second));
}

TEST(tick_clock, falls_back_to_the_system_clock_with_the_same_interface) {
    const tick_clock clock{clock_source::monotonic};
    EXPECT_EQ(clock.calibration().source, clock_source::monotonic);
    EXPECT_EQ(clock.to_ns(12'345), 12'345U) << "a tick is a nanosecond";
    const std::uint64_t before = monotonic_ns();
    const std::uint64_t now = clock.now_ticks();
    EXPECT_GE(now, before);
    EXPECT_LE(now, monotonic_ns());
    expect_agreement(clock);
}

TEST(tick_clock, converts_long_and_short_intervals_without_overflow) {
    const tick_clock clock;
    const double ns_per_tick = 1e9 / clock.calibration().ticks_per_second;
    for (const std::uint64_t ticks : {std::uint64_t{1'000'000}, std::uint64_t{1} << 40, std::uint64_t{1} << 60}) {
        const double exact = static_cast<double>(ticks) * ns_per_tick;
        EXPECT_NEAR(static_cast<double>(clock.to_ns(ticks)), exact, exact * 1e-9 + 1);
    }
    EXPECT_EQ(clock.to_ns(0), 0U);
}

TEST(tick_clock, an_interval_that_ends_before_it_begins_is_empty) {
    const tick_clock clock{clock_source::monotonic};
    EXPECT_EQ(clock.between_ns(100, 99), 0U);
    EXPECT_EQ(clock.between_ns(100, 350), 250U);
}

TEST(tick_clock, shows_the_time_that_it_is_given) {
    std::uint64_t now_ns = 7;
    const tick_clock clock(&now_ns);
    EXPECT_EQ(clock.calibration().source, clock_source::given);
    EXPECT_EQ(clock.now_ticks(), 7U);
    now_ns = 1'000'007;
    EXPECT_EQ(clock.now_ticks_ordered(), 1'000'007U);
    EXPECT_EQ(clock.between_ns(7, clock.now_ticks()), 1'000'000U) << "a tick is a nanosecond";
}

TEST(tick_clock, does_not_run_backwards_on_one_thread) {
    const tick_clock clock;
    std::uint64_t last = clock.now_ticks_ordered();
    for (int i = 0; i < 100'000; ++i) {
        const std::uint64_t now = clock.now_ticks_ordered();
        ASSERT_GE(now, last);
        last = now;
    }
}

}  // namespace
}  // namespace corro::io
