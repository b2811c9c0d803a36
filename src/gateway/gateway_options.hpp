// SPDX-License-Identifier: Apache-2.0
// Settings of order entry. The defaults, with their reasons, are in gateway/limits.hpp.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "gateway/admin_service.hpp"
#include "gateway/limits.hpp"
#include "gateway/transport/handshake_budget.hpp"
#include "telemetry/event_log.hpp"

namespace corro::gateway {

struct gateway_options {
    gateway_options() noexcept {}

    std::chrono::milliseconds logon_timeout = gateway::logon_timeout;
    std::size_t output_buffer_bytes = gateway::output_buffer_bytes;
    std::chrono::milliseconds wrong_proof_wait_max = gateway::wrong_proof_wait_max;
    std::uint32_t connections_max = gateway::connections_max;
    std::uint32_t strangers_max = gateway::strangers_max;
    std::uint32_t strangers_per_address_max = gateway::strangers_per_address_max;
    std::uint32_t strangers_reserved =
        gateway::strangers_reserved;  ///< for addresses from which a key was proven, at most a quarter
    std::uint32_t farewells_max = gateway::farewells_max;
    std::uint32_t handshakes_max = gateway::handshakes_max;
    std::uint32_t handshakes_per_address_max = gateway::handshakes_per_address_max;
    handshake_budget_options handshakes;
    std::uint32_t answers_per_turn_max = gateway::answers_per_turn_max;
    std::uint32_t logons_max = gateway::logons_max;
    std::chrono::milliseconds logons_window = gateway::logons_window;
    std::chrono::milliseconds crowd_look_interval = gateway::crowd_look_interval;
    std::optional<std::chrono::seconds> session_day_begins;  ///< after midnight UTC; empty: no reset
    std::chrono::milliseconds day_look_interval = gateway::day_look_interval;
    std::uint32_t timing_sample_every = 0;      ///< stamp one request in N; 0: none
    telemetry::producer* log = nullptr;         ///< of the gateway's thread; outlives the gateway; nullptr: no log
    admin_service* desk = nullptr;              ///< outlives the gateway; nullptr: requests of operators are refused
    std::uint32_t requests_per_second_max = 0;  ///< as the throttle allows; only sent to the clients
    std::uint32_t orders_max = 0;  ///< open orders of an account without a limit of its own; only sent to the clients
};

}  // namespace corro::gateway
