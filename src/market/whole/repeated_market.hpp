// SPDX-License-Identifier: Apache-2.0
// A market whose commands are known: those of a journal, executed again.
//
// The agents send nothing. They have the names and accounts of those who sent the commands, and note what those noted,
// so that metrics, holdings and recordings of the market are those of the run that the commands come from.
//
// Units:   nanoseconds since the market's start.
// Threads: the market's.
// Source:  docs/spec/market.md, "The same agents with a whole venue".
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "market/market.hpp"

namespace corro::market {

/// What a run with a whole venue leaves.
struct whole_record {
    std::vector<domain::command> commands;  ///< of the agents, as journaled, in order
    std::vector<std::vector<note>> notes;   ///< by agent
    std::vector<std::string> note_names;
    std::vector<std::string> agent_names;
    std::vector<bool> are_operators;
    std::uint64_t state_hash = 0;  ///< of the venue, at the end of the run
    std::uint64_t arrivals_digest = 0;
};

/// Runs agents with a whole venue.
/// @param agents  Keeps notes; begins at whole_market::start_ns().
/// @throws std::runtime_error when the market needs what a whole venue does not offer, or a session ends.
[[nodiscard]] whole_record run_whole(std::unique_ptr<market> agents, std::int64_t duration_ns);

/// @param options  Of the agents' market.
[[nodiscard]] std::unique_ptr<market> repeat(const whole_record& record, market_options options);

}  // namespace corro::market
