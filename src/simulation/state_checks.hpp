// SPDX-License-Identifier: Apache-2.0
// Checks of a venue's state while it is at rest: what its clients know must agree with it.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "node/venue/venue.hpp"
#include "simulation/clients.hpp"
#include "simulation/findings.hpp"

namespace corro::simulation {

/// Whether every subscriber has the last message of its feed.
[[nodiscard]] bool are_feeds_current(const node::venue& venue, const clients& all);

/// The messages that the subscribers lack, of all feeds that they have joined.
[[nodiscard]] std::uint64_t feed_messages_missing(const node::venue& venue, const clients& all);

/// D1: clients and venue have the same number of open orders. N1: the subscribers' books have the facilities' orders.
/// C2: positions sum to zero. O2: no event waits.
void check_state(const node::venue& venue, const clients& all, findings* found);

/// S2: no order of these sessions is in a book.
void check_orders_are_gone(const node::venue& venue, const std::set<std::uint32_t>& sessions, findings* found);

/// N3: no session is on. For venues that serve sessions in the facility's process.
void check_sessions_are_gone(const node::venue& venue, findings* found);

/// What the venue's process holds for clients: connections, and commands without an answer. Empty for nothing.
/// @param serves_feeds  Clients follow the feeds here, and not at distributors.
[[nodiscard]] std::string held_for_clients(const node::venue& venue, bool serves_feeds);

/// Of each partition.
[[nodiscard]] std::vector<std::uint64_t> state_hashes_of(const node::venue& venue);

}  // namespace corro::simulation
