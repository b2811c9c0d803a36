// SPDX-License-Identifier: Apache-2.0
#include "base/assert.hpp"

#include <gtest/gtest.h>

namespace corro::base {
namespace {

TEST(assert_death, aborts_with_expression_and_message_in_every_build) {
    EXPECT_DEATH(CORRO_ASSERT(1 + 1 == 3, "arithmetic holds"), "assertion failed: 1 \\+ 1 == 3: arithmetic holds");
    EXPECT_DEATH(CORRO_ASSERT(false), "assertion failed: false");
}

TEST(assert, passes_silently_when_the_condition_holds) {
    int evaluations_count = 0;
    CORRO_ASSERT(++evaluations_count == 1);
    EXPECT_EQ(evaluations_count, 1) << "the condition is evaluated exactly once";
}

}  // namespace
}  // namespace corro::base
