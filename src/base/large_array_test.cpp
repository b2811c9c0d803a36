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
    for (const page_touch touch : {page_touch::no, page_touch::yes, page_touch::small_pages}) {
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
    {
        // Again and again: memory that was used and released is not cleared for the next array.
        for (int turn = 0; turn < 3; ++turn) {
            large_array<std::byte> used(size / 4, page_touch::no);
            for (std::size_t i = 0; i < used.size(); i += small_page_bytes) used[i] = std::byte{1};
        }
        const large_array<std::byte> next(size / 4, page_touch::no);
        EXPECT_LT(resident_bytes(), before + size / 8);
        EXPECT_EQ(next[0], std::byte{0});
    }
    const large_array<std::byte> touched(size);
    EXPECT_GE(resident_bytes(), before + size / 4 * 3);
}

TEST(large_array, takes_memory_for_the_part_that_is_used) {
#if defined(CORRO_SANITIZED)
    GTEST_SKIP() << "a sanitizer's notes about memory take memory too";
#endif
    constexpr std::size_t size = std::size_t{1} << 26;
    const std::size_t before = resident_bytes();
    if (before == 0) GTEST_SKIP() << "the system does not say how much memory is in use";
    large_array<std::byte> first(size, page_touch::yes, array_use::first_elements);
    EXPECT_GE(resident_bytes(), before + size / 32);
    EXPECT_LT(resident_bytes(), before + size / 4);

    large_array<std::byte> few(size, page_touch::yes, array_use::few_elements);
    const std::size_t with_both = resident_bytes();
    EXPECT_LT(with_both, before + size / 4);
    // 16 uses, 4 MiB apart, take 16 small pages and not 16 large ones.
    for (std::size_t i = 0; i < size; i += size / 16) few[i] = std::byte{1};
    EXPECT_LT(resident_bytes(), with_both + large_page_bytes);
    for (std::size_t i = 0; i < size; i += size / 16) EXPECT_EQ(few[i], std::byte{1});
    EXPECT_EQ(few[1], std::byte{0});

    // As do those of an array for one question.
    large_array<std::byte> briefly(size, page_touch::small_pages);
    const std::size_t with_all = resident_bytes();
    for (std::size_t i = 0; i < size; i += size / 16) briefly[i] = std::byte{1};
    EXPECT_LT(resident_bytes(), with_all + large_page_bytes);
}

}  // namespace
}  // namespace corro::base
