// SPDX-License-Identifier: Apache-2.0
// The workload by which simulators of markets are compared: zero intelligence in a fixed band.
//
// N agents in one instrument. When an agent is activated it cancels its live order if it has one; else it enters a
// limit order of uniform side, of a price within a band around the middle and of 10 to 19 lots. Two makers cancel and
// requote both sides every step, where a step activates each agent once on average.
//
// Units: ticks, lots, nanoseconds.
#pragma once

#include <cstdint>
#include <memory>

#include "domain/instrument.hpp"
#include "market/market.hpp"

namespace corro::market {

struct common_workload {
    std::uint32_t agents_count = 100;
    std::uint32_t instruments_count = 1;  ///< agents are spread over them
    std::uint32_t makers_count = 2;       ///< of each instrument
    std::int64_t band_ticks = 20;         ///< width of the band
    std::int64_t middle_ticks = 10'000;
    std::int64_t step_ns = 1'000'000'000;
    std::shared_ptr<const link> way;  ///< of all agents; null: 50 to 150 microseconds, uniform
    std::uint64_t seed = 1;
    bool keeps_commands = true;
};

/// The market, ready to run.
[[nodiscard]] std::unique_ptr<market> make_common_workload(const common_workload& how);

/// An agent of it.
behaviour common_zero_intelligence(agent& me, domain::instrument_id in, std::int64_t low, std::int64_t high,
                                   std::int64_t step_ns);
/// A maker of it.
behaviour common_maker(agent& me, domain::instrument_id in, std::int64_t bid, std::int64_t ask, std::int64_t step_ns);

}  // namespace corro::market
