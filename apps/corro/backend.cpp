// SPDX-License-Identifier: Apache-2.0
#include "backend.hpp"

#include "io/loop/machine.hpp"
#ifdef CORRO_WITH_ASIO
#include "io/backends/asio/asio_backend.hpp"
#endif

namespace corro::app {

std::vector<std::string> backend_names() {
    std::vector<std::string> names{"auto", "epoll", "uring"};
#ifdef CORRO_WITH_ASIO
    names.emplace_back("asio");
#endif
    return names;
}

io::platform& platform_named(const std::string& name) {
    if (name == "epoll") return io::epoll_platform();
    if (name == "uring") return io::uring_platform();
#ifdef CORRO_WITH_ASIO
    if (name == "asio") return io::asio::asio_platform();
#endif
    return io::default_platform();
}

}  // namespace corro::app
