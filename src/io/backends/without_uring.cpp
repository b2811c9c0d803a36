// SPDX-License-Identifier: Apache-2.0
// In place of uring_backend.cpp where the library is built without liburing: a context that may choose runs on epoll.
#include <system_error>

#include "io/backends/uring_backend.hpp"

namespace corro::io {

std::unique_ptr<backend> make_uring_backend() {
    throw std::system_error(std::make_error_code(std::errc::function_not_supported),
                            "this library was built without io_uring");
}

}  // namespace corro::io
