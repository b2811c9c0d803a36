// SPDX-License-Identifier: Apache-2.0
// Suite `facility`: the eight scenarios of P4125R1.

#include "lab/facility/injection.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {

/// Four hundred rows by four subjects: twenty minutes.
constexpr int repeats_count = 3;

void declare_facility(registry& into) {
    for (const facility_shape& shape : facility_shapes()) {
        const std::string row = shape.row();
        // With only a thousand requests per second, these rows run longer, so that their percentiles are usable.
        const double time_factor = shape.rate == 1'000 ? 4 : 1;
        into.declare(
            "facility",
            {{row, "ns", better::lower, shape.does()},
             {row + "_messages", "/s", better::higher, "derived messages (of a gateway: requests) that came out"},
             {row + "_requests", "/s", better::higher, "requests that went in"}},
            2, time_factor, repeats_count);
    }
}

void implement_facility(registry& into, const std::string& subject, const station_transport& transport) {
    for (const facility_shape& shape : facility_shapes()) {
        into.implement("facility", shape.row(), subject,
                       [shape, transport](const run_parameters& how) { return run_facility(how, shape, transport); });
    }
}

}  // namespace corro::lab
