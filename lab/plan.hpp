// SPDX-License-Identifier: Apache-2.0
// Which runs a lab session makes, in which order, and how long they take.
//
// In each repeat the benchmarks come in another random order; the subjects of one benchmark run right after each other,
// also in random order, so that a machine that gets slower for a minute does so for all of them.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lab/registry.hpp"

namespace corro::lab {

struct selection {
    std::vector<std::string> suites;    ///< none: every suite
    std::string rows;                   ///< a regular expression to be found in a row's name; empty: every row
    std::vector<std::string> subjects;  ///< none: every subject
};

/// One run: a benchmark by one of its subjects.
struct planned_run {
    const benchmark* what;
    const implementation* by;
    int repeat;
};

/// The runs in their order.
///
/// @param repeats_count  Of every benchmark; 0: as many of each as it says itself.
/// @throws std::invalid_argument if a suite or a subject of the selection does not exist, or if nothing is selected.
/// @throws std::regex_error for a malformed expression.
[[nodiscard]] std::vector<planned_run> make_plan(const registry& all, const selection& wanted, int repeats_count,
                                                 std::uint64_t seed);

/// The time that a run takes besides being measured: the process, its set-up, its warm-up is counted apart.
inline constexpr double run_overhead_seconds = 0.06;

/// An estimate of how long `runs_count` runs take.
[[nodiscard]] double estimated_seconds(std::size_t runs_count, double seconds_per_run) noexcept;

/// "2 min 05 s", for people.
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace corro::lab
