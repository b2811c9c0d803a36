// SPDX-License-Identifier: Apache-2.0
// A market described by a file: instruments, links, groups of agents, a timeline of events.
//
// Every error has the file, the line, the key and the expected value; unknown keys are errors. docs/spec/scenarios.md
// lists the keys.
//
// Units: in files, durations are texts such as "250us", prices and distances of agents are ticks.
// Source: TOML 1.0.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "market/market.hpp"
#include "market/participants/oracle.hpp"
#include "market/recorded_day/recorded_flow.hpp"
#include "recorded/replay/recording.hpp"

namespace corro::market {

/// The oracles of one run, by name.
using oracle_map = std::map<std::string, std::shared_ptr<oracle>, std::less<>>;
/// Makes the behaviours of a group in one run.
using group_maker = std::function<std::function<behaviour(agent&)>(const oracle_map&, std::uint32_t index)>;

struct agent_group {
    std::string name;
    std::string kind;
    std::uint32_t count = 1;
    std::shared_ptr<const link> way;
    delay compute;
    std::int64_t clock_offset_most_ns = 0;  ///< each agent's offset is uniform within plus and minus this
    double clock_drift_most_ppm = 0;        ///< likewise
    std::int64_t begins_ns = 0;             ///< agents of the group start at a time
    group_maker make;
};

/// What happens at a moment; done by the market's operator.
struct timeline_event {
    std::int64_t at_ns = 0;
    std::string kind;
    std::function<void(market&, agent& by)> act;
};

/// An instrument that trades in batches: orders collect, and an auction ends every interval.
struct batch_auction {
    domain::instrument_id instrument{};
    std::int64_t interval_ns = 0;
};

/// A file beside the scenario that it names.
struct scenario_file {
    std::string name;  ///< a path relative to the scenario, without ".."
    std::string text;
};

struct scenario {
    std::string name;
    std::string about;                 ///< one sentence
    std::string text;                  ///< of the file
    std::vector<scenario_file> files;  ///< of values; a run repeats itself with them
    std::int64_t duration_ns = 0;
    std::int64_t sample_ns = 1'000'000'000;  ///< of the metrics
    std::uint64_t seed = 1;
    market_options options;
    std::vector<std::pair<std::string, oracle_options>> fundamentals;
    std::vector<agent_group> groups;
    std::vector<batch_auction> batches;
    std::vector<timeline_event> events;       ///< by time
    std::string instruments_toml;             ///< the [[instrument]] tables, for a venue's configuration
    std::shared_ptr<const recorded_day> day;  ///< in which the agents trade; null: in a market of their own
    recorded_flow_options recorded;

    /// The agents' names are "GROUP-1" and so on; the operator follows, and an operator of batch auctions.
    [[nodiscard]] std::unique_ptr<market> build(std::uint64_t run_seed, bool keeps_commands = true) const;
};

/// Where a scenario finds the recordings and the files of values that it names.
struct scenario_files {
    /// Beside the folder of the scenario; empty: none.
    std::string data_folder;
    std::function<recorded_day(const recorded::replay::recording_options&)> load = load_recorded_day;
    std::function<std::optional<std::string>(const std::string& file)> read_text = recorded::replay::read_text_file;
};

/// @param file  For messages, and for the folder of the files that it names.
/// @throws node::configuration_error: "FILE:LINE: KEY: sentence".
[[nodiscard]] scenario parse_scenario(std::string_view text, const std::string& file, const scenario_files& from = {});

/// The recorded flow of a market that such a scenario built; null: it has none.
[[nodiscard]] const recorded_flow* recorded_flow_of(const market& world) noexcept;

}  // namespace corro::market
