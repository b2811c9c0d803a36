// SPDX-License-Identifier: Apache-2.0
// One cell of the facility suite: a scenario, a book, a rate. Requests go over TCP into stations that are separate
// processes; results come back over TCP and are timed.
//
// Injector and receiver are one loop that never sleeps, on a processor that no station uses. It is an open loop: the
// latency of a request counts from its intended time, so that a stalled station is visible. At the unbounded rate the
// intended time is when the kernel has the requests before it.
//
// The number of cycles of a run depends on its seconds and its rate, not on the subject's speed. So every subject
// does the same work, and the checksum over all output bytes must be the same.
//
// Threads: none of its own; processes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/facility/canned.hpp"
#include "lab/measurement.hpp"

namespace corro::lab {

struct facility_shape {
    station_role role = station_role::facility;
    int scenario = 1;
    bool filled = false;
    std::uint32_t rate = 0;     ///< requests per second; 0: as fast as they go
    std::uint32_t samples = 0;  ///< that a run has, when not 0; a run shorter than `samples_seconds` has fewer
    idling idle = idling::sleeps;

    static constexpr double samples_seconds = 0.3;

    [[nodiscard]] std::string row() const;
    [[nodiscard]] std::string does() const;
};

/// Returns all cells.
[[nodiscard]] std::vector<facility_shape> facility_shapes();

/// Runs one cell: the latency of its samples in nanoseconds (mean), messages and requests per second.
/// @throws wrong_result if a station fails, stops answering or says too much.
[[nodiscard]] measurement run_facility(const run_parameters& how, const facility_shape& shape,
                                       const station_transport& transport);

}  // namespace corro::lab
