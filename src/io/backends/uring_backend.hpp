// SPDX-License-Identifier: Apache-2.0
// The backend on Linux's io_uring.
//
// One ring per context, used by one thread (single issuer, deferred task run). All operations of one turn of the loop
// are submitted together, by the system call that waits. Writes go out at once, as on epoll, and use the ring only
// when the socket is full; a read that has to wait is one submission and completes with its data; an acceptor is armed
// once.
//
// Limits:  needs Linux 6.1. A context with operations in flight stays on its thread, and is destroyed there or after
// that
//          thread has ended.
#pragma once

#include <memory>

#include "io/loop/backend.hpp"

namespace corro::io {

/// @throws std::system_error with a text about what the kernel lacks or forbids (start-up).
[[nodiscard]] std::unique_ptr<backend> make_uring_backend();

}  // namespace corro::io
