// SPDX-License-Identifier: Apache-2.0
#include "lab/suites/corro_backends.hpp"

#include <fmt/format.h>

#include <system_error>

#include "io/loop/machine.hpp"

#if defined(CORRO_LAB_BOOST_ASIO)
#include "io/backends/asio/asio_backend.hpp"
#endif

namespace corro::lab {

namespace {

void add_usable(std::vector<corro_backend>& into, io::platform* kind) {
    try {
        const io::context probe{io::context_options(*kind)};
        into.push_back({fmt::format("corro_{}", probe.backend_name()), kind});
    } catch (const std::system_error&) {
        // The kernel lacks or forbids it: no subject.
    }
}

}  // namespace

std::vector<corro_backend> corro_backends() {
    std::vector<corro_backend> usable;
    add_usable(usable, &io::epoll_platform());
    add_usable(usable, &io::uring_platform());
    return usable;
}

std::vector<corro_backend> corro_backends_and_asio() {
    std::vector<corro_backend> usable = corro_backends();
#if defined(CORRO_LAB_BOOST_ASIO)
    add_usable(usable, &io::asio::asio_platform());
#endif
    return usable;
}

}  // namespace corro::lab
