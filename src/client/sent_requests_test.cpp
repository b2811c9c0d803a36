// SPDX-License-Identifier: Apache-2.0
#include "client/sent_requests.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>

#include "base/random.hpp"
#include "base/test_seed.hpp"

namespace corro::client {
namespace {

void add(sent_requests& sent, std::uint64_t number) {
    const std::array<std::byte, 3> bytes{static_cast<std::byte>(number), std::byte{2}, std::byte{3}};
    sent.add(number, std::span(bytes).first(1 + number % 3));
}

bool has(const sent_requests& sent, std::uint64_t number) {
    const auto found = sent.find(number);
    return found.size() == 1 + number % 3 && found[0] == static_cast<std::byte>(number);
}

TEST(sent_requests, keeps_what_is_not_answered) {
    sent_requests sent;
    EXPECT_TRUE(sent.find(1).empty());
    for (std::uint64_t n = 5; n <= 9; ++n) add(sent, n);
    for (std::uint64_t n = 5; n <= 9; ++n) EXPECT_TRUE(has(sent, n)) << n;
    EXPECT_TRUE(sent.find(4).empty());
    EXPECT_TRUE(sent.find(10).empty());
    sent.answered(7);
    EXPECT_TRUE(sent.find(7).empty());
    EXPECT_TRUE(has(sent, 8));
    sent.answered(0);  // a fill has no request number
    EXPECT_TRUE(has(sent, 8));
}

TEST(sent_requests, keeps_only_the_numbers_of_refused_requests) {
    sent_requests sent;
    for (std::uint64_t n = 5; n <= 8; ++n) add(sent, n);
    for (const std::uint64_t number : {0U, 4U, 6U, 6U, 8U, 9U}) sent.refused(number);
    EXPECT_TRUE(has(sent, 5));
    EXPECT_TRUE(has(sent, 7));
    for (const std::uint64_t number : {4U, 6U, 8U, 9U}) EXPECT_TRUE(sent.find(number).empty()) << number;
    EXPECT_TRUE(sent.keeps_all(5, 9));
    EXPECT_FALSE(sent.keeps_all(4, 9)) << "it was never added";
    EXPECT_FALSE(sent.keeps_all(5, 10)) << "somebody else has sent 9";
    sent.answered(5);
    EXPECT_TRUE(sent.keeps_all(6, 9));
    EXPECT_FALSE(sent.keeps_all(5, 9)) << "it is answered";
    add(sent, 9);
    EXPECT_TRUE(has(sent, 9));
    EXPECT_TRUE(sent.keeps_all(6, 10));
}

// Any number is refused while some requests wait: of a full disk, for as long as it lasts.
TEST(sent_requests, refused_ones_take_no_place_from_unanswered_ones) {
    for (const std::uint64_t refused : {1'000U, 2'000U, 4'000U}) {
        for (const std::uint64_t delay : {1U, 5U, 64U}) {
            sent_requests sent;
            const std::uint64_t waiting = sent_requests::capacity - delay;
            const std::uint64_t end = waiting + refused + 1;
            for (std::uint64_t n = 1; n <= waiting; ++n) add(sent, n);
            for (std::uint64_t n = waiting + 1; n < end; ++n) {
                add(sent, n);
                if (n >= waiting + delay) sent.refused(n - delay + 1);
            }
            for (std::uint64_t n = end - delay; n < end; ++n) sent.refused(n);
            ASSERT_TRUE(sent.keeps_all(1, end)) << refused << ' ' << delay;
            for (std::uint64_t n = 1; n < end; ++n) EXPECT_TRUE(n <= waiting ? has(sent, n) : sent.find(n).empty());
        }
    }
}

TEST(sent_requests, drops_the_oldest_unanswered_request_and_the_refused_ones_before_it) {
    sent_requests sent;
    for (std::uint64_t n = 1; n <= 10; ++n) add(sent, n);
    for (std::uint64_t n = 2; n <= 9; ++n) sent.refused(n);
    for (std::uint64_t n = 11; n <= sent_requests::capacity + 8; ++n) add(sent, n);
    EXPECT_TRUE(sent.keeps_all(1, sent_requests::capacity + 9)) << "1 and all from 10 on, and no more";
    add(sent, sent_requests::capacity + 9);
    EXPECT_FALSE(sent.keeps_all(1, sent_requests::capacity + 10));
    EXPECT_TRUE(sent.keeps_all(2, sent_requests::capacity + 10));
    EXPECT_TRUE(has(sent, 10));
}

TEST(sent_requests, gives_up_the_oldest_when_it_is_full) {
    sent_requests sent;
    for (std::uint64_t n = 1; n <= sent_requests::capacity + 10; ++n) add(sent, n);
    EXPECT_TRUE(sent.find(10).empty());
    for (std::uint64_t n = 11; n <= sent_requests::capacity + 10; ++n) EXPECT_TRUE(has(sent, n)) << n;
    EXPECT_TRUE(sent.keeps_all(11, sent_requests::capacity + 11));
    EXPECT_FALSE(sent.keeps_all(10, sent_requests::capacity + 11));
}

TEST(sent_requests, forgets_what_is_to_be_sent_under_the_same_number) {
    sent_requests sent;
    for (std::uint64_t n = 1; n <= 6; ++n) add(sent, n);
    sent.forget_from(4);
    EXPECT_TRUE(has(sent, 3));
    EXPECT_TRUE(sent.find(4).empty());
    add(sent, 4);
    EXPECT_TRUE(has(sent, 4));
    sent.forget_from(1);
    EXPECT_TRUE(sent.find(1).empty());
}

TEST(sent_requests, agree_with_a_map_over_random_sequences) {
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE(::testing::Message() << "CORRO_SEED=" << seed);
    base::prng random(seed);
    for (int run = 0; run < 50; ++run) {
        sent_requests sent;
        std::map<std::uint64_t, bool> kept;  // by number; false: it was refused
        std::uint64_t next = 1;
        for (int step = 0; step < 400; ++step) {
            const std::uint64_t some = next > 20 ? next - random.below(20) : random.below(next) + 1;
            switch (random.below(8)) {
                case 0:
                    sent.answered(some);
                    kept.erase(kept.begin(), kept.upper_bound(some));
                    break;
                case 1:
                case 2:
                    sent.refused(some);
                    if (const auto found = kept.find(some); found != kept.end()) found->second = false;
                    break;
                case 3:
                    if (random.below(4) != 0 || kept.empty() || some <= kept.begin()->first) break;
                    sent.forget_from(some);
                    kept.erase(kept.lower_bound(some), kept.end());
                    next = some;
                    break;
                default:
                    add(sent, next);
                    kept.emplace(next++, true);
                    break;
            }
            const std::uint64_t first = kept.empty() ? next : kept.begin()->first;
            ASSERT_TRUE(sent.keeps_all(first, next)) << "step " << step;
            ASSERT_EQ(sent.keeps_all(first - 1, next), false) << "step " << step;
            for (std::uint64_t n = next > 25 ? next - 25 : 1; n <= next; ++n) {
                const auto found = kept.find(n);
                const bool is_kept = found != kept.end() && found->second;
                ASSERT_TRUE(is_kept ? has(sent, n) : sent.find(n).empty()) << "step " << step << " number " << n;
            }
        }
    }
}

TEST(sent_requests, starts_anew_when_somebody_else_has_used_the_session_meanwhile) {
    sent_requests sent;
    add(sent, 1);
    add(sent, 90);
    EXPECT_TRUE(has(sent, 90));
    EXPECT_TRUE(sent.find(1).empty());
}

}  // namespace
}  // namespace corro::client
