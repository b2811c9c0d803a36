#include "lab/suites/corro_backends.hpp"

#include <fmt/format.h>

#include <system_error>

namespace corro::lab {

std::vector<corro_backend> corro_backends() {
    std::vector<corro_backend> usable;
    for (const io::backend_kind kind : {io::backend_kind::epoll, io::backend_kind::uring}) {
        try {
            const io::context probe{io::context_options(kind)};
            usable.push_back({fmt::format("corro_{}", probe.backend_name()), kind});
        } catch (const std::system_error&) {
            // The kernel lacks or forbids it: no subject.
        }
    }
    return usable;
}

}  // namespace corro::lab
