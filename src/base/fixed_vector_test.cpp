// SPDX-License-Identifier: Apache-2.0
#include "base/fixed_vector.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <string>

namespace corro::base {
namespace {

TEST(fixed_vector, grows_to_its_capacity_and_says_no_beyond_it) {
    fixed_vector<int, 3> v;
    EXPECT_TRUE(v.empty());
    v.push_back(1);
    v.push_back(2);
    EXPECT_TRUE(v.try_push_back(3));
    EXPECT_TRUE(v.full());
    EXPECT_FALSE(v.try_push_back(4));
    EXPECT_EQ(std::accumulate(v.begin(), v.end(), 0), 6);
    EXPECT_EQ(v.back(), 3);
    v.pop_back();
    EXPECT_EQ(v, (fixed_vector<int, 3>{1, 2}));
}

TEST(fixed_vector_death, catches_overflow_and_indices_beyond_the_end) {
    fixed_vector<int, 2> v{1, 2};
    EXPECT_DEATH(v.push_back(3), "full");
    EXPECT_DEATH(static_cast<void>(v[2]), "assertion failed");
    EXPECT_DEATH((fixed_vector<int, 2>{1, 2, 3}), "full");
    v.clear();
    EXPECT_DEATH(static_cast<void>(v.back()), "assertion failed");
    EXPECT_DEATH(v.pop_back(), "assertion failed");
}

TEST(fixed_vector, erases_in_order_and_by_swapping) {
    fixed_vector<int, 5> v{1, 2, 3, 4, 5};
    EXPECT_EQ(*v.erase(v.begin() + 1), 3);
    EXPECT_EQ(v, (fixed_vector<int, 5>{1, 3, 4, 5}));
    v.swap_remove(0);
    EXPECT_EQ(v, (fixed_vector<int, 5>{5, 3, 4}));
    v.swap_remove(2);
    EXPECT_EQ(v, (fixed_vector<int, 5>{5, 3}));
    const auto next = v.erase(v.begin() + 1);
    EXPECT_EQ(next, v.end()) << "behind the last one there is no next";
}

TEST(fixed_vector, is_trivially_copyable_when_its_elements_are) {
    static_assert(std::is_trivially_copyable_v<fixed_vector<std::uint64_t, 4>>);
    static_assert(!std::is_trivially_copyable_v<fixed_vector<std::string, 4>>);
    const fixed_vector<std::uint64_t, 4> a{1, 2};
    fixed_vector<std::uint64_t, 4> b = a;
    b.push_back(3);
    EXPECT_EQ(a.size(), 2U);
    EXPECT_NE(a, b);
}

TEST(fixed_vector, owns_elements_that_own_memory) {
    using strings = fixed_vector<std::string, 4>;
    const std::string long_text(100, 'x');
    strings a{long_text, "b"};
    strings copy = a;
    strings moved = std::move(a);
    EXPECT_TRUE(a.empty());  // NOLINT(bugprone-use-after-move): the state after a move is part of the contract
    EXPECT_EQ(copy, moved);
    copy = strings{"c"};
    EXPECT_EQ(copy[0], "c");
    const strings& alias = copy;
    copy = alias;
    EXPECT_EQ(copy.size(), 1U);
    moved.erase(moved.begin());
    EXPECT_EQ(moved.front(), "b");
}

TEST(fixed_vector, destroys_each_element_once) {
    const auto token = std::make_shared<int>(1);
    {
        fixed_vector<std::shared_ptr<int>, 8> v;
        for (int i = 0; i < 8; ++i) v.push_back(token);
        EXPECT_EQ(token.use_count(), 9);
        v.pop_back();
        v.swap_remove(0);
        v.erase(v.begin());
        EXPECT_EQ(token.use_count(), 6);
        fixed_vector<std::shared_ptr<int>, 8> other = v;
        EXPECT_EQ(token.use_count(), 11);
        other = std::move(v);
        EXPECT_EQ(token.use_count(), 6);
    }
    EXPECT_EQ(token.use_count(), 1);
}

TEST(fixed_vector, shows_itself_as_a_span) {
    fixed_vector<int, 4> v{1, 2};
    std::span<int> span = v;
    span[0] = 9;
    EXPECT_EQ(v[0], 9);
    EXPECT_EQ(std::span<const int>{v}.size(), 2U);
}

}  // namespace
}  // namespace corro::base
