// SPDX-License-Identifier: Apache-2.0
// What a simulated kernel does for the operations of one socket, with what has arrived there.
//
// Each function returns true when the operation is complete, false when it has to wait. Statuses are errno numbers.
//
// Threads: one.
#pragma once

#include "sim/socket.hpp"

namespace corro::sim {

[[nodiscard]] bool receive(socket& on, io::operation& what);
[[nodiscard]] bool send(socket& on, io::operation& what);
[[nodiscard]] bool receive_batch(socket& on, io::operation& what);
[[nodiscard]] bool is_readable(const socket& on) noexcept;

}  // namespace corro::sim
