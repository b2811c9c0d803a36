// A fixed array that begins as zeros, and whose pages are touched when it is made or when they are needed.
//
// Zeros come from the operating system, so that an array of which little is used costs what is used of it. By default
// every page is touched at construction: first touches are paid there, not in the middle of a trading day.
//
// Limits: T is trivially copyable; every element starts with all bits zero, whatever its member initialisers say.
// Cost:   one allocation at construction, of large pages when it is large (base/raw_array.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <type_traits>

#include "base/assert.hpp"
#include "base/page_touch.hpp"
#include "base/raw_array.hpp"

namespace corro::base {

template <class T>
class large_array {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
    explicit large_array(std::size_t size, page_touch touch = page_touch::yes) : size_(size) {
        const std::size_t wanted = size * sizeof(T);
        const std::size_t unit =
            wanted >= large_page_bytes ? large_page_bytes : std::max<std::size_t>(alignof(T), interference_bytes);
        const std::size_t bytes = (wanted + unit - 1) / unit * unit;
        // Unlike `operator new` this need not write the zeros when the memory comes from the system; it knows no
        // alignment as wide as a large page, hence the room in front.
        auto* const memory = static_cast<std::byte*>(std::calloc(bytes + unit, 1));
        CORRO_ASSERT(memory != nullptr, "the machine has no memory for what was configured");
        allocated_.reset(memory);
        elements_ = reinterpret_cast<T*>(memory + (unit - reinterpret_cast<std::uintptr_t>(memory) % unit) % unit);
        if (unit == large_page_bytes) advise_large_pages(elements_, bytes);
        if (touch == page_touch::yes) touch_pages(elements_, wanted);
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return elements_[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return elements_[i]; }
    [[nodiscard]] T* data() noexcept { return elements_; }

 private:
    struct releaser {
        void operator()(std::byte* memory) const noexcept { std::free(memory); }
    };

    std::size_t size_;
    T* elements_;
    std::unique_ptr<std::byte, releaser> allocated_;
};

}  // namespace corro::base
