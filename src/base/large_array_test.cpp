#include "base/large_array.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace corro::base {
namespace {

struct sample {
    std::uint64_t number = 7;
};

TEST(large_array, starts_with_every_element_as_its_type_says) {
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, (std::size_t{1} << 20) + 3}) {
        large_array<sample> array(size);
        ASSERT_EQ(array.size(), size);
        std::uint64_t wrong = 0;
        for (std::size_t i = 0; i < size; ++i) wrong += array[i].number == 7 ? 0U : 1U;
        EXPECT_EQ(wrong, 0U);
        array[size - 1].number = 9;
        EXPECT_EQ(array.data()[size - 1].number, 9U);
    }
}

}  // namespace
}  // namespace corro::base
