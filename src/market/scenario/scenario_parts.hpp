// SPDX-License-Identifier: Apache-2.0
// The parts of a scenario file that are read in their own source files.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "market/scenario/scenario.hpp"
#include "node/configuration/configuration_table.hpp"

namespace corro::market {

/// What the agents of a file may name.
struct scenario_names {
    const scenario* made = nullptr;

    /// @throws node::configuration_error
    [[nodiscard]] domain::instrument_id instrument(node::table_reader& r, std::string_view key) const;
    /// Without the key: the first instrument.
    [[nodiscard]] domain::instrument_id instrument_or_first(node::table_reader& r, std::string_view key) const;
    /// @pre An instrument of the file.
    [[nodiscard]] const domain::instrument& rules(domain::instrument_id of) const;
    /// The name of a fundamental, or an empty text.
    [[nodiscard]] std::string fundamental(node::table_reader& r, std::string_view key, bool is_needed) const;
};

/// Reads a delay: a duration, or a table with a kind and its parameters.
[[nodiscard]] delay read_delay(node::table_reader& r, std::string_view key, const delay& otherwise);
/// Reads the parameters of a kind of participant.
[[nodiscard]] group_maker read_participant(node::table_reader& r, const std::string& kind, const scenario_names& names);
/// @param resume_ns  When the phase ends by itself, since the epoch; 0: not.
[[nodiscard]] domain::command phase_command(domain::instrument_id of, domain::trading_phase phase,
                                            std::int64_t resume_ns = 0);
/// Reads the recording, with its files.
void read_recording(node::table_reader& r, const std::string& file, const scenario_files& from, scenario& into);
/// Reads an event; groups and fundamentals of the scenario are known.
void read_event(node::table_reader& r, scenario& into);

/// Reads the factors and the fundamentals, with their files.
void read_fundamentals(const toml::table& root, const std::string& file, const scenario_files& from, scenario& into);
/// Reads a CSV file of values: a header `seconds,ticks`, then lines by time.
/// @return The path, not empty; or the line of an error, a colon, and a sentence.
[[nodiscard]] std::expected<value_path, std::string> parse_value_path(std::string_view text);

/// Reads a name that is not empty.
[[nodiscard]] std::string read_name(node::table_reader& r, std::string_view key);
inline constexpr const char* used_twice = "is used twice; expected another name";

/// @throws node::configuration_error with the known names, if `value` is not among them.
void require_one_of(const node::table_reader& r, std::string_view key, const std::string& value,
                    const std::vector<std::string>& known);

/// The longest duration in a scenario: a week.
inline constexpr std::int64_t duration_ns_max = 7LL * 86'400 * 1'000'000'000;
inline constexpr double many = 1e9;  ///< a bound for numbers that have no other

}  // namespace corro::market
