// SPDX-License-Identifier: Apache-2.0
// Suite `churn`: connections that come and go, and requests that fan out and are joined.

#include "lab/suites/churn_shapes.hpp"

#include <fmt/format.h>

#include "lab/suites/suites.hpp"

namespace corro::lab {

void declare_churn(registry& into) {
    for (const int loops : churn_loops) {
        into.declare("churn", {{churn_row(loops), "/s", better::higher,
                                fmt::format("{} loop{}, each with its acceptor: connect, accept, send a byte, receive "
                                            "it, close both (the client resets, so that no port lingers)",
                                            loops, loops == 1 ? "" : "s")}});
    }
    for (const int size : churn_bursts) {
        into.declare("churn",
                     {{burst_row(size), "/s", better::higher,
                       fmt::format("start {} connects, accept {}, close all; the value is bursts", size, size)}});
    }
    for (const fan_out_shape& shape : fan_out_shapes()) {
        into.declare("churn",
                     {{shape.row(), "/s", better::higher,
                       fmt::format("{} parent{}{}: {} requests each ({} bytes to an echo and back, on a connection of "
                                   "its own), all joined, and again; the value is joins",
                                   shape.parents, shape.parents == 1 ? "" : "s",
                                   shape.groups == 1 ? "" : fmt::format(" with {} groups", shape.groups),
                                   shape.requests, fan_out_bytes)}});
    }
}

}  // namespace corro::lab
