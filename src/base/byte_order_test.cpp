// SPDX-License-Identifier: Apache-2.0
#include "base/byte_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace corro::base {
namespace {

constexpr std::array<std::byte, 9> bytes{std::byte{0xFF}, std::byte{0x01}, std::byte{0x23},
                                         std::byte{0x45}, std::byte{0x67}, std::byte{0x89},
                                         std::byte{0xAB}, std::byte{0xCD}, std::byte{0xEF}};

TEST(byte_order, loads_unaligned_integers_of_both_orders) {
    EXPECT_EQ(load_be<std::uint8_t>(&bytes[1]), 0x01);
    EXPECT_EQ(load_be<std::uint16_t>(&bytes[1]), 0x0123);
    EXPECT_EQ(load_be<std::uint32_t>(&bytes[1]), 0x0123'4567U);
    EXPECT_EQ(load_be<std::uint64_t>(&bytes[1]), 0x0123'4567'89AB'CDEFU);
    EXPECT_EQ(load_le<std::uint16_t>(&bytes[1]), 0x2301);
    EXPECT_EQ(load_le<std::uint64_t>(&bytes[1]), 0xEFCD'AB89'6745'2301U);
    EXPECT_EQ(load_be<std::int16_t>(&bytes[0]), -255);
    EXPECT_EQ(load_be<std::int8_t>(&bytes[0]), -1);
}

TEST(byte_order, constant_evaluation_and_run_time_agree) {
    static_assert(load_be<std::uint32_t>(&bytes[1]) == 0x0123'4567U);
    static_assert(load_le<std::int64_t>(&bytes[1]) == static_cast<std::int64_t>(0xEFCD'AB89'6745'2301U));
    constexpr auto stored = [] {
        std::array<std::byte, 4> into{};
        store_be<std::int32_t>(into.data(), -2);
        return into;
    }();
    std::array<std::byte, 4> at_run_time{};
    store_be<std::int32_t>(at_run_time.data(), -2);
    EXPECT_EQ(stored, at_run_time);
    EXPECT_EQ(stored[3], std::byte{0xFE});
}

template <class T>
void comes_back(T value) {
    std::array<std::byte, 17> into{};
    store_be<T>(&into[1], value);
    EXPECT_EQ(load_be<T>(&into[1]), value);
    EXPECT_EQ(into[0], std::byte{0}) << "nothing before the place is written";
    EXPECT_EQ(into[1 + sizeof(T)], std::byte{0}) << "nor behind it";
    EXPECT_EQ(std::to_integer<unsigned>(into[1]),
              static_cast<unsigned>(static_cast<std::make_unsigned_t<T>>(value) >> (8 * (sizeof(T) - 1))));
    store_le<T>(&into[1], value);
    EXPECT_EQ(load_le<T>(&into[1]), value);
}

TEST(byte_order, what_was_stored_is_loaded_again_at_the_limits) {
    comes_back<std::uint8_t>(0xA5);
    comes_back<std::uint16_t>(0xA55A);
    comes_back(std::numeric_limits<std::int32_t>::min());
    comes_back(std::numeric_limits<std::int64_t>::min());
    comes_back(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace
}  // namespace corro::base
