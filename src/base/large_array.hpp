// SPDX-License-Identifier: Apache-2.0
// A fixed array of zeros, whose pages are touched at construction or when they are needed.
//
// The operating system supplies the zeros, so that an array that is little used occupies little memory. By default
// every page is touched at construction: page faults happen there, not in the middle of a trading day. An array of
// which only a part is used (base/page_touch.hpp) has that part touched.
//
// Limits: T is trivially copyable; every element starts with all bits zero, whatever its member initialisers are.
// Cost:   one allocation at construction, of large pages when it is large (base/raw_array.hpp), unless few elements are
//         used. The first use of an untouched page costs a page fault, and the time to clear the page: 4 KiB or 2 MiB.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "base/assert.hpp"
#include "base/page_touch.hpp"
#include "base/raw_array.hpp"

namespace corro::base {

template <class T>
class large_array {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
    explicit large_array(std::size_t size, page_touch touch = page_touch::yes, array_use use = array_use::every_element)
        : size_(size) {
        const std::size_t wanted = size * sizeof(T);
        const bool is_small = use == array_use::few_elements || touch == page_touch::small_pages;
        const std::size_t large_unit = is_small ? small_page_bytes : large_page_bytes;
        const std::size_t unit =
            wanted >= large_page_bytes ? large_unit : std::max<std::size_t>(alignof(T), interference_bytes);
        const std::size_t bytes = (wanted + unit - 1) / unit * unit;
        // It is not aligned to a large page, hence the extra unit.
        allocated_ = make_zeroed_memory(bytes + unit);
        std::byte* const memory = allocated_.get();
        CORRO_ASSERT(memory != nullptr, "not enough memory for the configured capacities");
        elements_ = reinterpret_cast<T*>(memory + (unit - reinterpret_cast<std::uintptr_t>(memory) % unit) % unit);
        if (unit == large_page_bytes) advise_large_pages(elements_, bytes);
        if (unit == small_page_bytes) advise_small_pages(elements_, bytes);
        if (touch != page_touch::yes || use == array_use::few_elements) return;
        this->touch(0, use == array_use::first_elements ? size / first_elements_divisor : size);
    }
    /// Touches the pages of `count` elements from `first` on, which are not used yet.
    void touch(std::size_t first, std::size_t count) noexcept { touch_pages(elements_ + first, count * sizeof(T)); }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return elements_[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return elements_[i]; }
    [[nodiscard]] T* data() noexcept { return elements_; }

 private:
    std::size_t size_;
    T* elements_;
    zeroed_memory allocated_;
};

}  // namespace corro::base
