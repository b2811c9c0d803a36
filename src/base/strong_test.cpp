// SPDX-License-Identifier: Apache-2.0
#include "base/strong.hpp"

#include <gtest/gtest.h>

#include <type_traits>

namespace corro::base {
namespace {

struct apple_tag;
struct pear_tag;
using apple_id = identifier<apple_tag, unsigned>;
using pear_id = identifier<pear_tag, unsigned>;
using apples = quantity<apple_tag, int>;

TEST(strong, identifiers_of_different_kinds_do_not_convert) {
    static_assert(!std::is_convertible_v<apple_id, pear_id>);
    static_assert(!std::is_convertible_v<unsigned, apple_id>);
    static_assert(std::is_trivially_copyable_v<apple_id>);
    EXPECT_LT(apple_id{1}, apple_id{2});
    EXPECT_EQ(std::hash<apple_id>{}(apple_id{7}), std::hash<unsigned>{}(7U));
}

TEST(strong, quantities_add_and_subtract_with_their_own_kind) {
    apples some{3};
    some += apples{4};
    some -= apples{2};
    EXPECT_EQ(some, apples{5});
    EXPECT_EQ(apples{1} + apples{2}, apples{3});
    static_assert(sizeof(apples) == sizeof(int));
}

}  // namespace
}  // namespace corro::base
