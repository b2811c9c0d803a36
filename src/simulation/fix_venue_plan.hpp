// SPDX-License-Identifier: Apache-2.0
// Test support: a venue that two FIX clients trade with, without faults of its own.
//
// Threads: any; pure functions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "gateway/accounts.hpp"
#include "io/net/endpoint.hpp"
#include "journal/writer.hpp"
#include "node/configuration/configuration.hpp"
#include "simulation/plan.hpp"
#include "simulation/venue_configuration.hpp"

namespace corro::simulation::testing {

inline constexpr std::uint16_t fix_port = 9'878;
inline constexpr std::size_t clients_count = 2;

[[nodiscard]] inline std::string fix_name_of(std::size_t k) {
    return "CLIENT" + std::to_string(k + 1);
}

[[nodiscard]] inline plan plan_of(std::uint64_t seed, const venue_shape& shape) {
    plan whole = draw_plan(seed, {});
    whole.faults.clear();
    whole.shape = run_shape();
    whole.shape.venue = shape;
    whole.shape.client_hosts_count = 2;
    whole.shape.traders_count = 2;
    whole.durability = journal::durability::group;
    whole.disk_call_max = std::chrono::nanoseconds(0);
    whole.requests_max = 0;
    return whole;
}

[[nodiscard]] inline io::endpoint fix_address() {
    return address_of_host(0).with_port(fix_port);
}

/// The process that serves FIX has its port.
[[nodiscard]] inline node::configuration with_fix(node::configuration c, bool is_served) {
    if (is_served) c.fix_listen = fix_address().to_string();
    for (std::size_t k = 0; k < clients_count; ++k) {
        gateway::account& a = c.accounts[k];
        a.fix_names.resize(a.sessions_count);
        a.fix_names[a.sessions_count - 1] = fix_name_of(k);
    }
    return c;
}

}  // namespace corro::simulation::testing
