#include "process.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

namespace corro::app {

void raise_descriptor_limit() noexcept {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    static_cast<void>(setrlimit(RLIMIT_NOFILE, &limit));  // the old limit is a limit as well
}

void keep_files_from_others() noexcept {
    constexpr mode_t taken = S_IWGRP | S_IRWXO;
    ::umask(::umask(taken) | taken);
}

}  // namespace corro::app
