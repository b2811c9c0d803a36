// SPDX-License-Identifier: Apache-2.0
// The configurations of the processes of a simulated venue.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/accounts.hpp"
#include "io/net/endpoint.hpp"
#include "node/configuration/configuration.hpp"
#include "simulation/plan.hpp"

namespace corro::simulation {

inline constexpr std::uint32_t accounts_count = 2;  ///< of traders in a drawn venue; an operator's follows
inline constexpr std::uint32_t sessions_of_account_min = 8;
inline constexpr std::uint32_t instruments_reserved = 4;  ///< for definitions of the operator
inline constexpr std::string_view journal_directory = "/var/corro/journal";

/// Of a file's venue, at most: more than the clients of a run have open, and define.
inline constexpr std::uint32_t orders_reserved_max = 5'000;
inline constexpr std::uint32_t instruments_reserved_max = 32;

/// A session that a trader may have.
struct seat {
    gateway::account account;
    std::uint32_t session_number = 0;  ///< of the account's, from 1

    /// SenderCompID of the session. @pre It speaks FIX.
    [[nodiscard]] const std::string& fix_name() const { return account.fix_names[session_number - 1]; }
};

/// All of Corro Binary, so that the first are of different accounts. In a file's venue the seed decides which account
/// is first.
[[nodiscard]] std::vector<seat> seats_of(const plan& whole);
/// All of FIX, likewise. Those of a drawn venue are as many as its FIX clients.
[[nodiscard]] std::vector<seat> fix_seats_of(const plan& whole);
/// In journals.
[[nodiscard]] domain::session_id session_of(const seat& one, const plan& whole);
[[nodiscard]] bool has_operator(const plan& whole);
/// @pre has_operator (asserted).
[[nodiscard]] gateway::account operator_of(const plan& whole);

/// Its gateway, or 0 if there is none.
[[nodiscard]] std::size_t gateway_of(const gateway::account& a, const plan& whole);

/// Where a process of the venue is.
[[nodiscard]] io::endpoint address_of_host(std::size_t host) noexcept;

// Where clients find the venue. Gateway 0 is the facility's process if there are no gateways.
[[nodiscard]] io::endpoint order_entry_of(const venue_shape& shape, std::size_t gateway) noexcept;
[[nodiscard]] io::endpoint fix_of(const venue_shape& shape, std::size_t gateway) noexcept;
[[nodiscard]] io::endpoint feed_of(const venue_shape& shape, std::size_t partition) noexcept;
[[nodiscard]] io::endpoint snapshots_of(const venue_shape& shape, std::size_t partition) noexcept;

// Where a distributor finds the facility's feed.
[[nodiscard]] io::endpoint facility_feed(std::size_t partition) noexcept;
[[nodiscard]] io::endpoint facility_snapshots(std::size_t partition) noexcept;

/// Of the facility's process, which takes orders itself without gateways.
[[nodiscard]] node::configuration configuration_of_facility(const plan& whole);
[[nodiscard]] node::configuration configuration_of_gateway(const plan& whole, std::size_t gateway);
[[nodiscard]] node::configuration configuration_of_distributor(const plan& whole, std::size_t partition);

/// Of one partition as a venue of its own, or of the undivided venue.
[[nodiscard]] node::configuration configuration_of_partition(const plan& whole, std::size_t partition);

/// The folder of a partition's journal.
[[nodiscard]] std::string journal_of(const plan& whole, std::size_t partition);

}  // namespace corro::simulation
