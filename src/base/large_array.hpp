// A fixed array that is initialised, and with that touched, when it is made.
//
// First touches are paid at construction, not in the middle of a trading day.
//
// Limits: T is trivially copyable; every element starts as T{}.
// Cost:   one allocation at construction, of large pages when it is large (base/raw_array.hpp).
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>

#include "base/raw_array.hpp"

namespace corro::base {

template <class T>
class large_array {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
    explicit large_array(std::size_t size) : size_(size), memory_(make_raw_array<T>(size)) {
        std::uninitialized_value_construct_n(memory_.get(), size);
    }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return memory_.get()[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return memory_.get()[i]; }
    [[nodiscard]] T* data() noexcept { return memory_.get(); }

 private:
    std::size_t size_;
    raw_array<T> memory_;
};

}  // namespace corro::base
