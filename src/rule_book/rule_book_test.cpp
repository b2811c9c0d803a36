// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "rule_book/rule_book.hpp"
#include "rule_book/scenarios.hpp"

namespace corro::rule_book {
namespace {

[[nodiscard]] reading read(const scenario& from) {
    std::istringstream text{std::string(from.text)};
    return read_rule(text);
}

/// The file's name without its folder and its suffix.
[[nodiscard]] std::string stem_of(const scenario& s) {
    const std::string_view file = s.name.substr(s.name.find('/') + 1);
    return std::string(file.substr(0, file.find('.')));
}

[[nodiscard]] std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += "  " + line + "\n";
    return text;
}

class matching_rules : public ::testing::TestWithParam<scenario> {};

TEST_P(matching_rules, holds) {
    const auto [rule, problem] = read(GetParam());
    ASSERT_EQ(problem, "") << GetParam().name;
    const ending end = play(rule);
    ASSERT_EQ(end.problem, "");
    EXPECT_EQ(joined(end.facts), joined(rule.then)) << rule.title;
}

INSTANTIATE_TEST_SUITE_P(rule_book, matching_rules, ::testing::ValuesIn(scenarios()),
                         [](const auto& s) { return stem_of(s.param); });

TEST(matching_rule_book, has_a_title_of_its_own_for_every_rule) {
    std::set<std::string> titles;
    for (const scenario& s : scenarios()) EXPECT_TRUE(titles.insert(read(s).what.title).second) << s.name;
    EXPECT_GE(titles.size(), 120U);
}

TEST(matching_rule_book, is_linked_from_the_specification_rule_by_rule) {
    std::string text;
    for (const char* name :
         {"rule_book.md", "allocation.md", "spreads.md", "phases.md", "implied.md", "definitions.md"}) {
        std::ifstream page(std::string(CORRO_SOURCE_DIR "/docs/spec/") + name);
        text.append(std::istreambuf_iterator<char>(page), {});
    }
    for (const scenario& s : scenarios()) {
        const std::string link =
            "[" + read(s).what.title + "](../../src/rule_book/scenarios/" + std::string(s.name) + ")";
        EXPECT_NE(text.find(link), std::string::npos) << link;
    }
}

TEST(matching_rule_book, says_what_it_does_not_understand) {
    player venue;
    EXPECT_NE(venue.play("A juggles 5"), "");
    EXPECT_NE(venue.play("A buys 5 at"), "");
    EXPECT_NE(venue.play("A cancels nobody"), "");
    EXPECT_NE(venue.play("A buys 5 at 100 prevent everything"), "");
}

}  // namespace
}  // namespace corro::rule_book
