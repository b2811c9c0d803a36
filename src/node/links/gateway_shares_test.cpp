// SPDX-License-Identifier: Apache-2.0
#include "node/links/gateway_shares.hpp"

#include <gtest/gtest.h>

namespace corro::node {
namespace {

gateway::account_directory directory_of(std::initializer_list<const char*> gateways) {
    gateway::account_directory directory;
    std::uint32_t id = 0;
    for (const char* name : gateways) {
        gateway::account a;
        a.id = domain::account_id{++id};
        a.sessions_count = 2;
        a.gateway = name;
        EXPECT_EQ(directory.add(a), "");
    }
    return directory;
}

TEST(gateway_shares, the_only_gateway_has_no_name_and_serves_everybody) {
    const gateway_shares shares(directory_of({"", ""}));
    EXPECT_EQ(shares.count(), 1U);
    EXPECT_EQ(shares.find(""), 0U);
    EXPECT_FALSE(shares.find("north"));
    for (std::uint32_t id = 1; id <= 4; ++id) EXPECT_TRUE(shares.serves(0, domain::session_id{id}));
    EXPECT_FALSE(shares.serves(0, domain::session_id{0}));
    EXPECT_FALSE(shares.serves(0, domain::session_id{5})) << "there is no such session";
}

TEST(gateway_shares, each_session_belongs_to_the_gateway_that_its_account_names) {
    const gateway_shares shares(directory_of({"north", "south", "north"}));
    EXPECT_EQ(shares.count(), 2U);
    EXPECT_FALSE(shares.find("")) << "nobody is left for a gateway without a name";
    const std::size_t north = *shares.find("north");
    const std::size_t south = *shares.find("south");
    EXPECT_EQ(shares.gateway_of(domain::session_id{2}), north);
    EXPECT_EQ(shares.gateway_of(domain::session_id{3}), south);
    EXPECT_FALSE(shares.serves(north, domain::session_id{4}));
    EXPECT_TRUE(shares.serves(north, domain::session_id{5}));
    EXPECT_EQ(shares.sessions_of(south), (std::vector<bool>{false, false, false, true, true, false, false}));
}

}  // namespace
}  // namespace corro::node
