// SPDX-License-Identifier: Apache-2.0
// Suite `sockets`: streams of bytes and messages to and fro, over loopback TCP and over Unix sockets.

#include <fmt/format.h>

#include "lab/suites/socket_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {

void declare_sockets(registry& into) {
    for (const throughput_shape& shape : throughput_shapes()) {
        into.declare(
            "sockets",
            {{shape.row(), "B/s", better::higher,
              fmt::format("a writer and a reader on one thread, buffers of {} bytes, {}; one write or read call "
                          "at a time moves what the kernel takes",
                          shape.buffer_bytes,
                          shape.two_way ? "both ways at once, both directions added" : "one way")}});
    }
    for (const ping_pong_shape& shape : ping_pong_shapes()) {
        std::string does = fmt::format(
            "{} pair{} of sockets on one thread, {} bytes to and fro, {}{}; the value is round trips in all",
            shape.pairs, shape.pairs == 1 ? "" : "s", shape.message_bytes,
            shape.alone ? "both ends in one coroutine, so that no read ever waits"
                        : "client and echo apart, so that "
                          "reads really wait",
            shape.with_timeout ? ", a timeout of a second around every read of the client" : "");
        std::vector<row> rows{{shape.row(), "/s", better::higher, std::move(does)}};
        if (shape.pairs > 1) {
            rows.push_back({fmt::format("{}_worst_p99", shape.row()), "ns", better::lower,
                            "the P99 of the connection whose P99 is the worst"});
        }
        into.declare("sockets", std::move(rows));
    }
}

}  // namespace corro::lab
