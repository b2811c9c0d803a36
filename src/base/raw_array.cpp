// SPDX-License-Identifier: Apache-2.0
#include "base/raw_array.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace corro::base {

void advise_large_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    static_cast<void>(madvise(memory, bytes, MADV_HUGEPAGE));  // advice only; without huge pages the program is slower
#endif
}

void advise_small_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_NOHUGEPAGE)
    static_cast<void>(madvise(memory, bytes, MADV_NOHUGEPAGE));  // advice only; without it more memory is occupied
#endif
}

}  // namespace corro::base
