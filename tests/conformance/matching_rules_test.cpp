#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "tests/conformance/rule_book.hpp"

namespace corro::conformance {
namespace {

[[nodiscard]] std::vector<std::filesystem::path> rule_files() {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(CORRO_SOURCE_DIR "/tests/conformance/matching")) {
        if (entry.path().extension() == ".txt") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

[[nodiscard]] std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines) text += "  " + line + "\n";
    return text;
}

class matching_rules : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(matching_rules, holds) {
    std::ifstream file(GetParam());
    const auto [rule, problem] = read_rule(file);
    ASSERT_EQ(problem, "") << GetParam();
    const ending end = play(rule);
    ASSERT_EQ(end.problem, "");
    EXPECT_EQ(joined(end.facts), joined(rule.then)) << rule.title;
}

INSTANTIATE_TEST_SUITE_P(rule_book, matching_rules, ::testing::ValuesIn(rule_files()),
                         [](const auto& file) { return file.param.stem().string(); });

TEST(matching_rule_book, has_a_title_of_its_own_for_every_rule) {
    std::set<std::string> titles;
    for (const auto& path : rule_files()) {
        std::ifstream file(path);
        EXPECT_TRUE(titles.insert(read_rule(file).what.title).second) << path;
    }
    EXPECT_GE(titles.size(), 120U);
}

TEST(matching_rule_book, is_linked_from_the_specification_rule_by_rule) {
    std::string text;
    for (const char* name :
         {"matching.md", "allocation.md", "spreads.md", "phases.md", "implied.md", "definitions.md"}) {
        std::ifstream page(std::string(CORRO_SOURCE_DIR "/docs/spec/") + name);
        text.append(std::istreambuf_iterator<char>(page), {});
    }
    for (const auto& path : rule_files()) {
        std::ifstream file(path);
        const std::string link =
            "[" + read_rule(file).what.title + "](../../tests/conformance/matching/" + path.filename().string() + ")";
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
}  // namespace corro::conformance
