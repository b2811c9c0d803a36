// SPDX-License-Identifier: Apache-2.0
#include "domain/decimal.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::domain {
namespace {

std::string format(std::int64_t nano, std::size_t decimals_min = 0) {
    return std::string(format_decimal(nano, decimals_min).view());
}

TEST(decimal, formats_with_as_few_digits_as_possible) {
    EXPECT_EQ(format(0), "0");
    EXPECT_EQ(format(250'000'000), "0.25");
    EXPECT_EQ(format(-4'800'250'000'000), "-4800.25");
    EXPECT_EQ(format(1), "0.000000001");
    EXPECT_EQ(format(std::numeric_limits<std::int64_t>::max()), "9223372036.854775807");
    EXPECT_EQ(format(std::numeric_limits<std::int64_t>::min()), "-9223372036.854775808");
}

TEST(decimal, fills_up_to_the_decimals_that_are_asked_for) {
    EXPECT_EQ(format(5'000'000'000, 2), "5.00");
    EXPECT_EQ(format(5'125'000'000, 2), "5.125");
    EXPECT_EQ(format(0, 20), "0.000000000");
}

TEST(decimal, says_what_it_expected) {
    for (const char* text : {"", "-", ".", ".5", "5.", "1e3", "+1", " 1", "1 ", "1.2.3", "--1", "0x1", "1,5"}) {
        EXPECT_EQ(parse_decimal(text).problem, "expected a decimal such as \"0.25\"") << text;
    }
    EXPECT_EQ(parse_decimal("0.0000000001").problem, "expected at most nine decimals");
    EXPECT_EQ(parse_decimal("9223372036.854775808").problem, "expected a decimal below 9223372036");
    EXPECT_EQ(parse_decimal("99999999999999999999").problem, "expected a decimal below 9223372036");
    EXPECT_EQ(parse_decimal("9223372036.854775807").nano, std::numeric_limits<std::int64_t>::max());
}

TEST(decimal, reads_what_it_wrote) {
    base::prng random(base::test_seed());
    for (int i = 0; i < 10'000; ++i) {
        const auto nano = static_cast<std::int64_t>(random() >> (1 + random.below(63))) * (i % 2 == 0 ? 1 : -1);
        const parsed_decimal read = parse_decimal(format(nano, random.below(10)));
        EXPECT_TRUE(read.problem.empty());
        EXPECT_EQ(read.nano, nano);
    }
}

}  // namespace
}  // namespace corro::domain
