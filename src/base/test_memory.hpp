// SPDX-License-Identifier: Apache-2.0
// How much memory a test's process has in use. For tests only: it asks the system.
#pragma once

#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace corro::base {

/// Resident bytes of this process; 0 where the system does not report them.
[[nodiscard]] inline std::size_t resident_bytes() {
    std::ifstream file("/proc/self/statm");
    std::size_t all_pages = 0;
    std::size_t resident_pages = 0;
    file >> all_pages >> resident_pages;
    return resident_pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// What the allocator has given out, and what it has taken from the system for that.
struct heap_use {
    std::size_t given_bytes = 0;
    std::size_t taken_bytes = 0;
};

[[nodiscard]] inline heap_use heap_in_use() {
    const struct ::mallinfo2 now = ::mallinfo2();
    return {now.uordblks + now.hblkhd, now.arena + now.hblkhd};
}

}  // namespace corro::base
