// How much memory a test's process has in use. For tests only: it asks the system.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace corro::base {

/// Bytes of this process that are in memory; 0 where nobody says.
[[nodiscard]] inline std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all_pages = 0;
    std::size_t resident_pages = 0;
    file >> all_pages >> resident_pages;
    return resident_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace corro::base
