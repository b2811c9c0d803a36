// SPDX-License-Identifier: Apache-2.0
#include "base/raw_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace corro::base {
namespace {

template <class T>
void expect_border(std::size_t count, std::size_t border) {
    const raw_array<T> memory = make_raw_array<T>(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.get()) % border, 0U) << count << " elements";
    std::memset(static_cast<void*>(memory.get()), 1,
                count * sizeof(T));  // the address sanitizer checks that all of it is ours
}

struct alignas(512) wide {
    std::byte bytes[512];
};

TEST(raw_array, begins_on_a_border_that_keeps_neighbours_away) {
    expect_border<char>(1, interference_bytes);
    expect_border<std::uint64_t>(1000, interference_bytes);
    expect_border<wide>(3, alignof(wide));
    expect_border<char>(large_page_bytes - 1, interference_bytes);
    expect_border<char>(large_page_bytes, large_page_bytes);
    expect_border<std::uint64_t>(large_page_bytes, large_page_bytes);
}

TEST(raw_array, holds_nothing_when_nothing_was_asked_for) {
    EXPECT_NE(make_raw_array<int>(0).get(), nullptr);
}

}  // namespace
}  // namespace corro::base
