// SPDX-License-Identifier: Apache-2.0
#include "io/net/endpoint.hpp"

#include <gtest/gtest.h>

#include <string>

#include "io/errors.hpp"
#include "io/net/unix_endpoint.hpp"

namespace corro::io {
namespace {

TEST(endpoint, reads_and_writes_both_families) {
    const auto v4 = endpoint::parse("127.0.0.1:9000");
    ASSERT_TRUE(v4);
    EXPECT_EQ(*v4, endpoint::loopback(9000));
    EXPECT_EQ(v4->to_string(), "127.0.0.1:9000");
    const auto v6 = endpoint::parse("[::1]:9000");
    ASSERT_TRUE(v6);
    EXPECT_EQ(*v6, endpoint::loopback_ipv6(9000));
    EXPECT_EQ(v6->to_string(), "[::1]:9000");
    EXPECT_EQ(v6->with_port(1).port(), 1);
}

TEST(endpoint, canonical_text_of_ipv6_follows_rfc_5952) {
    const auto round_trip = [](std::string text) {
        const auto parsed = endpoint::parse("[" + text + "]:1");
        return parsed ? parsed->to_string() : "refused";
    };
    EXPECT_EQ(round_trip("2001:DB8:0:0:0:0:2:1"), "[2001:db8::2:1]:1");
    EXPECT_EQ(round_trip("2001:db8:0:1:1:1:1:1"), "[2001:db8:0:1:1:1:1:1]:1") << "a single zero group stays";
    EXPECT_EQ(round_trip("2001:0:0:1:0:0:0:1"), "[2001:0:0:1::1]:1") << "the longest run shrinks";
    EXPECT_EQ(round_trip("2001:db8:0:0:1:0:0:1"), "[2001:db8::1:0:0:1]:1") << "the first of equal runs shrinks";
    EXPECT_EQ(round_trip("::"), "[::]:1");
    EXPECT_EQ(round_trip("1::"), "[1::]:1");
    EXPECT_EQ(round_trip("::ffff:192.0.2.33"), "[::ffff:c000:221]:1");
    EXPECT_EQ(round_trip("fe80::1%3"), "[fe80::1%3]:1");
}

TEST(endpoint, refuses_what_is_no_endpoint) {
    for (const char* text : {"",
                             ":",
                             "1.2.3.4",
                             "1.2.3.4:",
                             "1.2.3.4:65536",
                             "1.2.3.4:-1",
                             "1.2.3.4:+1",
                             "1.2.3:1",
                             "1.2.3.4.5:1",
                             "256.1.1.1:1",
                             "1.2.3.04:1",
                             "1.2.3.4 :1",
                             "localhost:1",
                             "::1:1",
                             "[::1]",
                             "[::1]:",
                             "[::1:1",
                             "[1]:1",
                             "[1:2:3:4:5:6:7]:1",
                             "[1:2:3:4:5:6:7:8:9]:1",
                             "[1::2::3]:1",
                             "[12345::]:1",
                             "[::g]:1",
                             "[:1::]:1",
                             "[1:2:3:4:5:6:7::8]:1",
                             "[::1.2.3]:1",
                             "[1.2.3.4::]:1",
                             "[fe80::1%]:1",
                             "[fe80::1%eth0]:1",
                             "[]:1"}) {
        const auto parsed = endpoint::parse(text);
        ASSERT_FALSE(parsed) << text;
        EXPECT_EQ(parsed.error(), errc::malformed_endpoint) << text;
    }
}

TEST(endpoint, knows_multicast) {
    EXPECT_TRUE(endpoint::ipv4({239, 1, 2, 3}, 1).is_multicast());
    EXPECT_FALSE(endpoint::loopback(1).is_multicast());
}

TEST(unix_endpoint, keeps_paths_and_abstract_names_within_the_limit) {
    EXPECT_EQ(unix_endpoint::parse("/tmp/a")->path(), "/tmp/a");
    EXPECT_TRUE(unix_endpoint::parse("@name")->is_abstract());
    EXPECT_EQ(unix_endpoint::parse("").error(), std::errc::invalid_argument);
    EXPECT_EQ(unix_endpoint::parse(std::string(108, 'x')).error(), std::errc::filename_too_long);
    EXPECT_TRUE(unix_endpoint::parse(std::string(107, 'x')));
}

TEST(errors, conditions_gather_the_codes_of_one_outcome) {
    EXPECT_EQ(operation_canceled(), condition::canceled);
    EXPECT_EQ(make_error_code(errc::timed_out), condition::timed_out);
    EXPECT_EQ(std::make_error_code(std::errc::timed_out), condition::timed_out);
    EXPECT_EQ(make_error_code(errc::end_of_stream), condition::end_of_stream);
    EXPECT_NE(make_error_code(errc::end_of_stream), condition::canceled);
    EXPECT_NE(std::error_code(), condition::canceled);
    EXPECT_FALSE(make_error_code(errc::end_of_stream).message().empty());
}

}  // namespace
}  // namespace corro::io
