// SPDX-License-Identifier: Apache-2.0
// The venue of a simulated run, as an operator's configuration file describes it.
//
// A run takes everything from the file that decides how the venue trades and what it keeps. Addresses and the journal's
// folder are the run's own. Ports that its clients do not use are left out. What its checkers cannot judge is refused.
//
// Threads: values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gateway/accounts.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::simulation {

struct venue_file {
    std::string path;
    node::configuration venue;
    std::vector<std::string> left_out;  ///< keys of the file that runs do not have
};

/// Reads a configuration file for runs.
/// @throws node::configuration_error, as `corro serve` would, and also for what a run cannot have.
[[nodiscard]] std::shared_ptr<const venue_file> load_venue_file(const std::string& path);

/// The same for a configuration that was read before.
/// @param path  For messages.
[[nodiscard]] std::shared_ptr<const venue_file> make_venue_file(node::configuration read, const std::string& path);

/// Whether a client may trade in it: it is neither an operator's nor a drop copy.
[[nodiscard]] bool is_of_trader(const gateway::account& a) noexcept;

/// The gateways that its accounts name, in their order; empty for a venue without links.
[[nodiscard]] std::vector<std::string> gateway_names_of(const node::configuration& c);

}  // namespace corro::simulation
