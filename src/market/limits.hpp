// SPDX-License-Identifier: Apache-2.0
// Limits of a market.
#pragma once

#include <cstdint>

#include "market/schedule.hpp"

namespace corro::market {

/// Agents of a market, and commands on their way to the venue at a time: half of the slots of the schedule each. A
/// request beyond them throws std::runtime_error.
inline constexpr std::uint32_t agents_max = schedule::slots_max / 2;
inline constexpr std::uint32_t flights_max = schedule::slots_max / 2;

/// Awaits that return at once after an agent was told to stop. An agent that awaits more often is suspended for good,
/// so a behaviour that ignores the stop cannot hang a run.
inline constexpr std::uint32_t awaits_after_stop_max = 64;

/// Public states of an instrument that are kept although no link is slow enough to need them.
inline constexpr std::uint32_t public_states_min = 64;

/// The longest delay of a link: a minute is beyond every network, and bounds the public states that are kept.
inline constexpr std::int64_t link_delay_ns_max = 60'000'000'000;

}  // namespace corro::market
