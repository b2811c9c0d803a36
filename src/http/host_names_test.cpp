// SPDX-License-Identifier: Apache-2.0
#include "http/host_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace corro::http {
namespace {

TEST(host_names, addresses_and_localhost_may_be_asked) {
    for (const char* each :
         {"127.0.0.1", "127.0.0.1:7020", "192.0.2.7:80", "[::1]", "[::1]:7020", "localhost", "LocalHost:7020", ""}) {
        EXPECT_TRUE(host_may_be(each, {})) << each;
    }
}

TEST(host_names, names_of_others_may_not) {
    const std::vector<std::string> names{"venue.example"};
    for (const char* each :
         {"evil.example", "evil.example:7020", "localhost.evil.example", "127.0.0.1.evil.example",
          "venue.example.evil.example", "evil-venue.example", "127.0.0.1:7020:1", "[::1", ":7020", "*"}) {
        EXPECT_FALSE(host_may_be(each, names)) << each;
    }
}

TEST(host_names, names_of_the_server_may) {
    const std::vector<std::string> names{"venue.example", "other"};
    for (const char* each : {"venue.example", "Venue.Example:443", "other:7020"}) {
        EXPECT_TRUE(host_may_be(each, names)) << each;
    }
    EXPECT_FALSE(host_may_be("venue.example", {}));
    EXPECT_TRUE(host_may_be("evil.example", std::vector<std::string>{"*"}));
}

}  // namespace
}  // namespace corro::http
