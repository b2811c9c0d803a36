// SPDX-License-Identifier: Apache-2.0
// Accounts and limits that a configuration sets while the venue runs: docs/spec/journal.md.
#include <gtest/gtest.h>

#include <vector>

#include "base/byte_stream.hpp"
#include "facility/facility.hpp"
#include "facility/recorder.hpp"
#include "facility_reference/differential.hpp"

namespace corro::facility::testing {
namespace {

using domain::command_kind;
using domain::defined_account;

struct configured_accounts : ::testing::Test {
    static constexpr facility_options options{.orders_max = 100, .accounts_max = 8, .positions_max = 64};
    std::vector<domain::instrument> instruments{wide_instrument(1)};
    twin both{options, instruments};
    std::uint64_t sequence = 0;

    /// Executes on both and returns the number of events.
    std::size_t apply(domain::command c) {
        c.sequence = domain::sequence_number{++sequence};
        EXPECT_EQ(both.apply(c), "");
        return both.events().size();
    }
    static domain::command definition(std::uint32_t account, std::uint32_t first, std::uint32_t sessions) {
        domain::command c;
        c.kind = command_kind::define_account;
        c.set_operator(true);
        c.define_account().other_account = domain::account_id{account};
        c.define_account().first_session = domain::session_id{first};
        c.define_account().sessions_count = sessions;
        return c;
    }
    static domain::command limits(std::uint32_t account, std::uint32_t size, std::uint32_t orders) {
        domain::command c;
        c.kind = command_kind::set_account_limits;
        c.set_operator(true);
        c.set_limits().other_account = domain::account_id{account};
        c.set_limits().order_quantity_max = domain::quantity_lots{size};
        c.set_limits().open_orders_max = orders;
        return c;
    }
    static defined_account defined(std::uint32_t account, std::uint32_t first, std::uint32_t sessions) {
        return {domain::account_id{account}, domain::session_id{first}, sessions};
    }
    [[nodiscard]] std::vector<defined_account> accounts() const {
        const auto all = both.venue().defined_accounts();
        return {all.begin(), all.end()};
    }
    [[nodiscard]] std::vector<std::byte> saved() const {
        std::vector<std::byte> bytes;
        base::memory_sink sink(bytes);
        EXPECT_TRUE(both.venue().save(sink));
        return bytes;
    }
};

TEST_F(configured_accounts, are_defined_once_and_behind_the_others_without_an_event) {
    EXPECT_EQ(apply(definition(5, 3, 2)), 0U);
    EXPECT_EQ(accounts(), (std::vector{defined(5, 3, 2)}));
    // The same account again, another account with its sessions, and invalid accounts.
    for (const domain::command& wrong :
         {definition(5, 3, 2), definition(5, 9, 1), definition(6, 4, 1), definition(6, 2, 1), definition(0, 9, 1),
          definition(8, 9, 1), definition(6, 9, 0), definition(6, 0, 1), definition(6, 9, 2'000'000)}) {
        EXPECT_EQ(apply(wrong), 0U);
    }
    domain::command of_a_stranger = definition(6, 9, 1);
    of_a_stranger.set_operator(false);
    EXPECT_EQ(apply(of_a_stranger), 0U);
    EXPECT_EQ(accounts(), (std::vector{defined(5, 3, 2)}));
    EXPECT_EQ(apply(definition(6, 5, 1)), 0U);
    EXPECT_EQ(accounts(), (std::vector{defined(5, 3, 2), defined(6, 5, 1)}));
}

TEST_F(configured_accounts, have_their_limits_at_once) {
    EXPECT_FALSE(both.venue().was_given_limits(domain::account_id{2}));
    EXPECT_EQ(apply(limits(2, 5, 1)), 0U);
    EXPECT_TRUE(both.venue().was_given_limits(domain::account_id{2}));
    EXPECT_EQ(both.venue().limits_of(domain::account_id{2}),
              (domain::account_limits{.order_quantity_max = 5, .open_orders_max = 1}));
    apply(limit(2, domain::side::buy, 10, 6, 1));
    EXPECT_EQ(both.venue().open_orders_count(), 0U);
    apply(limit(2, domain::side::buy, 10, 5, 2));
    apply(limit(2, domain::side::buy, 10, 5, 3));
    EXPECT_EQ(both.venue().open_orders_count(), 1U);
    // Limits of zero come from the configuration too: the account counts as configured.
    apply(limits(2, 0, 0));
    EXPECT_TRUE(both.venue().was_given_limits(domain::account_id{2}));
    apply(limit(2, domain::side::buy, 10, 6, 4));
    EXPECT_EQ(both.venue().open_orders_count(), 2U);
    // Invalid limits change nothing.
    domain::command negative = limits(2, 1, 1);
    negative.set_limits().notional_max = -1;
    domain::command of_no_firm = limits(2, 1, 1);
    of_no_firm.set_limits().firm = 8;
    domain::command of_a_stranger = limits(2, 1, 1);
    of_a_stranger.set_operator(false);
    for (const domain::command& c : {negative, of_no_firm, of_a_stranger, limits(8, 1, 1)}) EXPECT_EQ(apply(c), 0U);
    EXPECT_EQ(both.venue().limits_of(domain::account_id{2}), domain::account_limits());
}

TEST_F(configured_accounts, stand_in_snapshots_and_change_none_of_a_venue_without_them) {
    apply(limit(2, domain::side::buy, 10, 6, 1));
    EXPECT_EQ(saved()[8], std::byte{1}) << "the version of the format";
    apply(definition(5, 3, 2));
    apply(limits(5, 7, 0));
    apply(limits(6, 0, 0));
    const std::vector<std::byte> bytes = saved();
    EXPECT_EQ(bytes[8], std::byte{2});
    recorder seen;
    facility loaded(options, instruments, seen);
    base::memory_source source(bytes);
    ASSERT_EQ(loaded.load(source), std::error_code{});
    ASSERT_EQ(loaded.defined_accounts().size(), 1U);
    EXPECT_EQ(loaded.defined_accounts()[0], defined(5, 3, 2));
    EXPECT_EQ(loaded.limits_of(domain::account_id{5}).order_quantity_max, 7U);
    EXPECT_TRUE(loaded.was_given_limits(domain::account_id{6})) << "none, but given";
    EXPECT_FALSE(loaded.was_given_limits(domain::account_id{2}));
    EXPECT_EQ(loaded.state_hash(), both.venue().state_hash());
    loaded.clear();
    EXPECT_TRUE(loaded.defined_accounts().empty());
}

}  // namespace
}  // namespace corro::facility::testing
