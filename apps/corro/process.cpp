#include "process.hpp"

#include <sys/resource.h>

namespace corro::app {

void raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // the old limit is a limit as well
}

}  // namespace corro::app
