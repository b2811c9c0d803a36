// SPDX-License-Identifier: Apache-2.0
#include "domain/price_text.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace corro::domain {
namespace {

instrument with_tick(std::int64_t nano) {
    instrument i;
    i.tick_size = price_nano{nano};
    return i;
}

TEST(price_text, has_the_decimals_of_the_tick_size) {
    EXPECT_EQ(price_text(with_tick(250'000'000), price_ticks{19'240}).view(), "4810.00");
    EXPECT_EQ(price_text(with_tick(250'000'000), price_ticks{19'201}).view(), "4800.25");
    EXPECT_EQ(price_text(with_tick(250'000'000), price_ticks{-209}).view(), "-52.25");
    EXPECT_EQ(price_text(with_tick(10'000'000), price_ticks{22'310}).view(), "223.10");
    EXPECT_EQ(price_text(with_tick(5'000'000'000), price_ticks{3}).view(), "15");
    EXPECT_EQ(price_text(with_tick(1), price_ticks{-1}).view(), "-0.000000001");
    EXPECT_EQ(price_text(with_tick(500'000'000), price_ticks{0}).view(), "0.0");
}

}  // namespace
}  // namespace corro::domain
