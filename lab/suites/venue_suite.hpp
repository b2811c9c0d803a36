// SPDX-License-Identifier: Apache-2.0
// Suites `venue` and `simulation`: their declarations and subjects. Separate from the other suites, because they need
// the whole exchange.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <string>

#include "lab/registry.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/venue/venue_run.hpp"

namespace corro::lab {

/// A thousand logons come before everything that is measured, and nine exchanges are.
inline constexpr int venue_repeats_count = 3;

void declare_venue(registry& into);
void implement_venue_corro(registry& into);

// What no peer has: how long a venue takes to come back.
void declare_venue_recovery(registry& into);
void implement_venue_recovery(registry& into);

// One session over TCP, a Unix socket and shared memory.
void declare_venue_transports(registry& into);
void implement_venue_transports(registry& into);

// The feed to many subscribers.
void declare_venue_feed(registry& into);
void implement_venue_feed(registry& into);

/// Journals commands of the suite's traders, by a host without connections.
/// @param c  As `venue_configuration`, with the journal's folder. @return  The hash of the state after them.
[[nodiscard]] std::uint64_t write_journal(const node::configuration& c, std::uint64_t commands_count);

// The first picture of that many orders, by the API.
void declare_api_history(registry& into);
void implement_api_history(registry& into);

// The whole venue in the suite `fix`.
void declare_fix_venue(registry& into);
void implement_fix_venue(registry& into);

/// The exchange on one thread, without a journal.
[[nodiscard]] venue_server corro_venue(const corro_backend& by);

// A venue and its clients in the simulated world.
void declare_simulation(registry& into);
void implement_simulation(registry& into);

/// Every row, by this exchange.
void implement_venue(registry& into, const std::string& subject, const venue_server& server);

}  // namespace corro::lab
