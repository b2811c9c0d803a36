// SPDX-License-Identifier: Apache-2.0
#include "base/large_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>

#include "base/test_memory.hpp"

namespace corro::base {
namespace {

struct sample {
    std::uint64_t number = 7;
};

TEST(large_array, starts_with_zeros_whether_its_pages_are_touched_or_not) {
    for (const page_touch touch : {page_touch::no, page_touch::yes}) {
        for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, (std::size_t{1} << 20) + 3}) {
            // The second array may get the memory that the first one wrote to and released.
            for (int turn = 0; turn < 2; ++turn) {
                large_array<sample> array(size, touch);
                ASSERT_EQ(array.size(), size);
                std::uint64_t wrong = 0;
                for (std::size_t i = 0; i < size; ++i) wrong += array[i].number == 0 ? 0U : 1U;
                EXPECT_EQ(wrong, 0U);
                for (std::size_t i = 0; i < size; ++i) array[i].number = i + 1;
                EXPECT_EQ(array.data()[size - 1].number, size);
            }
        }
    }
}

TEST(large_array, begins_on_a_border_that_keeps_neighbours_away) {
    const auto remainder = [](auto&& array, std::size_t border) {
        return reinterpret_cast<std::uintptr_t>(array.data()) % border;
    };
    EXPECT_EQ(remainder(large_array<char>(1), interference_bytes), 0U);
    EXPECT_EQ(remainder(large_array<char>(large_page_bytes, page_touch::no), large_page_bytes), 0U);
    EXPECT_EQ(remainder(large_array<std::uint64_t>(large_page_bytes, page_touch::no), large_page_bytes), 0U);
}

TEST(large_array, takes_memory_at_construction_only_when_it_is_asked_to) {
#if defined(CORRO_SANITIZED)
    GTEST_SKIP() << "a sanitizer's notes about memory take memory too";
#endif
    constexpr std::size_t size = std::size_t{1} << 26;
    const std::size_t before = resident_bytes();
    if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
    {
        const large_array<std::byte> untouched(size, page_touch::no);
        EXPECT_LT(resident_bytes(), before + size / 4);
    }
    const large_array<std::byte> touched(size);
    EXPECT_GE(resident_bytes(), before + size / 4 * 3);
}

}  // namespace
}  // namespace corro::base
