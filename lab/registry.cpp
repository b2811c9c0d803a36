// SPDX-License-Identifier: Apache-2.0
#include "lab/registry.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"

namespace corro::lab {

subject_role role_of(std::string_view subject) noexcept {
    if (subject.starts_with("corro")) return subject_role::ours;
    if (subject.starts_with("raw")) return subject_role::floor;
    return subject_role::peer;
}

void registry::declare(std::string_view suite, std::vector<row> rows, int threads, double time_factor,
                       int repeats_count) {
    CORRO_ASSERT(!rows.empty(), "a benchmark has at least one row");
    for (const row& one : rows) CORRO_ASSERT(find_row(suite, one.name) == nullptr, "row names are unique in a suite");
    benchmark made;
    made.suite = suite;
    made.rows = std::move(rows);
    made.threads = threads;
    made.time_factor = time_factor;
    made.repeats_count = repeats_count;
    benchmarks_.push_back(std::move(made));
}

void registry::implement(std::string_view suite, std::string_view name, std::string_view subject,
                         benchmark_function run) {
    auto* found = const_cast<benchmark*>(find(suite, name));  // NOLINT(cppcoreguidelines-pro-type-const-cast): ours
    CORRO_ASSERT(found != nullptr, "a benchmark is declared before it is implemented");
    found->by.push_back({std::string(subject), std::move(run)});
}

const benchmark* registry::find(std::string_view suite, std::string_view name) const noexcept {
    const auto at = std::find_if(benchmarks_.begin(), benchmarks_.end(),
                                 [&](const benchmark& b) { return b.suite == suite && b.name() == name; });
    return at == benchmarks_.end() ? nullptr : &*at;
}

const row* registry::find_row(std::string_view suite, std::string_view name) const noexcept {
    for (const benchmark& one : benchmarks_) {
        if (one.suite != suite) continue;
        for (const row& each : one.rows) {
            if (each.name == name) return &each;
        }
    }
    return nullptr;
}

std::vector<std::string> registry::suites() const {
    std::vector<std::string> names;
    for (const benchmark& one : benchmarks_) {
        if (std::find(names.begin(), names.end(), one.suite) == names.end()) names.push_back(one.suite);
    }
    return names;
}

}  // namespace corro::lab
