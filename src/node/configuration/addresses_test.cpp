// SPDX-License-Identifier: Apache-2.0
#include "node/configuration/addresses.hpp"

#include <gtest/gtest.h>

#include <string>

namespace corro::node {
namespace {

TEST(addresses, accepts_numeric_addresses_with_a_port) {
    for (const char* sound : {"127.0.0.1:7001", "0.0.0.0:0", "255.255.255.255:65535", "[::1]:7001", "[fe80::1%2]:80"}) {
        EXPECT_EQ(address_problem(sound), "") << sound;
        EXPECT_EQ(link_address_problem(sound), "") << sound;
    }
}

TEST(addresses, names_what_is_wrong) {
    EXPECT_EQ(address_problem("127.0.0.1:70001"), "\"127.0.0.1:70001\" has port 70001; the highest port is 65535");
    EXPECT_EQ(address_problem("127.0.0.1:99999999999999999999"),
              "\"127.0.0.1:99999999999999999999\" has port 99999999999999999999; the highest port is 65535");
    EXPECT_EQ(address_problem("[::1]:65536"), "\"[::1]:65536\" has port 65536; the highest port is 65535");
    EXPECT_EQ(address_problem("localhost:7001"),
              "\"localhost\" is a name; write its numeric address, such as \"127.0.0.1:7001\"");
    EXPECT_EQ(address_problem("127.0.0.1"),
              "\"127.0.0.1\" has no port; write it after a colon, such as \"127.0.0.1:7001\"");
    EXPECT_EQ(address_problem("127.0.0.1:"),
              "\"127.0.0.1:\" has no port; write it after a colon, such as \"127.0.0.1:7001\"");
    EXPECT_EQ(address_problem("::1"), "\"::1\" has no port; write it after a colon, such as \"127.0.0.1:7001\"");
    EXPECT_EQ(address_problem("300.0.0.1:80"),
              "expected a numeric address such as \"127.0.0.1:7001\", found \"300.0.0.1:80\"");
    EXPECT_EQ(address_problem(""), "\"\" has no port; write it after a colon, such as \"127.0.0.1:7001\"");
}

TEST(addresses, takes_paths_and_names_for_links) {
    EXPECT_EQ(link_address_problem("@corro"), "");
    EXPECT_EQ(link_address_problem("venue.link"), "");
    EXPECT_EQ(link_address_problem("/run/corro:1/link"), "");
    EXPECT_EQ(link_address_problem("localhost:7010"),
              "\"localhost\" is a name; write its numeric address, such as \"127.0.0.1:7001\"");
    EXPECT_EQ(link_address_problem(std::string(108, 'x')),
              "expected a path or a name such as \"@corro\" of at most 107 characters, or an address such as "
              "\"127.0.0.1:7010\", found \"" +
                  std::string(108, 'x') + "\"");
}

}  // namespace
}  // namespace corro::node
