// SPDX-License-Identifier: Apache-2.0
#include "risk/account_rules.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/archive.hpp"
#include "base/byte_stream.hpp"

namespace corro::risk {
namespace {

using domain::account_id;
using domain::session_id;

constexpr std::uint32_t accounts = 8;
constexpr std::uint32_t sessions_killed_max = 2;

std::vector<std::pair<std::uint32_t, std::uint32_t>> killed_sessions_of(const account_rules& rules) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> all;
    rules.switches().for_each_session(
        [&](std::uint32_t account, std::uint32_t session) { all.emplace_back(account, session); });
    return all;
}

TEST(account_rules, mark_an_account_while_it_has_any_limit) {
    account_rules rules(accounts, sessions_killed_max);
    EXPECT_EQ(rules.flags(account_id{3}), 0);
    for (const domain::account_limits& limits :
         {domain::account_limits{.notional_max = 1}, domain::account_limits{.order_quantity_max = 1},
          domain::account_limits{.position_max = 1}, domain::account_limits{.open_orders_max = 1}}) {
        rules.set_limits(account_id{3}, limits);
        EXPECT_EQ(rules.flags(account_id{3}), account_flag::limited);
        EXPECT_TRUE(rules.is_limited(account_id{3}));
        EXPECT_EQ(rules.limits(account_id{3}), limits);
    }
    EXPECT_EQ(rules.flags(account_id{2}), 0) << "another account";
    rules.set_limits(account_id{3}, {.firm = 5});
    EXPECT_EQ(rules.flags(account_id{3}), 0) << "a firm is not a limit";
    EXPECT_EQ(rules.firm(account_id{3}), 5U);
}

TEST(account_rules, remember_that_the_configuration_set_limits) {
    account_rules rules(accounts, sessions_killed_max);
    rules.set_limits(account_id{1}, {.position_max = 1});
    rules.set_configured(account_id{1});
    EXPECT_EQ(rules.flags(account_id{1}), account_flag::limited | account_flag::configured);
    rules.set_limits(account_id{1}, {});
    EXPECT_EQ(rules.flags(account_id{1}), account_flag::configured) << "after the limits are gone";
    rules.kill_account(account_id{1}, true);
    rules.kill_account(account_id{1}, false);
    EXPECT_EQ(rules.flags(account_id{1}), account_flag::configured) << "and after a kill switch";
}

TEST(account_rules, kill_an_account_until_its_switch_is_off) {
    account_rules rules(accounts, sessions_killed_max);
    rules.kill_account(account_id{1}, true);
    EXPECT_TRUE(rules.is_killed(account_id{1}, session_id{7}));
    EXPECT_FALSE(rules.is_killed(account_id{2}, session_id{7}));
    rules.kill_account(account_id{1}, false);
    EXPECT_FALSE(rules.is_killed(account_id{1}, session_id{7}));
    EXPECT_EQ(rules.flags(account_id{1}), 0);
}

TEST(account_rules, kill_all_accounts_of_a_firm_also_those_that_join_it_later) {
    account_rules rules(accounts, sessions_killed_max);
    rules.set_limits(account_id{1}, {.firm = 4});
    rules.set_limits(account_id{2}, {.firm = 5});
    rules.kill_firm(4, true);
    EXPECT_TRUE(rules.is_killed(account_id{1}, session_id{1}));
    EXPECT_FALSE(rules.is_killed(account_id{2}, session_id{1})) << "of another firm";
    EXPECT_FALSE(rules.is_killed(account_id{4}, session_id{1})) << "an account with the firm's number";
    rules.set_limits(account_id{2}, {.firm = 4});
    EXPECT_TRUE(rules.is_killed(account_id{2}, session_id{1})) << "joins the firm";
    rules.set_limits(account_id{1}, {});
    EXPECT_FALSE(rules.is_killed(account_id{1}, session_id{1})) << "leaves the firm";
    rules.kill_firm(4, false);
    EXPECT_FALSE(rules.is_killed(account_id{2}, session_id{1}));
}

TEST(account_rules, keep_the_switches_of_account_and_firm_apart) {
    account_rules rules(accounts, sessions_killed_max);
    rules.set_limits(account_id{1}, {.firm = 4});
    rules.kill_firm(4, true);
    rules.kill_account(account_id{1}, true);
    rules.kill_firm(4, false);
    EXPECT_TRUE(rules.is_killed(account_id{1}, session_id{1})) << "its own switch is still on";
    rules.kill_account(account_id{1}, false);
    EXPECT_FALSE(rules.is_killed(account_id{1}, session_id{1}));
}

TEST(account_rules, kill_single_sessions_as_many_as_the_table_holds) {
    account_rules rules(accounts, sessions_killed_max);
    EXPECT_TRUE(rules.kill_session(account_id{1}, session_id{9}, true));
    EXPECT_TRUE(rules.kill_session(account_id{1}, session_id{9}, true)) << "is on already";
    EXPECT_TRUE(rules.is_killed(account_id{1}, session_id{9}));
    EXPECT_FALSE(rules.is_killed(account_id{1}, session_id{8})) << "another session of the account";
    EXPECT_FALSE(rules.is_killed(account_id{2}, session_id{9})) << "the same number for another account";
    EXPECT_TRUE(rules.kill_session(account_id{1}, session_id{2}, true));
    EXPECT_FALSE(rules.kill_session(account_id{2}, session_id{3}, true)) << "the table is full";
    EXPECT_FALSE(rules.is_killed(account_id{2}, session_id{3}));
    EXPECT_EQ(rules.flags(account_id{2}), 0);
    EXPECT_EQ(killed_sessions_of(rules), (std::vector<std::pair<std::uint32_t, std::uint32_t>>{{1, 2}, {1, 9}}));
    EXPECT_TRUE(rules.kill_session(account_id{1}, session_id{9}, false));
    EXPECT_TRUE(rules.kill_session(account_id{1}, session_id{9}, false)) << "is off already";
    EXPECT_TRUE(rules.kill_session(account_id{2}, session_id{3}, true)) << "room again";
    EXPECT_TRUE(rules.kill_session(account_id{1}, session_id{2}, false));
    EXPECT_EQ(rules.flags(account_id{1}), 0) << "none of its sessions is left";
}

/// Some of everything.
account_rules made() {
    account_rules rules(accounts, sessions_killed_max);
    rules.set_limits(account_id{1}, {.notional_max = 10, .order_quantity_max = 20, .firm = 4});
    rules.set_configured(account_id{1});
    rules.set_limits(account_id{2}, {.position_max = 30, .open_orders_max = 40});
    rules.kill_account(account_id{3}, true);
    rules.kill_firm(4, true);
    EXPECT_TRUE(rules.kill_session(account_id{5}, session_id{6}, true));
    return rules;
}

std::vector<std::byte> saved(account_rules rules) {
    std::vector<std::byte> bytes;
    base::memory_sink sink(bytes);
    base::archive a(sink);
    rules.transfer(a);
    EXPECT_TRUE(a.finish());
    return bytes;
}

TEST(account_rules, survive_a_snapshot) {
    const account_rules before = made();
    const std::vector<std::byte> bytes = saved(before);
    account_rules after(accounts, sessions_killed_max);
    base::memory_source source(bytes);
    base::archive a(source);
    after.transfer(a);
    ASSERT_TRUE(a.finish());
    for (std::uint32_t account = 0; account < accounts; ++account) {
        EXPECT_EQ(after.flags(account_id{account}), before.flags(account_id{account})) << account;
        EXPECT_EQ(after.limits(account_id{account}), before.limits(account_id{account})) << account;
        EXPECT_EQ(after.switches().is_account_killed(account), before.switches().is_account_killed(account));
        EXPECT_EQ(after.switches().is_firm_killed(account), before.switches().is_firm_killed(account));
    }
    EXPECT_EQ(killed_sessions_of(after), killed_sessions_of(before));
    EXPECT_EQ(saved(after), bytes);
}

TEST(account_rules, load_no_firm_that_there_cannot_be) {
    account_rules rules(2 * accounts, sessions_killed_max);
    rules.set_limits(account_id{1}, {.firm = accounts});
    const std::vector<std::byte> bytes = saved(rules);
    account_rules after(accounts, sessions_killed_max);
    base::memory_source source(bytes);
    base::archive a(source);
    after.transfer(a);
    EXPECT_FALSE(a.finish());
}

}  // namespace
}  // namespace corro::risk
