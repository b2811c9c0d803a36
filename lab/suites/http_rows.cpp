// SPDX-License-Identifier: Apache-2.0
// Suite `http`: a small request, a small response, on connections that stay.

#include <fmt/format.h>

#include "lab/suites/http_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {

std::string http_shape::row() const {
    if (threads == 1) return fmt::format("connections_{}", connections);
    return fmt::format("connections_{}_threads_{}_{}", connections, threads, shared ? "shared" : "per_thread");
}

std::vector<http_shape> http_shapes(std::span<const int> threads) {
    std::vector<http_shape> shapes;
    for (const int connections : {1, 4, 16, 32}) shapes.push_back({connections});
    for (const int n : threads) {
        if (n == 1) continue;  // that is the row of 32 connections above
        shapes.push_back({32, n, true});
        shapes.push_back({32, n, false});
    }
    return shapes;
}

void declare_http(registry& into, std::span<const int> threads) {
    for (const http_shape& shape : http_shapes(threads)) {
        into.declare(
            "http",
            {{shape.row(), "/s", better::higher,
              fmt::format("{} connections, clients and servers on {}: a request of {} bytes, parsed up "
                          "to its blank line, a response with Content-Length and a body of {} bytes",
                          shape.connections,
                          shape.threads == 1 ? "one thread"
                          : shape.shared     ? fmt::format("{} threads that run one context together", shape.threads)
                                             : fmt::format("{} threads with a context each", shape.threads),
                          http_request.size(), http_body.size())}},
            shape.threads);
    }
}

}  // namespace corro::lab
