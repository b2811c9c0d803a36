#include "client/sent_requests.hpp"

#include <gtest/gtest.h>

#include <array>

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

TEST(sent_requests, replaces_what_it_keeps) {
    sent_requests sent;
    for (std::uint64_t n = 5; n <= 7; ++n) add(sent, n);
    const std::array<std::byte, 2> other{std::byte{90}, std::byte{91}};
    for (const std::uint64_t number : {4U, 6U, 8U}) sent.replace(number, other);
    EXPECT_TRUE(has(sent, 5));
    EXPECT_TRUE(has(sent, 7));
    ASSERT_EQ(sent.find(6).size(), other.size());
    EXPECT_EQ(sent.find(6)[0], other[0]);
    EXPECT_TRUE(sent.find(4).empty());
    EXPECT_TRUE(sent.find(8).empty());
}

TEST(sent_requests, gives_up_the_oldest_when_it_is_full) {
    sent_requests sent;
    for (std::uint64_t n = 1; n <= sent_requests::capacity + 10; ++n) add(sent, n);
    EXPECT_TRUE(sent.find(10).empty());
    for (std::uint64_t n = 11; n <= sent_requests::capacity + 10; ++n) EXPECT_TRUE(has(sent, n)) << n;
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

TEST(sent_requests, starts_anew_when_somebody_else_has_used_the_session_meanwhile) {
    sent_requests sent;
    add(sent, 1);
    add(sent, 90);
    EXPECT_TRUE(has(sent, 90));
    EXPECT_TRUE(sent.find(1).empty());
}

}  // namespace
}  // namespace corro::client
