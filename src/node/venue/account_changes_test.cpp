// SPDX-License-Identifier: Apache-2.0
#include "node/venue/account_changes.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include "node/recovery/journal_replay.hpp"
#include "node/venue/order_entry.hpp"

namespace corro::node {
namespace {

using domain::command_kind;

std::string text_of(const std::string& accounts, const std::string& venue = "sessions_reserved = 3\n") {
    return "[venue]\n" + venue + "[[instrument]]\nid = 1\nsymbol = \"ESH4\"\ntick_size = \"0.25\"\n" + accounts;
}
std::string account(int id, const std::string& more = "") {
    const std::string digits = std::to_string(100 + id).substr(1);
    std::string key;
    while (key.size() < 64) key += digits;
    return "[[account]]\nid = " + std::to_string(id) + "\nkey = \"" + key.substr(0, 64) + "\"\n" + more;
}
configuration configured(const std::string& accounts, const std::string& venue = "sessions_reserved = 3\n") {
    return parse_configuration(text_of(accounts, venue), "corro.toml");
}

struct account_changes : ::testing::Test {
    configuration start = configured(account(1, "sessions = 2\n") + account(2));
    gateway::account_directory accounts = account_directory_of(start);

    reread_outcome look(const configuration& changed) { return look_at(accounts, changed, start.tables, 1'024); }
    std::vector<std::string> problems(const std::string& text) { return look(configured(text)).problems; }
};

TEST_F(account_changes, become_commands_whose_sessions_are_behind_those_of_the_others) {
    const configuration changed = configured(account(1, "sessions = 2\n") + account(2, "order_quantity_max = 9\n") +
                                             account(7, "sessions = 2\nposition_max = 5\nfirm = 3\n") + account(8));
    EXPECT_TRUE(look(changed).problems.empty());
    EXPECT_TRUE(look(changed).waiting.empty());
    const auto commands = commands_for(accounts, changed.accounts);
    ASSERT_EQ(commands.size(), 4U);
    EXPECT_EQ(commands[0].kind, command_kind::set_account_limits);
    EXPECT_EQ(commands[0].set_limits().other_account.value, 2U);
    EXPECT_EQ(commands[0].set_limits().order_quantity_max.value, 9U);
    EXPECT_EQ(commands[1].kind, command_kind::define_account);
    EXPECT_EQ(commands[1].define_account().other_account.value, 7U);
    EXPECT_EQ(commands[1].define_account().first_session.value, 4U);
    EXPECT_EQ(commands[1].define_account().sessions_count, 2U);
    EXPECT_EQ(commands[2].kind, command_kind::set_account_limits);
    EXPECT_EQ(commands[2].set_limits().position_max.value, 5U);
    EXPECT_EQ(commands[2].set_limits().firm, 3U);
    EXPECT_EQ(commands[3].kind, command_kind::define_account);
    EXPECT_EQ(commands[3].define_account().first_session.value, 6U);
    for (const domain::command& c : commands) {
        EXPECT_TRUE(c.is_operator());
        EXPECT_EQ(c.session.value, 0U);
    }
    const gateway::account* const known = accounts.find(domain::account_id{1});
    accounts.take(changed.accounts);
    EXPECT_EQ(accounts.find(domain::account_id{1}), known) << "sessions that are logged on point at it";
    EXPECT_EQ(accounts.find(domain::account_id{7})->first_session.value, 4U);
    EXPECT_TRUE(commands_for(accounts, changed.accounts).empty()) << "the same file again changes nothing";
    const auto cleared = commands_for(accounts, configured(account(1, "sessions = 2\n") + account(2)).accounts);
    ASSERT_EQ(cleared.size(), 1U) << "limits that the file no longer has end";
    EXPECT_EQ(cleared[0].set_limits().order_quantity_max.value, 0U);
}

TEST_F(account_changes, that_cannot_be_made_are_named_one_by_one) {
    const std::string first = account(1, "sessions = 2\n");
    EXPECT_EQ(problems(first), std::vector<std::string>{"account 2 is missing"});
    EXPECT_EQ(problems(account(2) + first),
              (std::vector<std::string>{"account 1 has other rights or sessions, or another place",
                                        "account 2 has other rights or sessions, or another place"}));
    EXPECT_EQ(problems(first + account(2, "operator = true\n") + account(3, "copies_of = [1]\n")),
              (std::vector<std::string>{"account 2 has other rights or sessions, or another place",
                                        "account 3 is new and copies others, which only a start can begin"}));
    EXPECT_EQ(problems(first + account(2) + account(3, "sessions = 4\n")),
              std::vector<std::string>{"account 3 is new, and no room is reserved for its sessions "
                                       "(venue.sessions_reserved, at the next start)"});
    EXPECT_EQ(problems(first + account(2) + account(3, "gateway = \"north\"\n")),
              std::vector<std::string>{
                  "account 3 is new and names a gateway that no other account names, which only a start can take"});
    EXPECT_EQ(problems(first + account(2, "firm = 1024\n")),
              std::vector<std::string>{"account 2 or its firm has a number of 1024 or more (raise venue.accounts_max; "
                                       "takes effect at the next start)"});
    EXPECT_EQ(
        look(configured(first + account(2), "sessions_reserved = 4\n")).waiting,
        std::vector<std::string>{"[venue] has changed since the start; the change takes effect at the next start"});
}

TEST_F(account_changes, of_the_journal_win_over_the_configuration) {
    struct nowhere final : facility::event_consumer {
        void consume(std::span<const domain::event> /*events*/) noexcept override {}
    } sink;
    facility::facility state(facility_options_of(start, io::default_platform()), start.instruments, sink);
    const configuration added = configured(account(1, "sessions = 2\n") + account(2) + account(7, "firm = 3\n"));
    for (const domain::command& c : commands_for(accounts, added.accounts)) state.apply(c);
    const facility::facility* const states[] = {&state};
    // The old file: the account exists without keys.
    EXPECT_TRUE(adopt_accounts(accounts, {}, states).empty());
    ASSERT_NE(accounts.find(domain::account_id{7}), nullptr);
    EXPECT_TRUE(accounts.find(domain::account_id{7})->is_other_gateway);
    EXPECT_TRUE(look(start).problems.empty()) << "it may stay away";
    // With the new file it returns, and needs no command except for limits that only the file has.
    EXPECT_TRUE(look(added).problems.empty());
    accounts.take(added.accounts);
    EXPECT_FALSE(accounts.find(domain::account_id{7})->is_other_gateway);
    // The new file at the start.
    gateway::account_directory fresh = account_directory_of(added);
    EXPECT_TRUE(adopt_accounts(fresh, {}, states).empty());
    // Another file has another account there.
    gateway::account_directory other = account_directory_of(configured(account(1, "sessions = 2\n") + account(3)));
    EXPECT_TRUE(adopt_accounts(other, {}, states).empty()) << "the same number of sessions is no contradiction here";
    gateway::account_directory more =
        account_directory_of(configured(account(1, "sessions = 2\n") + account(2) + account(9)));
    EXPECT_THROW(static_cast<void>(adopt_accounts(more, {}, states)), recovery_error);
    // Limits of the file that no journal has become commands of the start; others do not.
    gateway::account_directory limited = account_directory_of(
        configured(account(1, "sessions = 2\nopen_orders_max = 4\n") + account(2) + account(7, "firm = 5\n")));
    const auto commands = adopt_accounts(limited, {}, states);
    ASSERT_EQ(commands.size(), 1U);
    EXPECT_EQ(commands[0].set_limits().other_account.value, 1U);
    EXPECT_EQ(limited.find(domain::account_id{7})->limits->firm, 3U) << "the journal's";
}

}  // namespace
}  // namespace corro::node
