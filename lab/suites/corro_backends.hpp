// SPDX-License-Identifier: Apache-2.0
// The backends of Corro that this machine supports, each a separate subject.
//
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "io/loop/context.hpp"

namespace corro::lab {

struct corro_backend {
    std::string subject;  ///< "corro_epoll" and so on
    io::platform* kind;
};

/// Returns the backends on which a context can be made now.
[[nodiscard]] std::vector<corro_backend> corro_backends();

/// Those, and "corro_asio" if Boost was there when the lab was built: the same code on Boost.Asio's loop. For the
/// suites about sockets, where the loop is what matters.
[[nodiscard]] std::vector<corro_backend> corro_backends_and_asio();

}  // namespace corro::lab
