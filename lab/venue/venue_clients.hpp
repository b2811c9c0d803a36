// SPDX-License-Identifier: Apache-2.0
// The clients of the venue suite: sessions on one thread, each with a seeded trader, and a subscriber that reads the
// whole feed.
//
// Threads: one. Limits: the order session's.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/histogram.hpp"
#include "client/trader.hpp"
#include "io/net/endpoint.hpp"
#include "lab/venue/venue_run.hpp"

namespace corro::lab {

struct client_figures {
    std::uint64_t answered = 0;  ///< within the measured time
    double seconds = 0;          ///< of it
    double client_busy = 0;      ///< part of it that this thread worked, 0 to 1
    double venue_busy = 0;       ///< processors that the venue's process kept busy in it
    /// Those of the venue, in a time after the measured one; 0 where the kernel does not let itself be asked.
    double system_calls_per_request = 0;
    std::uint64_t feed_bytes = 0;
    client::trader_statistics requests;
    std::array<base::latency_histogram, venue_kinds.size()> round_trips;  ///< at a rate
};

/// The trader behind a session, from 0, of a venue of these instruments. Traders of one session in different `lives`
/// name their orders differently.
[[nodiscard]] client::trader trader_of(std::uint32_t session, std::vector<domain::instrument> instruments,
                                       std::uint32_t life = 0);

/// @param configuration  The venue's: the clients are sessions of its first account. @param venue  The venue's process,
/// to see how busy it is.
/// @throws wrong_result
[[nodiscard]] client_figures run_venue_clients(const venue_shape& shape, double seconds, io::endpoint orders,
                                               io::endpoint feed, const node::configuration& configuration, int venue);

}  // namespace corro::lab
