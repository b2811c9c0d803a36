// SPDX-License-Identifier: Apache-2.0
#include "api/method_table.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "api/account_channels.hpp"
#include "api/asyncapi_text.hpp"
#include "api/channels.hpp"
#include "api/json_value.hpp"

namespace corro::api {
namespace {

TEST(method_table, has_each_method_once) {
    std::set<std::string_view> names;
    std::set<method_id> ids;
    for (const method_description& m : all_methods()) {
        EXPECT_TRUE(names.insert(m.name).second) << m.name;
        EXPECT_TRUE(ids.insert(m.id).second) << m.name;
        EXPECT_EQ(find_method(m.name), &m);
        EXPECT_TRUE(m.name.starts_with("public/") || m.is_private());
        std::set<std::string_view> params;
        for (const param_description& p : m.params) {
            EXPECT_TRUE(params.insert(p.name).second) << m.name << " " << p.name;
            EXPECT_EQ(find_param(m, p.name), &p);
            EXPECT_FALSE(p.meaning.empty()) << m.name << " " << p.name;
        }
    }
    EXPECT_EQ(find_method("public/none"), nullptr);
}

TEST(method_table, the_reference_has_what_the_code_has) {
    std::ifstream file(std::string(CORRO_SOURCE_DIR) + "/docs/spec/api.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(page.empty());
    EXPECT_NE(page.find(reference_text()), std::string::npos) << "docs/spec/api.md must contain these tables:\n"
                                                              << reference_text();
}

TEST(method_table, the_description_in_openapi_has_the_methods_of_http) {
    const auto whole = parse_json(openapi_text("http://127.0.0.1/api/v2"));
    // It has more values than a request may have.
    EXPECT_TRUE(whole || whole.error() == json_problem::too_large);
    const std::string text = openapi_text("/api/v2");
    for (const method_description& m : all_methods()) {
        const bool is_there = text.find("\"/" + std::string(m.name) + "\":{\"get\"") != std::string::npos;
        EXPECT_EQ(is_there, m.over == transport::any) << m.name;
    }
    EXPECT_NE(text.find(R"({"name":"depth","in":"query","required":false,"description":)"
                        R"("Levels of each side; otherwise 5.","schema":{"type":"integer",)"
                        R"("enum":[1,5,10,20,50,100,1000,10000]}})"),
              std::string::npos);
}

TEST(method_table, the_description_in_asyncapi_has_all_methods_and_channels) {
    const std::string text = asyncapi_text("venue:7020");
    const auto whole = parse_json(text);
    EXPECT_TRUE(whole || whole.error() == json_problem::too_large);
    EXPECT_NE(text.find(R"("servers":{"venue":{"url":"venue:7020","protocol":"ws"}})"), std::string::npos);
    EXPECT_EQ(asyncapi_text("").find("servers"), std::string::npos);
    for (const method_description& m : all_methods()) {
        EXPECT_NE(text.find(R"("method":{"type":"string","const":")" + std::string(m.name) + "\""), std::string::npos)
            << m.name;
    }
    std::ifstream file(std::string(CORRO_SOURCE_DIR) + "/docs/spec/api.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    for (const channel_description& c : all_channels()) {
        EXPECT_NE(text.find(R"("name":")" + std::string(c.name) + "\""), std::string::npos) << c.name;
        EXPECT_NE(page.find("`" + std::string(c.name) + "`"), std::string::npos) << c.name;
        // The names are those that a client may subscribe to.
        std::string name(c.name);
        name.replace(name.find("{instrument}"), 12, "ONE");
        name.replace(name.find("{interval}"), 10, "raw");
        EXPECT_EQ(parse_channel(name).has_value(), !c.is_private) << name;
        EXPECT_EQ(parse_user_channel(name).has_value(), c.is_private) << name;
        EXPECT_TRUE(std::regex_match(name, std::regex(std::string(c.pattern)))) << name;
        EXPECT_FALSE(std::regex_match(name + "x", std::regex(std::string(c.pattern)))) << name;
    }
}

}  // namespace
}  // namespace corro::api
