// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/credentials.hpp"

#include <gtest/gtest.h>

#include <string>

namespace corro::node {
namespace {

TEST(credentials, are_those_of_the_account_with_the_name) {
    configuration c;
    for (const std::uint32_t number : {3U, 5U}) {
        gateway::account each;
        each.id = domain::account_id{number};
        each.name = "account" + std::to_string(number);
        each.key.fill(static_cast<std::byte>(number));
        c.accounts.push_back(each);
    }
    const client::credentials who = credentials_of(c, "account5");
    EXPECT_EQ(who.account, domain::account_id{5});
    EXPECT_EQ(who.key, c.accounts[1].key);
    try {
        static_cast<void>(credentials_of(c, "account4"));
        ADD_FAILURE() << "there is no such account";
    } catch (const configuration_error& e) {
        EXPECT_STREQ(e.what(), "no account \"account4\"; the configuration has: account3, account5");
    }
}

}  // namespace
}  // namespace corro::node
