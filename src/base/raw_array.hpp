// SPDX-License-Identifier: Apache-2.0
// Aligned memory for a fixed number of elements, without constructing any of them. The storage of rings, pools and
// arrays.
//
// Memory of 2 MiB or more is aligned to 2 MiB and asks the operating system for large pages: random accesses to
// records would otherwise miss the translation buffer before they miss the cache.
//
// Cost: one allocation, rounded up to 2 MiB from that size on and to 128 bytes below; pages are not touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "base/cache_line.hpp"

namespace corro::base {

inline constexpr std::size_t large_page_bytes = std::size_t{1} << 21;

/// Asks the operating system for large pages for [memory, memory + bytes). Does nothing where it has none.
void advise_large_pages(void* memory, std::size_t bytes) noexcept;

/// Asks the operating system for small pages there, so that one element that is used does not occupy a large page.
/// `memory` is aligned to 4,096 bytes. Does nothing where the system has no large pages.
void advise_small_pages(void* memory, std::size_t bytes) noexcept;

/// Memory of zeros: from the operating system itself where it is large, so that nothing is written before it is used.
/// An allocator would clear memory that was freed and is allocated again.
struct zeroed_memory_releaser {
    void operator()(std::byte* memory) const noexcept;
};
using zeroed_memory = std::unique_ptr<std::byte, zeroed_memory_releaser>;

/// Aligned to 16 bytes. Null where there is not enough memory.
[[nodiscard]] zeroed_memory make_zeroed_memory(std::size_t bytes) noexcept;

/// Releases what `make_raw_array` allocated; destroys no element.
struct raw_array_deleter {
    std::align_val_t alignment{};
    void operator()(auto* memory) const noexcept { ::operator delete(static_cast<void*>(memory), alignment); }
};

template <class T>
using raw_array = std::unique_ptr<T, raw_array_deleter>;

/// Uninitialised memory for `count` elements of T. It shares no cache line, nor an adjacent one, with anything else.
template <class T>
[[nodiscard]] raw_array<T> make_raw_array(std::size_t count) {
    const std::size_t wanted = count * sizeof(T);
    const std::size_t unit =
        wanted >= large_page_bytes ? large_page_bytes : std::max<std::size_t>(alignof(T), interference_bytes);
    const std::size_t bytes = (wanted + unit - 1) / unit * unit;
    const std::align_val_t alignment{unit};
    void* const memory = ::operator new(bytes, alignment);
    if (unit == large_page_bytes) advise_large_pages(memory, bytes);
    return {static_cast<T*>(memory), raw_array_deleter{alignment}};
}

}  // namespace corro::base
