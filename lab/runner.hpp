// SPDX-License-Identifier: Apache-2.0
// Runs a plan: every run in its own process, with a progress display.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/peers.hpp"
#include "lab/plan.hpp"
#include "lab/results.hpp"

namespace corro::lab {

struct session_options {
    selection wanted;
    lab_options lab;
    double seconds = 0.3;
    int repeats_count = 0;  ///< 0: as many as each benchmark says
    std::uint64_t seed = 1;
};

struct session {
    results measured;
    std::vector<std::string> failures;  ///< one line per run that failed
};

/// Runs everything that is selected; the progress goes to standard error.
/// @throws What `make_plan` throws, and std::system_error if processes cannot be started.
[[nodiscard]] session run_session(const registry& all, const session_options& options);

/// The hidden other half: runs one benchmark in this process and prints its measurement as one line.
/// @return  The process's exit code: 0, or 1 with the reason on standard output.
[[nodiscard]] int run_one(const registry& all, const std::string& suite, const std::string& name,
                          const std::string& subject, double seconds);

/// The first argument that makes this program run one benchmark: `corro-lab one ...`.
inline constexpr const char* one_command = "one";

}  // namespace corro::lab
