// SPDX-License-Identifier: Apache-2.0
// The audit of journals finds what does not fit: each test changes one thing of a history that is right.

#include "simulation/journal_audit.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "domain/command.hpp"

namespace corro::simulation {
namespace {

constexpr domain::session_id session{1};
constexpr domain::session_id other{2};
constexpr std::int64_t second_ns = 1'000'000'000;

domain::command order(std::uint64_t sequence, domain::session_id from, std::uint32_t request, std::int64_t time_ns) {
    domain::command c;
    c.sequence = domain::sequence_number{sequence};
    c.session = from;
    c.time = domain::time_ns{time_ns};
    c.client_order = domain::client_order_id{request};
    c.set_request(request);
    return c;
}

sent_request sent(std::uint32_t request, std::int64_t sent_ns, std::int64_t answered_ns) {
    return {order(0, {}, request, 0), sent_ns, answered_ns, false};
}

/// Two sessions; the second sends when the first has its first answer.
struct history {
    std::vector<sent_request> first{sent(1, 100, 200), sent(2, 300, 400)};
    std::vector<sent_request> second{sent(1, 250, 500)};
    journal_commands journal{order(1, session, 1, 1), order(2, other, 1, 2), order(3, session, 2, 3)};

    [[nodiscard]] findings check() const {
        findings found;
        check_requests({journal}, {{session, {}, &first, nullptr}, {other, {}, &second, nullptr}}, &found);
        return found;
    }
};

TEST(journal_audit, C3_a_history_that_the_journal_explains_is_right) {
    EXPECT_TRUE(history().check().empty()) << history().check().words();
}

TEST(journal_audit, C3_a_request_that_is_in_the_journal_twice_is_found) {
    history h;
    h.journal.push_back(order(4, session, 2, 4));
    EXPECT_EQ(h.check().promise(), "C3");
}

TEST(journal_audit, C3_an_answered_request_that_is_in_no_journal_is_found) {
    history h;
    h.journal.pop_back();
    EXPECT_EQ(h.check().promise(), "C3");
}

TEST(journal_audit, C3_a_request_that_was_never_sent_is_found) {
    history h;
    h.second.clear();
    EXPECT_EQ(h.check().promise(), "C3");
}

TEST(journal_audit, C3_a_refused_request_that_is_in_the_journal_is_found) {
    history h;
    h.second[0].is_refused = true;
    EXPECT_EQ(h.check().promise(), "C3");
}

TEST(journal_audit, C3_another_order_under_the_same_number_is_found) {
    history h;
    h.journal[2].client_order = domain::client_order_id{77};
    EXPECT_EQ(h.check().promise(), "C3");
}

TEST(journal_audit, C3_a_request_before_one_that_was_answered_before_it_was_sent_is_found) {
    history h;
    h.journal = {order(1, other, 1, 1), order(2, session, 1, 2), order(3, session, 2, 3)};
    EXPECT_EQ(h.check().promise(), "C3");
}

TEST(journal_audit, C3_a_gap_in_the_journal_is_found) {
    history h;
    h.journal[2].sequence = domain::sequence_number{4};
    EXPECT_EQ(h.check().promise(), "C3");
}

TEST(journal_audit, S5_one_request_too_many_in_a_window_is_found) {
    journal_commands journal{order(1, session, 1, 10), order(2, session, 2, 20), order(3, session, 3, second_ns)};
    findings right;
    check_throttle({journal}, 2, second_ns, &right);
    EXPECT_TRUE(right.empty()) << right.words();
    journal[2].time = domain::time_ns{second_ns - 1};
    findings wrong;
    check_throttle({journal}, 2, second_ns, &wrong);
    EXPECT_EQ(wrong.promise(), "S5");
    journal[2].set_verdict(domain::reject_reason::throttled);
    findings rejected;
    check_throttle({journal}, 2, second_ns, &rejected);
    EXPECT_TRUE(rejected.empty()) << rejected.words();
}

}  // namespace
}  // namespace corro::simulation
