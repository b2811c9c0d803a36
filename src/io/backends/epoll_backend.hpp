// SPDX-License-Identifier: Apache-2.0
// The backend on Linux's epoll.
//
// A socket is registered once, edge-triggered, when an operation first has to wait on it. Operations are attempted at
// once where that is likely to succeed, and otherwise when the socket becomes ready. That attempt happens just before
// the waiting task is resumed, one event at a time.
#pragma once

#include <memory>

#include "io/loop/backend.hpp"

namespace corro::io {

/// @throws std::system_error if the kernel refuses (start-up).
[[nodiscard]] std::unique_ptr<backend> make_epoll_backend();

}  // namespace corro::io
