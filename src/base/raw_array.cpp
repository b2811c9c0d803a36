// SPDX-License-Identifier: Apache-2.0
#include "base/raw_array.hpp"

#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace corro::base {
namespace {

// A mapping costs two system calls and whole pages.
constexpr std::size_t mapped_bytes_min = 128 * 1024;

/// In front of zeroed memory.
struct alignas(16) origin {
    std::size_t mapped_bytes;  // 0: from the allocator
};

void* map_or_allocate(std::size_t bytes) noexcept {
#if defined(__linux__)
    if (bytes >= mapped_bytes_min) {
        void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) return nullptr;
        ::new (memory) origin{bytes};
        return memory;
    }
#endif
    return std::calloc(bytes, 1);
}

}  // namespace

zeroed_memory make_zeroed_memory(std::size_t bytes) noexcept {
    void* const memory = map_or_allocate(bytes + sizeof(origin));
    return zeroed_memory(memory == nullptr ? nullptr : static_cast<std::byte*>(memory) + sizeof(origin));
}

void zeroed_memory_releaser::operator()(std::byte* memory) const noexcept {
    void* const whole = memory - sizeof(origin);
#if defined(__linux__)
    if (const std::size_t bytes = static_cast<const origin*>(whole)->mapped_bytes; bytes != 0) {
        munmap(whole, bytes);
        return;
    }
#endif
    std::free(whole);
}

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
