// SPDX-License-Identifier: Apache-2.0
// Transports: the stream under an order-entry session. Sessions see one type (io/net/transport_stream.hpp).
#pragma once

#include <cstdint>

#include "io/net/transport_stream.hpp"

namespace corro::gateway {

enum class transport_kind : std::uint8_t { tcp, unix_socket, shared_memory, tls, websocket, secure_websocket };

using io::transport_stream;

}  // namespace corro::gateway
