// SPDX-License-Identifier: Apache-2.0
// A recorded day as a list of requests, each with what it did at the venue without orders of anyone else.
//
// The files are replayed once through a facility of their own, with the rules of `corro replay`. Each request is kept
// with its recorded time, its fills and the best prices after it: the factual market, to which a market with agents is
// compared. The list does not change afterwards, so any number of runs share it.
//
// Units:   ticks, lots, nanoseconds since `start_ns`.
// Limits:  those of the formats; about 100 bytes of memory for each request.
// Threads: one while it is loaded; any number afterwards.
// Source:  docs/spec/recorded_day.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/instrument.hpp"
#include "recorded/replay/recording.hpp"
#include "recorded/replay/request.hpp"

namespace corro::market {

/// The account and the session of all recorded orders. Agents have lower numbers.
inline constexpr std::uint32_t recorded_account = 1'023;
/// More agents than that would reach the account of the recording.
inline constexpr std::uint32_t recorded_day_agents_max = 1'000;

struct recorded_request {
    std::int64_t at_ns = 0;
    recorded::replay::request request;
    std::uint32_t filled_lots = 0;  ///< by it, as the aggressor
    std::uint32_t open_lots = 0;    ///< of its order afterwards
    std::uint32_t fills_first = 0;  ///< index in recorded_day::fills
    std::uint32_t fills_count = 0;  ///< of resting orders; of both sides at the end of an auction
    std::uint64_t depth_lots = 0;   ///< that its order could meet before: of the other side, up to its price
    std::int64_t bid = 0;           ///< the best prices afterwards; only where there are both (`has_quotes`)
    std::int64_t ask = 0;
    bool has_quotes = false;
    bool is_refused = false;
};

struct recorded_day {
    domain::instrument instrument;  ///< its id is 1
    std::int64_t start_ns = 0;   ///< time of day, in nanoseconds since the epoch: the second of the first live record
    std::int64_t length_ns = 0;  ///< until the last request
    std::vector<recorded_request> requests;
    std::vector<recorded::replay::fill> fills;
    std::uint32_t orders_max = 0;      ///< that are open at once, at most
    std::uint64_t orders_count = 0;    ///< client order ids of the recording are 1 to this
    std::uint64_t records = 0;         ///< of the files
    std::uint64_t unexplained = 0;     ///< differences between the venue and the recording that nothing explains
    std::uint64_t state_hash = 0;      ///< of the facility after the last request
    std::vector<std::string> reports;  ///< sentences about differences that are unexplained, at most ten

    [[nodiscard]] std::span<const recorded::replay::fill> fills_of(const recorded_request& of) const noexcept {
        return std::span(fills).subspan(of.fills_first, of.fills_count);
    }
};

/// Reads the files and replays them once.
/// @throws recorded::replay::replay_error  Files that are missing, truncated or foreign, with file and place.
[[nodiscard]] recorded_day load_recorded_day(const recorded::replay::recording_options& files);

/// The command of a recorded request, without sequence and time.
/// @param number  Of the request; the recording counts from 1.
[[nodiscard]] domain::command command_of_recording(const recorded::replay::request& r, domain::instrument_id instrument,
                                                   std::uint32_t number) noexcept;

}  // namespace corro::market
