// SPDX-License-Identifier: Apache-2.0
#include "io/process/error_output.hpp"

#include <poll.h>
#include <unistd.h>

namespace corro::io {

void write_error_output(std::string_view line) noexcept {
    pollfd out{STDERR_FILENO, POLLOUT, 0};
    if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return;
    static_cast<void>(!::write(STDERR_FILENO, line.data(), line.size()));
}

}  // namespace corro::io
