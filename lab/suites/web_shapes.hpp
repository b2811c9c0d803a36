// SPDX-License-Identifier: Apache-2.0
// The server rows of the http suite: whole HTTP and WebSocket servers under the same load. A separate thread makes the
// load over plain sockets.
//
// Threads: as said.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "io/tls/tls_context.hpp"
#include "lab/measurement.hpp"

namespace corro::lab {

struct web_shape {
    bool websocket = false;  ///< echo; otherwise GET with a response of this many bytes
    bool secure = false;     ///< over TLS 1.3
    int connections = 1;
    std::size_t bytes = 64;

    [[nodiscard]] std::string row() const;
    [[nodiscard]] std::string does() const;
};

[[nodiscard]] std::vector<web_shape> web_shapes();

/// A certificate and its key for the TLS rows, made once for the process.
[[nodiscard]] const io::tls_server_options& web_identity();

/// Serves the connected, non-blocking descriptors, which it owns, until their peers have closed them. Runs on a thread
/// of its own.
using web_server = std::function<void(const web_shape& shape, std::vector<int> descriptors)>;

/// Requests per second, with their latencies: each connection sends its next request when it has its response.
/// @throws wrong_result for a response that is not what was asked for.
[[nodiscard]] measurement load_web_server(const run_parameters& how, const web_shape& shape, const web_server& server);

}  // namespace corro::lab
