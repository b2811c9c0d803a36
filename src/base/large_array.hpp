// A fixed array that is initialised and touched when it is made, and that asks for large pages when it is large.
//
// A pool of a million records is reached at random; with pages of 4 KiB every access would miss the translation buffer
// before it misses the cache. First touches are paid at construction, not in the middle of a trading day.
//
// Limits: T is trivially copyable; every element starts as T{}.
// Cost:   one allocation at construction, rounded up to 2 MiB from that size on.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "base/assert.hpp"

namespace corro::base {

/// Tells the operating system that [memory, memory + bytes) is reached at random. Does nothing where it cannot help.
void advise_large_pages(void* memory, std::size_t bytes) noexcept;

template <class T>
class large_array {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
    explicit large_array(std::size_t size) : size_(size), memory_(allocate(size)) {
        std::uninitialized_value_construct_n(memory_.get(), size);
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return memory_.get()[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return memory_.get()[i]; }
    [[nodiscard]] T* data() noexcept { return memory_.get(); }

 private:
    static constexpr std::size_t large_page_bytes = std::size_t{1} << 21;
    static constexpr std::size_t cache_line = 64;

    struct deleter {
        std::align_val_t alignment{};
        void operator()(T* memory) const noexcept { ::operator delete(static_cast<void*>(memory), alignment); }
    };
    static std::unique_ptr<T, deleter> allocate(std::size_t size) {
        static_assert(alignof(T) <= cache_line);
        const std::size_t unit = size * sizeof(T) >= large_page_bytes ? large_page_bytes : cache_line;
        const std::size_t bytes = (size * sizeof(T) + unit - 1) / unit * unit;
        const std::align_val_t alignment{unit};
        void* memory = ::operator new(bytes, alignment);
        if (unit == large_page_bytes) advise_large_pages(memory, bytes);
        return {static_cast<T*>(memory), deleter{alignment}};
    }

    std::size_t size_;
    std::unique_ptr<T, deleter> memory_;
};

}  // namespace corro::base
