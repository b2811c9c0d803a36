// SPDX-License-Identifier: Apache-2.0
#include "node/venue/answer_progress.hpp"

#include <gtest/gtest.h>

namespace corro::node {
namespace {

TEST(answer_progress, say_that_nothing_is_answered_before_anything_has_left) {
    answer_progress marks;
    EXPECT_EQ(marks.answered(0), 0U);
    marks.note(3, 12);
    EXPECT_EQ(marks.answered(11), 0U);
    EXPECT_EQ(marks.answered(12), 3U);
    EXPECT_EQ(marks.answered(12), 3U) << "and remember it";
}

TEST(answer_progress, pass_over_several_batches_at_once) {
    answer_progress marks;
    marks.note(1, 4);
    marks.note(2, 8);
    marks.note(9, 40);
    EXPECT_EQ(marks.answered(39), 2U);
    EXPECT_EQ(marks.answered(1'000), 9U);
}

TEST(answer_progress, answer_late_but_never_too_early_when_there_are_too_many) {
    answer_progress marks;
    const std::uint64_t batches = answer_progress::capacity + 50;
    for (std::uint64_t i = 1; i <= batches; ++i) marks.note(i, i * 10);
    for (std::uint64_t i = 1; i < answer_progress::capacity; ++i) EXPECT_EQ(marks.answered(i * 10), i);
    EXPECT_EQ(marks.answered(batches * 10 - 1), answer_progress::capacity - 1);
    EXPECT_EQ(marks.answered(batches * 10), batches);
}

}  // namespace
}  // namespace corro::node
