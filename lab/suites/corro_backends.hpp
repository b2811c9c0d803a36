// The backends of Corro that this machine offers, each a subject of its own.
//
// Threads: one.
#pragma once

#include <string>
#include <vector>

#include "io/context.hpp"

namespace corro::lab {

struct corro_backend {
    std::string subject;  ///< "corro_epoll" and so on
    io::backend_kind kind;
};

/// Each backend that a context can really be made of, here and now.
[[nodiscard]] std::vector<corro_backend> corro_backends();

}  // namespace corro::lab
