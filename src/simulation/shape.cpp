// SPDX-License-Identifier: Apache-2.0
#include "simulation/shape.hpp"

#include <fmt/format.h>

namespace corro::simulation {

std::string venue_shape::name_of_process(std::size_t process) const {
    if (process == 0) return is_in_roles() || has_distributors ? "facility" : "venue";
    if (process <= gateways_count) return fmt::format("gateway {}", process);
    return fmt::format("distributor {}", process - gateways_count);
}

std::string venue_shape::name_of_host(std::size_t host) const {
    return has_host_for_each ? name_of_process(host) : "venue";
}

std::string run_shape::name_of_host(std::size_t host) const {
    if (host < venue.hosts_count()) return venue.name_of_host(host);
    return fmt::format("client host {}", host - venue.hosts_count() + 1);
}

link_ends run_shape::ends_of_link(std::size_t link) const noexcept {
    const std::size_t hosts = venue.hosts_count();
    if (link < client_hosts_count * hosts) return {link % hosts, hosts + link / hosts};
    return {0, 1 + link - client_hosts_count * hosts};
}

std::string text_of(const venue_shape& shape) {
    std::string all = fmt::format("{}, {}", shape.is_in_roles() ? "facility" : "venue",
                                  shape.threading == node::threading_mode::split ? "split" : "inline");
    if (shape.partitions_count > 1) all += fmt::format(", {} partitions", shape.partitions_count);
    if (shape.gateways_count == 1) all += ", 1 gateway";
    if (shape.gateways_count > 1) all += fmt::format(", {} gateways", shape.gateways_count);
    if (shape.has_distributors) all += ", a distributor for each feed";
    if (shape.processes_count() > 1) all += shape.has_host_for_each ? ", a host for each process" : ", on one host";
    return all;
}

}  // namespace corro::simulation
