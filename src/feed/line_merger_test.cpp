// SPDX-License-Identifier: Apache-2.0
#include "feed/line_merger.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::feed {
namespace {

/// The content of message `sequence`, so that a wrong one is noticed.
std::vector<std::byte> message_of(std::uint64_t sequence) {
    std::vector<std::byte> message(sequence % 37);
    for (std::size_t i = 0; i < message.size(); ++i) message[i] = static_cast<std::byte>(sequence * 31 + i);
    return message;
}

/// Expects each message once and in order.
struct checked_sink {
    std::uint64_t next = 1;
    void operator()(std::uint64_t sequence, std::span<const std::byte> message) {
        ASSERT_EQ(sequence, next);
        ASSERT_TRUE(std::ranges::equal(message, message_of(sequence)));
        ++next;
    }
};

TEST(line_merger, delivers_what_comes_in_order_at_once) {
    line_merger merger(1, 8);
    checked_sink sink;
    for (std::uint64_t i = 1; i <= 100; ++i) {
        EXPECT_EQ(merger.take(i, message_of(i), sink), arrival::delivered);
        EXPECT_EQ(sink.next, i + 1);
        EXPECT_FALSE(merger.missing());
    }
}

TEST(line_merger, holds_what_is_early_until_the_gap_is_filled) {
    line_merger merger(1, 8);
    checked_sink sink;
    EXPECT_EQ(merger.take(3, message_of(3), sink), arrival::held);
    EXPECT_EQ(merger.take(5, message_of(5), sink), arrival::held);
    EXPECT_EQ(merger.take(3, message_of(3), sink), arrival::duplicate);
    ASSERT_TRUE(merger.missing());
    EXPECT_EQ(merger.missing()->first, 1U);
    EXPECT_EQ(merger.missing()->count, 2U);
    ASSERT_TRUE(merger.missing(3));
    EXPECT_EQ(merger.missing(3)->first, 4U) << "the second gap";
    EXPECT_EQ(merger.missing(3)->count, 1U);
    EXPECT_FALSE(merger.missing(5));
    EXPECT_EQ(merger.take(1, message_of(1), sink), arrival::delivered);
    EXPECT_EQ(merger.take(2, message_of(2), sink), arrival::delivered);
    EXPECT_EQ(sink.next, 4U) << "with the held third";
    EXPECT_EQ(merger.missing()->first, 4U);
    EXPECT_EQ(merger.missing()->count, 1U);
    EXPECT_EQ(merger.take(2, message_of(2), sink), arrival::duplicate);
    EXPECT_EQ(merger.take(4, message_of(4), sink), arrival::delivered);
    EXPECT_EQ(sink.next, 6U);
    EXPECT_FALSE(merger.missing());
}

TEST(line_merger, learns_from_a_heartbeat_that_the_last_messages_are_missing) {
    line_merger merger(10, 8);
    EXPECT_FALSE(merger.missing());
    merger.note(10);
    EXPECT_FALSE(merger.missing());
    merger.note(13);
    ASSERT_TRUE(merger.missing());
    EXPECT_EQ(merger.missing()->first, 10U);
    EXPECT_EQ(merger.missing()->count, 3U);
}

TEST(line_merger, knows_when_a_gap_is_longer_than_what_it_can_hold) {
    line_merger merger(1, 8);
    checked_sink sink;
    EXPECT_EQ(merger.take(8, message_of(8), sink), arrival::held);
    EXPECT_FALSE(merger.is_overrun());
    EXPECT_EQ(merger.take(9, message_of(9), sink), arrival::too_early);
    EXPECT_TRUE(merger.is_overrun());
    for (std::uint64_t i = 1; i <= 8; ++i) static_cast<void>(merger.take(i, message_of(i), sink));
    EXPECT_EQ(sink.next, 9U);
    EXPECT_EQ(merger.missing()->first, 9U) << "what could not be kept is missing, not forgotten";
    EXPECT_EQ(merger.take(9, message_of(9), sink), arrival::delivered);
}

TEST(line_merger, finds_what_is_missing_at_once_however_far_ahead_the_sender_claims_to_be) {
    line_merger merger(1, 8);
    checked_sink sink;
    EXPECT_EQ(merger.take(3, message_of(3), sink), arrival::held);
    merger.note(std::uint64_t{1} << 63U);  // counting up to there takes centuries
    ASSERT_TRUE(merger.missing());
    EXPECT_EQ(merger.missing()->count, 2U);
    ASSERT_TRUE(merger.missing(3));
    EXPECT_EQ(merger.missing(3)->first, 4U);
    EXPECT_EQ(merger.missing(3)->count, (std::uint64_t{1} << 63U) - 4);
}

TEST(line_merger, two_lossy_lines_and_retransmission_give_every_message_once) {
    base::prng random(base::test_seed());
    for (int round = 0; round < 50; ++round) {
        line_merger merger(1, 64);
        checked_sink sink;
        constexpr std::uint64_t count = 2'000;
        const std::uint64_t loss_percent = random.below(60);
        std::uint64_t positions[2] = {1, 1};
        std::vector<std::uint64_t> late;
        while (positions[0] <= count || positions[1] <= count) {
            const std::uint64_t line = positions[0] > count ? 1 : positions[1] > count ? 0 : random.below(2);
            // A line may not be further ahead of the other than the window.
            if (positions[line] >= merger.next() + 60) {
                while (const auto gap = merger.missing()) {
                    static_cast<void>(merger.take(gap->first, message_of(gap->first), sink));
                }
                continue;
            }
            const std::uint64_t sequence = positions[line]++;
            if (random.below(100) < loss_percent) continue;
            if (random.below(10) == 0) {
                late.push_back(sequence);
                continue;
            }
            static_cast<void>(merger.take(sequence, message_of(sequence), sink));
            if (random.below(10) == 0) static_cast<void>(merger.take(sequence, message_of(sequence), sink));
            if (late.size() > 5) {
                const std::uint64_t delayed = late[random.below(late.size())];
                static_cast<void>(merger.take(delayed, message_of(delayed), sink));
                std::erase(late, delayed);
            }
        }
        merger.note(count + 1);
        while (const auto gap = merger.missing()) {
            for (std::uint64_t i = 0; i < gap->count; ++i) {
                static_cast<void>(merger.take(gap->first + i, message_of(gap->first + i), sink));
            }
        }
        ASSERT_EQ(sink.next, count + 1);
        ASSERT_EQ(merger.next(), merger.end());
    }
}

}  // namespace
}  // namespace corro::feed
