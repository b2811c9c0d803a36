// SPDX-License-Identifier: Apache-2.0
// Suite `http`, the server rows: what they are.

#include <fmt/format.h>

#include "examples/self_signed.hpp"
#include "lab/suites/suites.hpp"
#include "lab/suites/web_shapes.hpp"

namespace corro::lab {

std::string web_shape::row() const {
    return fmt::format("{}_{}_connections_{}_bytes_{}", websocket ? "websocket_echo" : "server",
                       secure ? "tls" : "plain", connections, bytes);
}

std::string web_shape::does() const {
    return fmt::format("{} on one thread over {}, loaded by another thread: {} connections, each with one {} under way",
                       websocket ? fmt::format("a WebSocket server that echoes messages of {} bytes", bytes)
                                 : fmt::format("an HTTP server that answers GET with {} bytes", bytes),
                       secure ? "TLS 1.3" : "TCP", connections, websocket ? "message" : "request");
}

std::vector<web_shape> web_shapes() {
    std::vector<web_shape> shapes;
    for (const bool websocket : {false, true}) {
        for (const bool secure : {false, true}) {
            for (const int connections : {1, 32, 1000}) {
                for (const std::size_t bytes : {std::size_t{64}, std::size_t{16} * 1024}) {
                    shapes.push_back({websocket, secure, connections, bytes});
                }
            }
        }
    }
    return shapes;
}

const io::tls_server_options& web_identity() {
    static const io::tls_server_options made = example::self_signed();
    return made;
}

void declare_web_servers(registry& into) {
    for (const web_shape& shape : web_shapes()) {
        into.declare("http", {{shape.row(), "/s", better::higher, shape.does()}}, 2);
    }
}

}  // namespace corro::lab
