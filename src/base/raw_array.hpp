// Aligned memory for a fixed number of elements, without constructing any of them. What rings and pools stand on.
//
// Cost: one allocation at construction; pages are not touched.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "base/cache_line.hpp"

namespace corro::base {

/// Releases what `make_raw_array<T>` allocated; destroys no element.
template <class T>
struct raw_array_deleter {
    static constexpr std::align_val_t alignment{std::max(alignof(T), interference_bytes)};
    void operator()(T* memory) const noexcept { ::operator delete(static_cast<void*>(memory), alignment); }
};

template <class T>
using raw_array = std::unique_ptr<T, raw_array_deleter<T>>;

/// Memory for `count` elements of T that begins on a border of interference and whose size is rounded up to one, so
/// that it shares no cache line with anything else. The memory is not initialised.
template <class T>
[[nodiscard]] raw_array<T> make_raw_array(std::size_t count) {
    const std::size_t bytes = (count * sizeof(T) + interference_bytes - 1) / interference_bytes * interference_bytes;
    return raw_array<T>{static_cast<T*>(::operator new(bytes, raw_array_deleter<T>::alignment))};
}

}  // namespace corro::base
