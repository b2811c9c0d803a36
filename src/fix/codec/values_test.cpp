// SPDX-License-Identifier: Apache-2.0
#include "fix/codec/values.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "base/int128.hpp"
#include "base/random.hpp"

namespace corro::fix {
namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();

TEST(fix_values, integers_are_exact_or_nothing) {
    EXPECT_EQ(unsigned_value("0"), 0U);
    EXPECT_EQ(unsigned_value("00012"), 12U);
    EXPECT_EQ(unsigned_value("18446744073709551615"), ~std::uint64_t{0});
    for (const char* const wrong : {"", "-1", "+1", " 1", "1 ", "1.0", "x", "18446744073709551616"}) {
        EXPECT_EQ(unsigned_value(wrong), std::nullopt) << wrong;
    }
    EXPECT_EQ(signed_value("-0"), 0);
    EXPECT_EQ(signed_value("9223372036854775807"), most);
    EXPECT_EQ(signed_value("-9223372036854775808"), least);
    for (const char* const wrong : {"", "-", "--1", "9223372036854775808", "-9223372036854775809", "1-"}) {
        EXPECT_EQ(signed_value(wrong), std::nullopt) << wrong;
    }
    EXPECT_EQ(boolean_value("Y"), true);
    EXPECT_EQ(boolean_value("N"), false);
    EXPECT_EQ(boolean_value("y"), std::nullopt);
}

TEST(fix_values, decimals_are_exact_or_nothing) {
    EXPECT_EQ(decimal_value("4500.25"), (decimal{450'025, 2}));
    EXPECT_EQ(decimal_value("1.50"), (decimal{150, 2}));
    EXPECT_EQ(decimal_value("-.5"), (decimal{-5, 1}));
    EXPECT_EQ(decimal_value("7."), (decimal{7, 0}));
    EXPECT_EQ(decimal_value("000.000"), (decimal{0, 3}));
    EXPECT_EQ(decimal_value("9223372036854775807"), (decimal{most, 0}));
    EXPECT_EQ(decimal_value("0.1000000000000000000000"), (decimal{100'000'000'000'000'000, 18}));
    for (const char* const wrong :
         {"", ".", "-", "-.", "1e5", "+1", "1.2.3", "1,5", "9223372036854775808", "0.0000000000000000001", " 1"}) {
        EXPECT_EQ(decimal_value(wrong), std::nullopt) << wrong;
    }
    EXPECT_EQ(shortened({1'500, 3}), (decimal{15, 1}));
    EXPECT_EQ(shortened({0, 5}), (decimal{0, 0}));
    EXPECT_EQ(shortened({100, 0}), (decimal{100, 0}));
}

TEST(fix_values, a_price_is_a_whole_number_of_ticks_or_none) {
    constexpr decimal quarter{25, 2};
    EXPECT_EQ(steps_of({450'025, 2}, quarter), 18'001);
    EXPECT_EQ(steps_of({45'000, 1}, quarter), 18'000);
    EXPECT_EQ(steps_of({4'500, 0}, quarter), 18'000);
    EXPECT_EQ(steps_of({-25'000'000'000, 12}, quarter), std::nullopt);
    EXPECT_EQ(steps_of({-250'000'000'000, 12}, quarter), -1);
    EXPECT_EQ(steps_of({450'010, 2}, quarter), std::nullopt);
    EXPECT_EQ(steps_of({most, 0}, {1, 1}), std::nullopt) << "more than fit";
    EXPECT_EQ(steps_of({most, 0}, {1, 0}), most);
    EXPECT_EQ(steps_of({least, 0}, {1, 0}), least);
    EXPECT_EQ(steps_of({0, 18}, {1, 18}), 0);
}

// Ticks to a price and back.
TEST(fix_values, every_tick_of_any_size_comes_back) {
    base::prng random(5);
    for (int i = 0; i < 20'000; ++i) {
        const decimal tick{1 + static_cast<std::int64_t>(random.below(1'000)),
                           static_cast<std::uint8_t>(random.below(9))};
        const std::int64_t ticks = static_cast<std::int64_t>(random.below(2'000'000'000)) - 1'000'000'000;
        const decimal price = shortened({ticks * tick.mantissa, tick.digits});
        EXPECT_EQ(steps_of(price, tick), ticks);
    }
}

TEST(fix_values, times_are_nanoseconds_of_utc) {
    constexpr std::int64_t second = 1'000'000'000;
    EXPECT_EQ(timestamp_value("19700101-00:00:00"), 0);
    EXPECT_EQ(timestamp_value("19700102-00:00:01.000000001"), 86'401 * second + 1);
    // As `date -u -d '2026-11-23 10:20:30' +%s` prints.
    EXPECT_EQ(timestamp_value("20261123-10:20:30.123"), 1'795'429'230 * second + 123'000'000);
    EXPECT_EQ(timestamp_value("20240229-23:59:59.999999999"), 1'709'251'199 * second + 999'999'999);
    EXPECT_EQ(timestamp_value("20161231-23:59:60"), 1'483'228'800 * second) << "a leap second";
    EXPECT_EQ(timestamp_value("20161231-23:59:60.5"), 1'483'228'800 * second);
    for (const char* const wrong :
         {"", "20261123", "20261123-", "20261123-10:20", "20261123 10:20:30", "20261123-10:20:30.",
          "20261123-10:20:30.1234567890", "20261123-24:00:00", "20261123-10:60:00", "20261123-10:20:61",
          "20261323-10:20:30", "20230229-10:20:30", "20261100-10:20:30", "19691231-23:59:59", "22630101-00:00:00",
          "20261123-1:20:30", "2026112x-10:20:30", "20261123-10:20:30.x", "20261123-10:20:30Z"}) {
        EXPECT_EQ(timestamp_value(wrong), std::nullopt) << wrong;
    }
    EXPECT_EQ(date_value("19700102"), 1);
    EXPECT_EQ(date_value("1970010"), std::nullopt);
    EXPECT_EQ(time_of_day_value("00:00:01.5"), second + second / 2);
    EXPECT_EQ(time_of_day_value("00:00:01,5"), std::nullopt);
}

}  // namespace
}  // namespace corro::fix
