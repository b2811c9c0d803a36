// SPDX-License-Identifier: Apache-2.0
// Plays the scripts of src/fix/session/scripts: each names the rule of the FIX session layer that it tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fix/session/script_player_fixture.hpp"

namespace corro::fix {
namespace {

using testing::breakage;
using testing::script;
using testing::script_player;

/// All scripts of the folder, in the order of their files.
std::vector<script> read_scripts(const std::string& folder) {
    std::vector<std::filesystem::path> files;
    for (const auto& each : std::filesystem::directory_iterator(folder)) files.push_back(each.path());
    std::ranges::sort(files);
    std::vector<script> all;
    for (const std::filesystem::path& path : files) {
        std::ifstream file(path);
        std::string text;
        for (std::size_t number = 1; std::getline(file, text); ++number) {
            text = text.substr(0, text.find('#'));
            while (text.ends_with(' ')) text.pop_back();
            if (text.empty()) continue;
            auto [verb, rest] = testing::split(text);
            if (verb == "script") {
                all.push_back({.name = rest, .clause = {}, .file = path.filename().string(), .lines = {}});
            } else if (verb == "clause") {
                all.back().clause = rest;
            } else {
                all.back().lines.push_back({number, verb, rest});
            }
        }
    }
    return all;
}

const std::vector<script>& all_scripts() {
    static const std::vector<script> all = read_scripts(std::string(CORRO_SOURCE_DIR) + "/src/fix/session/scripts");
    return all;
}

std::string test_name(const ::testing::TestParamInfo<script>& of) {
    std::string name = of.param.name;
    for (char& c : name) {
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9')) c = '_';
    }
    return name;
}

class fix_session : public ::testing::TestWithParam<script> {};
INSTANTIATE_TEST_SUITE_P(scripts, fix_session, ::testing::ValuesIn(all_scripts()), test_name);

TEST_P(fix_session, F3_does_what_the_rule_says) {
    SCOPED_TRACE(GetParam().clause);
    EXPECT_FALSE(GetParam().clause.empty()) << "each script names a rule";
    for (const std::string& failure : script_player(GetParam()).play()) ADD_FAILURE() << failure;
}

class fix_session_as_initiator : public ::testing::TestWithParam<script> {};
INSTANTIATE_TEST_SUITE_P(scripts, fix_session_as_initiator,
                         ::testing::ValuesIn(testing::with_initiators(all_scripts())), test_name);

TEST_P(fix_session_as_initiator, F3_does_what_the_rule_says) {
    for (const std::string& failure : script_player(GetParam()).play()) ADD_FAILURE() << failure;
}

// Control: a session that leaves out or changes any one of its messages, deliveries or ends is noticed by every script
// in which it does.
TEST(fix_session_scripts, notice_every_message_that_is_missing_or_wrong) {
    std::size_t controls = 0;
    for (const script& each : all_scripts()) {
        SCOPED_TRACE(each.file + ": " + each.name);
        script_player sound(each);
        if (!sound.play().empty()) continue;  // its own test fails
        for (const breakage how : {breakage::drops_a_message, breakage::changes_a_message, breakage::drops_a_delivery,
                                   breakage::stays_connected}) {
            for (std::size_t at = 0; at < sound.count_of(how); ++at) {
                EXPECT_FALSE(script_player(each, how, at).play().empty())
                    << "breakage " << static_cast<int>(how) << " of number " << at;
                ++controls;
            }
        }
    }
    EXPECT_GT(controls, all_scripts().size());
}

}  // namespace
}  // namespace corro::fix
