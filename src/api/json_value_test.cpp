// SPDX-License-Identifier: Apache-2.0
#include "api/json_value.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>

#include "api/json_writer.hpp"
#include "api/limits.hpp"

namespace corro::api {
namespace {

TEST(json_value, keeps_numbers_as_they_were_written) {
    const auto v = parse_json(R"({"a":0.10,"b":[1,-2,5e3],"c":{"d":"text","e":null,"f":true}})");
    ASSERT_TRUE(v.has_value());
    EXPECT_EQ(v->find("a")->text, "0.10");
    ASSERT_EQ(v->find("b")->items.size(), 3U);
    EXPECT_EQ(v->find("b")->items[1].text, "-2");
    EXPECT_EQ(v->find("b")->items[2].text, "5e3");
    EXPECT_EQ(v->find("c")->find("d")->text, "text");
    EXPECT_EQ(v->find("c")->find("e")->kind, json_kind::null);
    EXPECT_TRUE(v->find("c")->find("f")->truth);
    EXPECT_EQ(v->find("g"), nullptr);
    EXPECT_EQ(v->find("a")->find("x"), nullptr) << "a number has no members";
}

TEST(json_value, refuses_what_is_no_json) {
    for (const char* text : {"", "{", "{\"a\":}", "[1,]", "nul", "1 2", "\"\xff\"", "{'a':1}", "01", "1e999"}) {
        const auto v = parse_json(text);
        ASSERT_FALSE(v.has_value()) << text;
        EXPECT_EQ(v.error(), json_problem::malformed) << text;
    }
}

TEST(json_value, refuses_a_name_that_occurs_twice) {
    EXPECT_EQ(parse_json(R"({"a":1,"a":2})").error(), json_problem::repeated_name);
    EXPECT_TRUE(parse_json(R"({"a":{"a":1}})").has_value()) << "in another object";
}

TEST(json_value, has_a_limit_of_depth_and_of_values) {
    EXPECT_TRUE(parse_json(std::string(json_depth_max, '[') + std::string(json_depth_max, ']')).has_value());
    EXPECT_EQ(parse_json(std::string(json_depth_max + 1, '[') + std::string(json_depth_max + 1, ']')).error(),
              json_problem::too_large);
    const auto list_of = [](std::size_t count) {
        std::string text = "[1";
        for (std::size_t k = 1; k < count; ++k) text += ",1";
        return text + "]";
    };
    EXPECT_TRUE(parse_json(list_of(json_values_max - 1)).has_value());
    EXPECT_EQ(parse_json(list_of(json_values_max)).error(), json_problem::too_large) << "the list is a value too";
}

TEST(scaled_integer, is_exact_or_nothing) {
    EXPECT_EQ(scaled_integer("5998.75", 9), 5'998'750'000'000);
    EXPECT_EQ(scaled_integer("0.1", 9), 100'000'000);
    EXPECT_EQ(scaled_integer("-0.000000001", 9), -1);
    EXPECT_EQ(scaled_integer("0.0000000001", 9), std::nullopt) << "less than a billionth";
    EXPECT_EQ(scaled_integer("0.1000000000000000000000000000", 9), 100'000'000) << "zeros behind it";
    EXPECT_EQ(scaled_integer("0.30000000000000004", 9), std::nullopt) << "the sum of 0.1 and 0.2 as a double";
    EXPECT_EQ(scaled_integer("1e-3", 9), 1'000'000);
    EXPECT_EQ(scaled_integer("1.5E2", 0), 150);
    EXPECT_EQ(scaled_integer("15e-1", 0), std::nullopt);
    EXPECT_EQ(scaled_integer("10e-1", 0), 1);
    EXPECT_EQ(scaled_integer("9223372036.854775807", 9), INT64_MAX);
    EXPECT_EQ(scaled_integer("9223372036.854775808", 9), std::nullopt);
    EXPECT_EQ(scaled_integer("0e9999999", 9), 0);
    EXPECT_EQ(scaled_integer("1e9999999", 9), std::nullopt);
    EXPECT_EQ(scaled_integer("1e-9999999", 9), std::nullopt);
    EXPECT_EQ(scaled_integer("1e18", 0), 1'000'000'000'000'000'000);
    for (const char* text : {"", "-", ".5", "5.", "1e", "1e+", "0x10", "1 ", " 1", "+1", "nan", "1,5", "--1"}) {
        EXPECT_EQ(scaled_integer(text, 9), std::nullopt) << text;
    }
}

TEST(json_writer, writes_what_can_be_read_again) {
    std::string text;
    json_writer out(text);
    out.object([&] {
        out.member("a").text("line\n\"quoted\" \\ \x01 é");
        out.member("b").decimal(-250'000'000);
        out.member("c").list([&] {
            out.number(std::int64_t{-7});
            out.number(std::numeric_limits<std::uint64_t>::max());
            out.boolean(false);
            out.null();
            out.object([] {});
        });
        out.member("d").raw("[1]");
    });
    EXPECT_EQ(text,
              "{\"a\":\"line\\n\\\"quoted\\\" \\\\ \\u0001 é\",\"b\":-0.25,"
              "\"c\":[-7,18446744073709551615,false,null,{}],\"d\":[1]}");
    const auto read = parse_json(text);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->find("a")->text, "line\n\"quoted\" \\ \x01 é");
    EXPECT_EQ(scaled_integer(read->find("b")->text, 9), -250'000'000);
}

}  // namespace
}  // namespace corro::api
