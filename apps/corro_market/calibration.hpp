// SPDX-License-Identifier: Apache-2.0
// Simulated markets beside recorded ones: scorecards of facts, and the search for parameters.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/command_line/seed_range.hpp"
#include "market/calibration/scenario_template.hpp"
#include "market/calibration/stylised_facts.hpp"
#include "market/scenario/scenario.hpp"

namespace corro::app {

/// What of the two markets is compared.
struct comparison_times {
    std::int64_t skipped_ns = 0;  ///< of the recording, from its beginning
    std::int64_t warm_up_ns = 0;  ///< of each simulation
};

/// The facts of a recorded day, without agents that trade. @throws std::runtime_error if nothing is left of it.
[[nodiscard]] std::vector<market::fact_block> recorded_facts(const market::scenario& recorded,
                                                             const comparison_times& times);
/// Those of a scenario, of several seeds together. @throws std::runtime_error if the warm-up takes all of it.
[[nodiscard]] std::vector<market::fact_block> simulated_facts(const market::scenario& what, seed_range seeds,
                                                              const comparison_times& times, std::int64_t sample_ns);

/// Markdown: all facts, those that are furthest apart first.
[[nodiscard]] std::string scorecard_of(const std::vector<market::scored_fact>& all);

struct calibration_options {
    comparison_times times;
    seed_range seeds{1, 2};  ///< the same for all candidates
    std::uint32_t evaluations = 0;
    std::uint32_t jobs = 1;
    std::uint64_t seed = 1;  ///< of the search
    /// The scenario of the best values so far, after each round.
    std::filesystem::path out;
};
struct calibration_result {
    double cost_before = 0;  ///< market::fact_reference::cost of the values to begin with
    double cost = 0;
    std::uint32_t evaluations = 0;
};
/// Searches for the values of a template's parameters that bring its facts next to the recorded ones.
/// @throws node::configuration_error, std::runtime_error
[[nodiscard]] calibration_result calibrate(const market::scenario_template& from, const std::filesystem::path& file,
                                           const market::fact_reference& reference, std::int64_t sample_ns,
                                           const calibration_options& how);

}  // namespace corro::app
