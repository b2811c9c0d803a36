// SPDX-License-Identifier: Apache-2.0
#include "lab/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <stdexcept>
#include <tuple>

#include "base/test_seed.hpp"
#include "lab/test_registry.hpp"

namespace corro::lab {
namespace {

using name = std::tuple<std::string, std::string, std::string, int>;

std::vector<name> names_of(const std::vector<planned_run>& plan) {
    std::vector<name> names;
    for (const planned_run& one : plan)
        names.emplace_back(one.what->suite, one.what->name(), one.by->subject, one.repeat);
    return names;
}

TEST(plan, has_every_run_once_per_repeat) {
    const registry all = small_registry();
    const auto names = names_of(make_plan(all, {}, 5, 1));
    EXPECT_EQ(names.size(), 5U * (3 + 3 + 2));
    EXPECT_EQ(std::set<name>(names.begin(), names.end()).size(), names.size());
}

TEST(plan, repeats_each_benchmark_as_often_as_it_says_unless_told_otherwise) {
    registry all;
    all.declare("suite", {{"often", "/s", better::higher, ""}});
    all.declare("suite", {{"seldom", "/s", better::higher, ""}}, 1, 1, 2);
    for (const char* const row : {"often", "seldom"}) {
        all.implement("suite", row, "corro", [](const run_parameters&) { return measurement(); });
    }
    const auto often = [](const planned_run& run) { return run.what->name() == "often"; };
    const std::vector<planned_run> own = make_plan(all, {}, 0, 1);
    EXPECT_EQ(std::count_if(own.begin(), own.end(), often), 5);
    EXPECT_EQ(own.size(), 7U);
    EXPECT_EQ(make_plan(all, {}, 3, 1).size(), 6U);
}

TEST(plan, runs_the_subjects_of_a_row_right_after_each_other) {
    const registry all = small_registry();
    const std::vector<planned_run> plan = make_plan(all, {}, 4, 7);
    int changes = 0;
    for (std::size_t i = 1; i < plan.size(); ++i) {
        if (plan[i].what != plan[i - 1].what || plan[i].repeat != plan[i - 1].repeat) ++changes;
    }
    EXPECT_EQ(changes, 4 * 3 - 1);
}

TEST(plan, finishes_a_repeat_before_the_next_begins) {
    const registry all = small_registry();
    const std::vector<planned_run> plan = make_plan(all, {}, 4, 7);
    EXPECT_TRUE(std::is_sorted(plan.begin(), plan.end(),
                               [](const planned_run& a, const planned_run& b) { return a.repeat < b.repeat; }));
}

TEST(plan, depends_on_the_seed_and_on_nothing_else) {
    const registry all = small_registry();
    EXPECT_EQ(names_of(make_plan(all, {}, 5, 42)), names_of(make_plan(all, {}, 5, 42)));
    EXPECT_NE(names_of(make_plan(all, {}, 5, 42)), names_of(make_plan(all, {}, 5, 43)));
}

TEST(plan, lets_every_subject_come_first_about_equally_often) {
    const registry all = small_registry();
    selection wanted;
    wanted.rows = "speed";
    constexpr int repeats = 3000;
    const std::uint64_t seed = base::test_seed();
    SCOPED_TRACE("CORRO_SEED=" + std::to_string(seed));
    std::map<std::string, int> first;
    const std::vector<planned_run> plan = make_plan(all, wanted, repeats, seed);
    for (std::size_t i = 0; i < plan.size(); i += 3) ++first[plan[i].by->subject];
    // 1,000 expected each; the standard deviation is 26.
    for (const auto& [subject, count] : first) EXPECT_NEAR(count, repeats / 3, 200) << subject;
    EXPECT_EQ(first.size(), 3U);
}

TEST(plan, keeps_to_the_selection) {
    const registry all = small_registry();
    selection wanted;
    wanted.suites = {"first"};
    wanted.rows = "worst$";
    wanted.subjects = {"corro_epoll"};
    const auto names = names_of(make_plan(all, wanted, 1, 1));
    ASSERT_EQ(names.size(), 1U);
    EXPECT_EQ(names[0], name("first", "pairs", "corro_epoll", 0));
}

TEST(plan, says_what_there_is_when_asked_for_what_there_is_not) {
    const registry all = small_registry();
    selection wanted;
    wanted.suites = {"third"};
    try {
        (void)make_plan(all, wanted, 1, 1);
        FAIL() << "an unknown suite was accepted";
    } catch (const std::invalid_argument& e) {
        EXPECT_STREQ(e.what(), "there is no suite 'third'; there are: first, second");
    }
    wanted.suites = {};
    wanted.subjects = {"nobody"};
    EXPECT_THROW((void)make_plan(all, wanted, 1, 1), std::invalid_argument);
    wanted.subjects = {"raw_epoll"};
    wanted.suites = {"second"};
    EXPECT_THROW((void)make_plan(all, wanted, 1, 1), std::invalid_argument);
    wanted = {};
    wanted.rows = "(";
    EXPECT_THROW((void)make_plan(all, wanted, 1, 1), std::regex_error);
}

TEST(plan, tells_durations_as_people_do) {
    EXPECT_EQ(duration_text(0.4), "0 s");
    EXPECT_EQ(duration_text(59.4), "59 s");
    EXPECT_EQ(duration_text(125), "2 min 05 s");
    EXPECT_EQ(duration_text(3 * 3600 + 60), "3 h 01 min");
}

}  // namespace
}  // namespace corro::lab
