// SPDX-License-Identifier: Apache-2.0
// The shape of a simulated run: the processes of the venue, its hosts, and those of the clients.
//
// Threads: values.
#pragma once

#include <cstddef>
#include <string>

#include "node/configuration/configuration.hpp"

namespace corro::simulation {

/// How the venue is divided among partitions, processes and hosts.
struct venue_shape {
    node::threading_mode threading{};  ///< of the facilities
    std::size_t partitions_count = 1;  ///< 1: the venue is not divided
    std::size_t gateways_count = 0;    ///< 0: clients enter orders at the process of the facilities
    bool has_distributors = false;     ///< a process for the feed of each partition
    bool has_host_for_each = false;    ///< each process has a host of its own

    [[nodiscard]] bool is_in_roles() const noexcept { return gateways_count != 0; }
    [[nodiscard]] std::size_t distributors_count() const noexcept { return has_distributors ? partitions_count : 0; }

    // The processes: the facilities' first, then the gateways, then the distributors.

    [[nodiscard]] std::size_t processes_count() const noexcept { return 1 + gateways_count + distributors_count(); }
    [[nodiscard]] std::size_t process_of_gateway(std::size_t gateway) const noexcept { return 1 + gateway; }
    [[nodiscard]] std::size_t process_of_distributor(std::size_t partition) const noexcept {
        return 1 + gateways_count + partition;
    }
    [[nodiscard]] std::string name_of_process(std::size_t process) const;

    [[nodiscard]] std::size_t hosts_count() const noexcept { return has_host_for_each ? processes_count() : 1; }
    [[nodiscard]] std::size_t host_of(std::size_t process) const noexcept { return has_host_for_each ? process : 0; }
    [[nodiscard]] std::string name_of_host(std::size_t host) const;
};

/// Two hosts, as indices: those of the venue, then those of the clients.
struct link_ends {
    std::size_t near = 0;  ///< a host of the venue; of two of them, the facility's
    std::size_t far = 0;
};

struct run_shape {
    venue_shape venue;
    std::size_t client_hosts_count = 0;
    std::size_t traders_count = 0;
    std::size_t fix_clients_count = 0;  ///< traders by FIX

    [[nodiscard]] std::size_t hosts_count() const noexcept { return venue.hosts_count() + client_hosts_count; }
    [[nodiscard]] std::string name_of_host(std::size_t host) const;

    // The links that faults concern: between each client's host and each host of the venue, and from the facility's
    // host to the venue's other hosts.

    [[nodiscard]] std::size_t links_count() const noexcept {
        return client_hosts_count * venue.hosts_count() + venue.hosts_count() - 1;
    }
    [[nodiscard]] link_ends ends_of_link(std::size_t link) const noexcept;
};

/// One line: "facility of 2 partitions, split; 2 gateways; distributors; a host for each".
[[nodiscard]] std::string text_of(const venue_shape& shape);

}  // namespace corro::simulation
