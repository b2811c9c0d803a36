// SPDX-License-Identifier: Apache-2.0
// The requests that a start considers lost.
#include "node/recovery/lost_requests.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace corro::node {
namespace {

/// Two partitions, a few sessions, and commands as a venue records them.
class lost : public ::testing::Test {
 protected:
    static domain::command of(std::uint32_t session, std::uint32_t request) {
        domain::command c;
        c.kind = domain::command_kind::enter_order;
        c.session = domain::session_id{session};
        c.account = domain::account_id{session};
        c.set_request(request);
        return c;
    }
    /// A quote of a mass quote.
    static domain::command leg(std::uint32_t request, std::uint16_t index, bool has_more) {
        domain::command c = of(1, request);
        c.kind = domain::command_kind::enter_quote;
        c.enter_quote().flags = has_more ? domain::quote_flag::more : std::uint8_t{0};
        c.set_request_place(index, index == 0 ? request - 1 : request);
        return c;
    }
    static domain::command recorded(std::uint32_t session, std::uint32_t request, std::uint32_t previous) {
        domain::command c = of(session, request);
        c.set_request_place(0, previous);
        return c;
    }
    void replay(std::size_t partition, domain::command c) {
        c.set_arrival(++arrival, 0);
        requests.replayed(partition, c);
    }
    /// A submitted command that is in no journal.
    void lose() { ++arrival; }
    std::vector<std::uint32_t> refused(std::size_t most = lost_requests_max) {
        std::vector<std::uint32_t> all;
        for (const domain::command& c : requests.refusals(most)) all.push_back(c.request());
        return all;
    }

    std::uint64_t arrival = 0;
    lost_requests requests = lost_requests(2, std::vector<std::uint32_t>(5), 0);
};

using numbers = std::vector<std::uint32_t>;

TEST_F(lost, a_request_that_was_rejected_is_not_lost) {
    replay(0, recorded(1, 1, 0));
    // The second partition has no command, the first one all; 2 to 9 were rejected.
    replay(0, recorded(1, 10, 1));
    EXPECT_EQ(refused(), numbers{});
}

TEST_F(lost, what_was_passed_on_and_is_in_no_journal_is_lost) {
    replay(0, recorded(1, 1, 0));
    lose();
    replay(0, recorded(1, 5, 3));
    EXPECT_EQ(refused(), (numbers{2, 3})) << "3 for certain, 2 may have been before it, 4 was rejected";
}

TEST_F(lost, a_hundred_million_rejects_are_one_gap_and_the_newest_are_refused) {
    replay(0, of(1, 1));
    replay(0, of(1, 100'000'000));
    replay(0, of(2, 4));
    EXPECT_EQ(requests.gaps_count(), 2U);
    EXPECT_EQ(refused(10), (numbers{99'999'995, 99'999'996, 99'999'997, 99'999'998, 99'999'999, 1, 2, 3}));
    EXPECT_EQ(requests.passed_over_count(), 99'999'998U - 5);
}

TEST_F(lost, gaps_that_every_journal_has_passed_are_forgotten) {
    for (std::uint32_t i = 1; i <= 100'000; ++i) {
        replay(i % 2, of(1, 2 * i));
        ASSERT_LE(requests.gaps_count(), 8'192U);
    }
    EXPECT_LE(refused().size(), 2U);
}

TEST_F(lost, what_an_earlier_start_has_refused_is_refused_once) {
    replay(1, of(2, 1));
    replay(0, of(1, 1));
    replay(0, of(1, 6));
    for (const std::uint32_t request : {2U, 4U, 5U}) {
        domain::command refusal = of(1, request);
        refusal.set_verdict(domain::reject_reason::request_lost);
        replay(0, refusal);
    }
    EXPECT_EQ(refused(), numbers{3});
}

TEST_F(lost, a_quote_of_a_mass_quote_makes_its_request_lost_wherever_it_stood) {
    for (int missing = 0; missing < 3; ++missing) {
        SCOPED_TRACE(missing);
        arrival = 0;
        requests = lost_requests(2, std::vector<std::uint32_t>(5), 0);
        replay(0, recorded(1, 1, 0));
        for (int index = 0; index < 3; ++index) {
            if (index == missing) {
                lose();
            } else {
                replay(0, leg(2, static_cast<std::uint16_t>(index), index != 2));
            }
        }
        replay(0, recorded(1, 3, 2));
        EXPECT_EQ(refused(), numbers{2});
    }
}

/// A reset of the numbers of session 1, for both partitions.
domain::command reset(std::uint64_t arrival) {
    domain::command c;
    c.kind = domain::command_kind::reset_session_numbers;
    c.session = domain::session_id{1};
    c.account = domain::account_id{1};
    c.set_arrival(arrival, 2);
    return c;
}

TEST_F(lost, requests_of_a_new_day_are_counted_from_one) {
    replay(0, recorded(1, 1, 0));
    replay(1, recorded(1, 900, 1));
    ++arrival;
    for (std::size_t k = 0; k < 2; ++k) requests.replayed(k, reset(arrival));
    replay(0, recorded(1, 1, 0));
    lose();
    replay(0, recorded(1, 3, 2));
    EXPECT_EQ(refused(), numbers{2}) << "of the new day; of the old one everything was answered";
}

TEST_F(lost, requests_go_on_behind_a_reset_that_one_journal_has) {
    replay(0, recorded(1, 1, 0));
    lose();
    replay(0, recorded(1, 3, 2));
    ++arrival;
    requests.replayed(0, reset(arrival));
    requests.replayed_partly(reset(arrival));
    EXPECT_EQ(refused(), numbers{2}) << "a journal that has lost the reset may have lost a request before it";
}

TEST_F(lost, a_mass_quote_whose_end_is_missing_at_the_end_of_the_journals_is_lost) {
    replay(0, leg(1, 0, true));
    replay(0, leg(1, 1, true));
    EXPECT_EQ(refused(), numbers{1});
}

TEST_F(lost, a_mass_quote_that_is_there_is_not_lost) {
    replay(0, leg(1, 0, true));
    replay(1, leg(1, 1, true));
    replay(0, leg(1, 2, false));
    EXPECT_EQ(refused(), numbers{});
}

}  // namespace
}  // namespace corro::node
