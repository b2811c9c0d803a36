// SPDX-License-Identifier: Apache-2.0
#include "lab/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <span>
#include <stdexcept>

#include "base/random.hpp"

namespace corro::lab {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

void check_names(const registry& all, const selection& wanted) {
    const std::vector<std::string> suites = all.suites();
    for (const std::string& suite : wanted.suites) {
        if (!contains(suites, suite)) {
            throw std::invalid_argument(
                fmt::format("there is no suite '{}'; there are: {}", suite, fmt::join(suites, ", ")));
        }
    }
    std::vector<std::string> subjects;
    for (const benchmark& one : all.benchmarks()) {
        for (const implementation& by : one.by) {
            if (!contains(subjects, by.subject)) subjects.push_back(by.subject);
        }
    }
    for (const std::string& subject : wanted.subjects) {
        if (!contains(subjects, subject)) {
            throw std::invalid_argument(
                fmt::format("there is no subject '{}'; there are: {}", subject, fmt::join(subjects, ", ")));
        }
    }
}

}  // namespace

std::vector<planned_run> make_plan(const registry& all, const selection& wanted, int repeats_count,
                                   std::uint64_t seed) {
    check_names(all, wanted);
    const std::regex rows(wanted.rows);
    std::vector<std::vector<planned_run>> groups;
    for (const benchmark& one : all.benchmarks()) {
        if (!wanted.suites.empty() && !contains(wanted.suites, one.suite)) continue;
        if (std::none_of(one.rows.begin(), one.rows.end(),
                         [&](const row& each) { return std::regex_search(each.name, rows); })) {
            continue;
        }
        std::vector<planned_run> group;
        for (const implementation& by : one.by) {
            if (wanted.subjects.empty() || contains(wanted.subjects, by.subject)) group.push_back({&one, &by, 0});
        }
        if (!group.empty()) groups.push_back(std::move(group));
    }
    if (groups.empty()) throw std::invalid_argument("nothing is selected: no row matches, or no subject implements it");

    const auto repeats_of = [repeats_count](const std::vector<planned_run>& group) {
        return repeats_count != 0 ? repeats_count : group.front().what->repeats_count;
    };
    int repeats_max = 0;
    for (const std::vector<planned_run>& group : groups) repeats_max = std::max(repeats_max, repeats_of(group));
    base::prng random(seed);
    std::vector<planned_run> plan;
    for (int repeat = 0; repeat < repeats_max; ++repeat) {
        random.shuffle(std::span(groups));
        for (std::vector<planned_run>& group : groups) {
            if (repeat >= repeats_of(group)) continue;
            random.shuffle(std::span(group));
            for (planned_run run : group) {
                run.repeat = repeat;
                plan.push_back(run);
            }
        }
    }
    return plan;
}

double estimated_seconds(std::size_t runs_count, double seconds_per_run) noexcept {
    return static_cast<double>(runs_count) * (seconds_per_run * (1 + timed_run::warm_up_part) + run_overhead_seconds);
}

std::string duration_text(double seconds) {
    const auto whole = static_cast<std::uint64_t>(std::max(seconds, 0.0) + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
    return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace corro::lab
