// SPDX-License-Identifier: Apache-2.0
#include "native/frame.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/test_seed.hpp"
#include "domain/decimal.hpp"

namespace corro::python {
namespace {

TEST(frames, refuse_columns_of_different_lengths_and_codes_of_no_category) {
    using columns = std::vector<column>;
    EXPECT_THROW(frame(columns{{"a", meaning::number, std::vector<double>{1, 2}, {}},
                               {"b", meaning::number, std::vector<double>{1}, {}}}),
                 std::invalid_argument);
    EXPECT_THROW(frame(columns{{"a", meaning::category, std::vector<std::int8_t>{0, 1}, {"only"}}}),
                 std::invalid_argument);
    EXPECT_THROW(frame(columns{{"a", meaning::category, std::vector<std::int32_t>{-2}, {"only"}}}),
                 std::invalid_argument);
    EXPECT_THROW(frame(columns{{"a", meaning::category, std::vector<double>{0}, {"only"}}}), std::invalid_argument);
    EXPECT_THROW(frame(columns{{"a", meaning::time, std::vector<double>{0}, {}}}), std::invalid_argument);
    EXPECT_THROW(frame(columns{{"a", meaning::flag, std::vector<std::uint8_t>{2}, {}}}), std::invalid_argument);
    const frame sound(columns{{"a", meaning::category, std::vector<std::int8_t>{0, -1}, {"only"}}});
    EXPECT_EQ(sound.rows(), 2U);
    EXPECT_EQ(sound.find("b"), nullptr);
}

TEST(decimal_scales, give_the_double_that_the_text_of_the_price_gives) {
    std::mt19937_64 random(base::test_seed());
    for (const std::int64_t step : {1'000'000'000LL, 250'000'000LL, 10'000'000LL, 5'000'000LL, 7LL, 1LL}) {
        const decimal_scale price(step);
        std::uniform_int_distribution<std::int64_t> some(-90'000'000, 90'000'000);
        for (int i = 0; i < 2'000; ++i) {
            const std::int64_t ticks = some(random);
            const domain::decimal_text text = domain::format_decimal(ticks * step);
            const double expected = std::strtod(std::string(text.view()).c_str(), nullptr);
            ASSERT_EQ(price(ticks), expected) << ticks << " of " << step;
            ASSERT_EQ(double_of_nano(ticks * step), expected) << ticks << " of " << step;
        }
    }
    EXPECT_EQ(decimal_scale(250'000'000).decimals(), 2);
    EXPECT_EQ(decimal_scale(1'000'000'000).decimals(), 0);
    EXPECT_EQ(decimal_scale(1).decimals(), 9);
}

TEST(code_books, give_equal_texts_equal_codes) {
    code_book book;
    EXPECT_EQ(book.code_of("b"), 0);
    EXPECT_EQ(book.code_of("a"), 1);
    EXPECT_EQ(book.code_of("b"), 0);
    EXPECT_EQ(book.take(), (std::vector<std::string>{"b", "a"}));
}

}  // namespace
}  // namespace corro::python
