// SPDX-License-Identifier: Apache-2.0
// One row of the venue suite: a whole exchange in one process, a thousand clients in another, and the time of requests
// inside the exchange and on the wire between both.
//
// The clients and the exchange's configuration are the same for every subject. A run reports the load of both
// processes: if the venue's processor is fully used and the clients' is not, the venue is the bottleneck.
//
// Threads: none of its own; processes.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/measurement.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/latency_tables.hpp"

namespace corro::lab {

struct venue_shape {
    std::uint32_t clients = 1'000;
    std::uint32_t outstanding = 1;
    double rate = 0;      ///< requests per second in all, one at a time, both sides polling; 0: as many as are answered
    bool by_fix = false;  ///< the clients, and not by Corro Binary

    /// Empty for the rows at a rate.
    [[nodiscard]] std::string row() const;
};
[[nodiscard]] std::vector<venue_shape> venue_shapes();

/// The kinds of requests and the statistics of each stage.
inline constexpr std::array<domain::command_kind, 3> venue_kinds{
    domain::command_kind::enter_order, domain::command_kind::cancel_order, domain::command_kind::amend_order};
inline constexpr std::array<const char*, 3> venue_kind_names{"new", "cancel", "amend"};
inline constexpr std::array<const char*, 3> venue_stage_names{"stage_1", "stage_2", "total"};
inline constexpr std::array<double, 4> venue_percentiles{50, 99, 99.9, 100};
inline constexpr std::array<const char*, 4> venue_percentile_names{"p50", "p99", "p999", "max"};

/// The venue process's report to the clients' process, in shared memory.
struct venue_report {
    /// 0 until the venue listens.
    std::atomic<std::uint32_t> orders_port{0};
    std::atomic<std::uint32_t> feed_port{0};
    std::atomic<std::uint32_t> fix_port{0};  ///< set before `orders_port`
    /// By kind, stage and percentile, in nanoseconds; complete when the process has ended.
    std::array<std::array<std::array<double, venue_percentiles.size()>, 3>, venue_kinds.size()> stages{};

    void take(const node::latency_tables& tables);
};

/// What every venue of the suite is configured to be: ten instruments, an account with a thousand sessions.
[[nodiscard]] node::configuration venue_configuration();

struct venue_settings {
    node::configuration configuration;
    bool busy_poll = false;  ///< look for work all the time instead of sleeping
};

/// Serves until the peer of the descriptor `control` is closed; then fills in the report. Owns `control`.
using venue_server = std::function<void(const venue_settings& settings, venue_report& report, int control)>;

/// The rate, and how busy the venue and its clients were, in percent of a processor.
/// @throws wrong_result as `run_venue`.
[[nodiscard]] measurement run_venue_briefly(const run_parameters& how, const venue_shape& shape,
                                            const venue_server& server);

/// Runs `clients` in this process while the venue serves in one of its own; the report has its ports.
/// @throws wrong_result if the venue fails, and what `clients` throws.
void run_beside_venue(const venue_settings& settings, const venue_server& server,
                      const std::function<void(const venue_report&)>& clients);

/// Runs one row. @throws wrong_result if a request is not answered, or the venue fails.
[[nodiscard]] measurement run_venue(const run_parameters& how, const venue_shape& shape, const venue_server& server);

}  // namespace corro::lab
