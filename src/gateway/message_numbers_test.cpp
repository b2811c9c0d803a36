// SPDX-License-Identifier: Apache-2.0
#include "gateway/message_numbers.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::gateway {
namespace {

using note = message_numbers::note;

TEST(message_numbers, without_other_messages_answers_have_their_own_numbers) {
    const message_numbers numbers;
    EXPECT_EQ(numbers.number_of(1), 1U);
    EXPECT_EQ(numbers.number_of(7), 7U);
    EXPECT_EQ(numbers.answer_at(7), 7U);
    EXPECT_FALSE(numbers.has(1));
}

TEST(message_numbers, other_messages_move_the_answers_behind_them) {
    message_numbers numbers;
    numbers.add({1, 1, 1});  // a Logon
    numbers.add({4, 3, 2});  // behind two answers
    EXPECT_EQ(numbers.number_of(1), 2U);
    EXPECT_EQ(numbers.number_of(2), 3U);
    EXPECT_EQ(numbers.number_of(3), 6U);
    EXPECT_EQ(numbers.answer_at(1), 0U);
    EXPECT_EQ(numbers.answer_at(2), 1U);
    EXPECT_EQ(numbers.answer_at(4), 0U);
    EXPECT_EQ(numbers.answer_at(5), 0U);
    EXPECT_EQ(numbers.answer_at(6), 3U);
}

TEST(message_numbers, a_note_that_does_not_continue_the_others_is_ignored) {
    message_numbers numbers;
    numbers.add({1, 1, 1});
    numbers.add({1, 1, 1});  // again
    numbers.add({9, 3, 1});  // leaves numbers out
    numbers.add({3, 2, 0});  // nothing
    EXPECT_EQ(numbers.notes().size(), 1U);
    EXPECT_EQ(numbers.number_of(5), 6U);
}

// Against a list of everything that was sent.
TEST(message_numbers, agree_with_a_list_over_random_sequences) {
    for (std::uint64_t round = 0; round < 200; ++round) {
        base::prng random(base::test_seed() + round);
        message_numbers numbers;
        std::vector<std::uint64_t> sent{0};  // by number: the answer, or 0
        std::uint64_t next_answer = 1;
        for (int step = 0; step < 100; ++step) {
            if (random.below(3) != 0) {
                sent.push_back(next_answer++);
                continue;
            }
            const std::uint64_t count = 1 + random.below(3);
            numbers.add({sent.size(), next_answer, count});
            for (std::uint64_t i = 0; i < count; ++i) sent.push_back(0);
        }
        EXPECT_EQ(numbers.number_of(next_answer), sent.size());
        for (std::uint64_t number = 1; number < sent.size(); ++number) {
            ASSERT_EQ(numbers.answer_at(number), sent[number]) << "seed " << base::test_seed() + round;
            ASSERT_EQ(numbers.has(number), sent[number] == 0);
            if (sent[number] != 0) {
                ASSERT_EQ(numbers.number_of(sent[number]), number);
            }
        }
        // Loaded, and without what is needed for old answers only.
        message_numbers loaded;
        ASSERT_TRUE(loaded.load({numbers.notes().begin(), numbers.notes().end()}, numbers.has_forgotten()));
        const std::uint64_t kept = 1 + random.below(next_answer);
        loaded.forget_before(kept);
        message_numbers again;
        ASSERT_TRUE(again.load({loaded.notes().begin(), loaded.notes().end()}, loaded.has_forgotten()));
        for (std::uint64_t answer = kept; answer < next_answer; ++answer) {
            ASSERT_EQ(again.number_of(answer), numbers.number_of(answer));
            ASSERT_EQ(again.answer_at(numbers.number_of(answer)), answer);
        }
    }
}

TEST(message_numbers, are_not_loaded_when_they_contradict_each_other) {
    message_numbers numbers;
    EXPECT_FALSE(numbers.load({note{2, 1, 1}}, false)) << "nothing was number 1";
    EXPECT_FALSE(numbers.load({note{1, 1, 1}, note{1, 2, 1}}, false)) << "two messages have one number";
    EXPECT_FALSE(numbers.load({note{1, 1, 1}, note{3, 1, 1}}, false)) << "they do not ascend";
    EXPECT_FALSE(numbers.load({note{1, 1, 0}}, false));
    EXPECT_FALSE(numbers.load({}, true));
    EXPECT_TRUE(numbers.notes().empty());
    EXPECT_TRUE(numbers.load({note{2, 1, 1}}, true));
    EXPECT_EQ(numbers.answer_at(1), 0U) << "what was number 1 is forgotten";
}

}  // namespace
}  // namespace corro::gateway
