// SPDX-License-Identifier: Apache-2.0
#include "gateway/accounts.hpp"

#include <gtest/gtest.h>

namespace corro::gateway {
namespace {

account named(std::uint32_t id, std::uint32_t sessions_count) {
    account a;
    a.id = domain::account_id{id};
    a.sessions_count = sessions_count;
    return a;
}

TEST(account_directory, gives_every_account_its_own_range_of_sessions) {
    account_directory directory;
    EXPECT_EQ(directory.add(named(7, 3)), "");
    EXPECT_EQ(directory.add(named(9, 2)), "");
    EXPECT_EQ(directory.find(domain::account_id{7})->first_session.value, 1U);
    EXPECT_EQ(directory.find(domain::account_id{9})->first_session.value, 4U);
    EXPECT_EQ(directory.sessions_count(), 5U);
    EXPECT_EQ(directory.find(domain::account_id{8}), nullptr);
}

TEST(account_directory, refuses_unsound_accounts_with_a_sentence) {
    account_directory directory;
    EXPECT_NE(directory.add(named(0, 1)), "");
    EXPECT_NE(directory.add(named(1, 0)), "");
    EXPECT_EQ(directory.add(named(1, 1)), "");
    EXPECT_NE(directory.add(named(1, 1)), "");
    EXPECT_NE(directory.add(named(2, account_directory::sessions_max)), "");
}

}  // namespace
}  // namespace corro::gateway
