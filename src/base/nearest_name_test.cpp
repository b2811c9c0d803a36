// SPDX-License-Identifier: Apache-2.0
#include "base/nearest_name.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace corro::base {
namespace {

constexpr std::array<std::string_view, 5> names{"serve", "load", "replay", "listen", "tls_listen"};

TEST(nearest_name, finds_the_name_behind_a_slip_of_the_finger) {
    EXPECT_EQ(nearest_name("serv", names), "serve");
    EXPECT_EQ(nearest_name("sevre", names), "serve");
    EXPECT_EQ(nearest_name("reply", names), "replay");
    EXPECT_EQ(nearest_name("laod", names), "load");
    EXPECT_EQ(nearest_name("tls-listen", names), "tls_listen");
    EXPECT_EQ(nearest_name("lisen", names), "listen");
    EXPECT_EQ(nearest_name("serve", names), "serve");
}

TEST(nearest_name, guesses_nothing_for_another_word) {
    EXPECT_EQ(nearest_name("telepathy", names), "");
    EXPECT_EQ(nearest_name("lo", names), "");
    EXPECT_EQ(nearest_name("", names), "");
    EXPECT_EQ(nearest_name("serve", {}), "");
    EXPECT_EQ(nearest_name(std::string(nearest_name_size_max + 1, 's'), names), "");
}

TEST(nearest_name, takes_the_first_of_equally_near_names) {
    constexpr std::array<std::string_view, 2> two{"cast", "cost"};
    EXPECT_EQ(nearest_name("cist", two), "cast");
}

TEST(nearest_name, does_not_compare_names_beyond_its_limit) {
    const std::string longest(nearest_name_size_max, 'x');
    const std::string longer(nearest_name_size_max + 1, 'x');
    const std::array<std::string_view, 1> at_limit{longest};
    const std::array<std::string_view, 1> beyond{longer};
    EXPECT_EQ(nearest_name(longest.substr(1), at_limit), longest);
    EXPECT_EQ(nearest_name(longest, beyond), "");
}

}  // namespace
}  // namespace corro::base
