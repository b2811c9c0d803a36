// SPDX-License-Identifier: Apache-2.0
// Suite `venue`: a whole exchange under a thousand clients, in the shape of the MiniExchange paper.

#include <fmt/format.h>

#include "lab/suites/venue_suite.hpp"

namespace corro::lab {
namespace {

std::vector<row> rows_of_clients(const venue_shape& shape) {
    const std::string name = shape.row();
    std::vector<row> rows{
        {name, "/s", better::higher,
         fmt::format("requests answered: {} clients with {} requests outstanding each, 60% new orders (one in ten a "
                     "market order), 30% cancels, 10% amends, market data on",
                     shape.clients, shape.outstanding)},
        {name + "_refused", "%", better::lower, "requests that the market refused, most of them overtaken by a fill"},
        {name + "_user", "%", better::higher, "part of the venue's processor time spent outside of the kernel"},
        {name + "_venue_busy", "%", better::higher, "processor time of the venue's process, of one processor"},
        {name + "_clients_busy", "%", better::lower, "processor time of the clients' process: below 100, they waited"},
        {name + "_system_calls", "calls", better::lower,
         "system calls of the venue per request answered, counted by the kernel right after the measured time; 0 where "
         "it does not let itself be asked"}};
    for (const char* const kind : venue_kind_names) {
        for (const char* const stage : venue_stage_names) {
            for (const char* const percentile : venue_percentile_names) {
                rows.push_back({fmt::format("{}_{}_{}_{}", name, stage, kind, percentile), "ns", better::lower,
                                "inside the venue; stage 1: received to decoded, stage 2: decoded to answered"});
            }
        }
    }
    return rows;
}

std::vector<row> rows_on_the_wire(const venue_shape& shape) {
    std::vector<row> rows;
    for (const char* const kind : venue_kind_names) {
        for (const char* const percentile : {"p50", "p95", "p99"}) {
            // The first one names the benchmark.
            const std::string name = rows.empty() ? shape.row() : fmt::format("wire_to_wire_{}_{}", kind, percentile);
            rows.push_back({name, "ns", better::lower,
                            fmt::format("{}: from when a request should leave the client to its answer, {}, at {} "
                                        "requests a second by one client; both sides poll",
                                        kind, percentile, shape.rate)});
        }
    }
    return rows;
}

}  // namespace

/// The measurement should last longer than the logons before it.
constexpr double time_factor = 5;

void declare_venue(registry& into) {
    for (const venue_shape& shape : venue_shapes()) {
        into.declare("venue", shape.rate > 0 ? rows_on_the_wire(shape) : rows_of_clients(shape), 2, time_factor,
                     venue_repeats_count);
    }
    declare_venue_transports(into);
    declare_venue_feed(into);
    declare_venue_recovery(into);
}

void implement_venue(registry& into, const std::string& subject, const venue_server& server) {
    for (const venue_shape& shape : venue_shapes()) {
        into.implement("venue", shape.row(), subject,
                       [shape, server](const run_parameters& how) { return run_venue(how, shape, server); });
    }
}

}  // namespace corro::lab
