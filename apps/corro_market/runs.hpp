// SPDX-License-Identifier: Apache-2.0
// Runs of scenarios and their result folders.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/command_line/seed_range.hpp"
#include "market/metrics/comparison.hpp"
#include "market/metrics/market_metrics.hpp"
#include "market/scenario/scenario.hpp"

namespace corro::app {

/// @param data_folder  Of recordings that are not beside the scenario; empty: none.
/// @throws node::configuration_error, std::runtime_error
[[nodiscard]] market::scenario load_scenario(const std::filesystem::path& file,
                                             const std::filesystem::path& data_folder = {});

/// A run with a whole venue beside the direct one: the market's own facility, the same agents, the same start.
struct whole_comparison {
    std::uint64_t direct_digest = 0;
    std::uint64_t direct_state_hash = 0;
    /// Whether the whole venue's own state hash is that of its commands, executed again.
    bool has_own_state_hash = false;
    std::string difference;  ///< the first; empty: the same commands at the same nanoseconds
    [[nodiscard]] bool is_equal() const noexcept { return difference.empty() && has_own_state_hash; }
};

struct run_result {
    std::uint64_t seed = 0;
    std::uint64_t commands = 0;
    std::uint64_t trades = 0;
    std::uint64_t digest = 0;
    std::uint64_t state_hash = 0;
    std::vector<market::metric> metrics;
    std::optional<whole_comparison> whole;  ///< only of a run with a whole venue
    /// Of the program that wrote the result; empty in a run that was not read from a file.
    std::string version;
    /// The digest of all commands before 1, 2, 3, ... times `sample_ns`; only of a run into a folder.
    std::vector<std::uint64_t> digests;
};

/// Runs a seed without a journal.
[[nodiscard]] run_result run_seed(const market::scenario& what, std::uint64_t seed);
/// The same; nothing if `stopping` became true meanwhile.
[[nodiscard]] std::optional<run_result> run_seed(const market::scenario& what, std::uint64_t seed,
                                                 const std::atomic<bool>* stopping);

/// Runs a seed and writes the result folder: the scenario, the journal with the configuration that reads it, the
/// agents, their private numbers, the digests on the way, the result, a page with plots. The folder must not exist.
/// @throws std::runtime_error
run_result run_into(const market::scenario& what, std::uint64_t seed, const std::filesystem::path& folder,
                    bool shows_progress);

/// Runs a seed with a whole venue: client sessions, a simulated network, gateway, journal, feed. Executes the commands
/// of the venue's journal again to write the result folder of `run_into`, and compares them with a direct run. Both
/// begin at the time of day of the simulated world.
/// @throws std::runtime_error also when the scenario needs what a whole venue does not offer.
run_result run_whole_into(const market::scenario& what, std::uint64_t seed, const std::filesystem::path& folder,
                          bool shows_progress);

[[nodiscard]] std::string json_of(const market::scenario& what, const run_result& result);
/// Reads what `json_of` wrote. @throws std::runtime_error
[[nodiscard]] run_result read_result(const std::filesystem::path& file);
/// Reads the digests that a run into a folder wrote. @throws std::runtime_error
[[nodiscard]] std::vector<std::uint64_t> read_digests(const std::filesystem::path& file);
/// @throws std::runtime_error
[[nodiscard]] std::string read_text(const std::filesystem::path& file);
/// Writes a file whole or not at all. @throws std::runtime_error
void write_file(const std::filesystem::path& file, const std::string& text);
/// Checks that `write_file` can write a file, before work that takes long. @throws std::runtime_error
void require_writable(const std::filesystem::path& file);

/// Writes `scenario.toml`, and beside it the files of values that it names. @throws std::runtime_error
void write_scenario(const std::filesystem::path& folder, const market::scenario& what);
/// Whether a folder has this scenario, with the same files. @throws std::runtime_error
[[nodiscard]] bool has_scenario(const std::filesystem::path& folder, const market::scenario& what);

/// Runs all seeds in processes, one file `seed-N.json` for each in the folder. Seeds whose file is there are not run
/// again, and files of other seeds are left alone; a folder of another scenario or version is refused.
/// @throws std::runtime_error
[[nodiscard]] std::vector<run_result> sweep(const market::scenario& what, seed_range seeds, unsigned jobs,
                                            const std::filesystem::path& folder);

/// Markdown: all metrics, with mean, deviation, least and most.
[[nodiscard]] std::string summary_of(const std::vector<run_result>& all);
/// A metric of two scenarios, over the same seeds.
struct compared_metric {
    std::string name;
    market::paired_difference found;
    double corrected_p = 1;
    [[nodiscard]] bool differs() const noexcept { return corrected_p < 0.05; }
};

/// All metrics that both have, in the order of the runs.
[[nodiscard]] std::vector<compared_metric> compare_runs(const std::vector<run_result>& first,
                                                        const std::vector<run_result>& second);
/// Markdown: their paired differences.
[[nodiscard]] std::string comparison_of(const std::vector<compared_metric>& all, std::size_t seeds_count);

}  // namespace corro::app
