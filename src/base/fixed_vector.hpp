// SPDX-License-Identifier: Apache-2.0
// A vector whose elements live inside it: no allocation, a capacity known at compile time.
//
// Limits: `Capacity` elements. `push_back` beyond it is a bug (asserted); `try_push_back` returns false instead.
// Cost:   trivially copyable when T is. Elements never move except by `erase` and by moving the whole vector.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/assert.hpp"

namespace corro::base {

template <class T, std::size_t Capacity>
class fixed_vector {
    static_assert(Capacity > 0);
    static constexpr bool trivial = std::is_trivially_copyable_v<T>;

 public:
    using value_type = T;
    using iterator = T*;
    using const_iterator = const T*;

    fixed_vector() noexcept = default;
    /// Copies `values`, at most `Capacity` of them (asserted).
    fixed_vector(std::initializer_list<T> values) { append(std::span<const T>{values.begin(), values.size()}); }

    fixed_vector(const fixed_vector&)
        requires trivial
    = default;
    fixed_vector(const fixed_vector& other) { append(other); }
    fixed_vector(fixed_vector&&)
        requires trivial
    = default;
    fixed_vector(fixed_vector&& other) noexcept(std::is_nothrow_move_constructible_v<T>) { take(other); }
    fixed_vector& operator=(const fixed_vector&)
        requires trivial
    = default;
    fixed_vector& operator=(const fixed_vector& other) {
        if (this != &other) {
            clear();
            append(other);
        }
        return *this;
    }
    fixed_vector& operator=(fixed_vector&&)
        requires trivial
    = default;
    fixed_vector& operator=(fixed_vector&& other) noexcept(std::is_nothrow_move_constructible_v<T>) {
        if (this != &other) {
            clear();
            take(other);
        }
        return *this;
    }
    ~fixed_vector()
        requires std::is_trivially_destructible_v<T>
    = default;
    ~fixed_vector() { clear(); }

    [[nodiscard]] static constexpr std::size_t capacity() noexcept { return Capacity; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] bool full() const noexcept { return size_ == Capacity; }

    [[nodiscard]] T* data() noexcept { return std::launder(reinterpret_cast<T*>(storage_.data())); }
    [[nodiscard]] const T* data() const noexcept { return std::launder(reinterpret_cast<const T*>(storage_.data())); }
    [[nodiscard]] iterator begin() noexcept { return data(); }
    [[nodiscard]] iterator end() noexcept { return data() + size_; }
    [[nodiscard]] const_iterator begin() const noexcept { return data(); }
    [[nodiscard]] const_iterator end() const noexcept { return data() + size_; }

    /// Indices are asserted.
    [[nodiscard]] T& operator[](std::size_t index) noexcept {
        CORRO_ASSERT(index < size_);
        return data()[index];
    }
    [[nodiscard]] const T& operator[](std::size_t index) const noexcept {
        CORRO_ASSERT(index < size_);
        return data()[index];
    }
    [[nodiscard]] T& front() noexcept { return (*this)[0]; }
    [[nodiscard]] const T& front() const noexcept { return (*this)[0]; }
    [[nodiscard]] T& back() noexcept { return (*this)[size_ - 1]; }
    [[nodiscard]] const T& back() const noexcept { return (*this)[size_ - 1]; }

    /// Constructs an element at the end; the vector must not be full (asserted).
    template <class... Arguments>
    T& emplace_back(Arguments&&... arguments) {
        CORRO_ASSERT(size_ < Capacity, "the fixed vector is full");
        T* const element =
            std::construct_at(reinterpret_cast<T*>(storage_.data()) + size_, std::forward<Arguments>(arguments)...);
        ++size_;
        return *element;
    }
    T& push_back(const T& value) { return emplace_back(value); }
    T& push_back(T&& value) { return emplace_back(std::move(value)); }

    /// Appends a copy, or returns false when the vector is full.
    [[nodiscard]] bool try_push_back(const T& value) {
        if (full()) return false;
        emplace_back(value);
        return true;
    }

    /// Appends copies of `values`, which must fit (asserted). `values` may not lie in this vector.
    void append(std::span<const T> values) {
        CORRO_ASSERT(values.size() <= Capacity - size_, "the fixed vector is full");
        for (const T& value : values) emplace_back(value);
    }

    void pop_back() noexcept {
        CORRO_ASSERT(size_ != 0);
        --size_;
        std::destroy_at(data() + size_);
    }

    /// Removes the element at `position` and moves the elements behind it forward. Returns the position of the next
    /// one.
    iterator erase(const_iterator position) noexcept(std::is_nothrow_move_assignable_v<T>) {
        const auto index = static_cast<std::size_t>(position - begin());
        CORRO_ASSERT(index < size_);
        std::move(begin() + index + 1, end(), begin() + index);
        pop_back();
        return begin() + index;
    }

    /// Removes the element at `index` by moving the last one into its place: O(1), changes the order.
    void swap_remove(std::size_t index) noexcept(std::is_nothrow_move_assignable_v<T>) {
        CORRO_ASSERT(index < size_);
        if (index != size_ - 1) data()[index] = std::move(back());
        pop_back();
    }

    void clear() noexcept {
        std::destroy(begin(), end());
        size_ = 0;
    }

    operator std::span<T>() noexcept { return {data(), size_}; }
    operator std::span<const T>() const noexcept { return {data(), size_}; }

    friend bool operator==(const fixed_vector& a, const fixed_vector& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end());
    }

 private:
    void take(fixed_vector& other) {
        for (T& value : other) emplace_back(std::move(value));
        other.clear();
    }

    alignas(T) std::array<std::byte, sizeof(T) * Capacity> storage_;
    std::size_t size_ = 0;
};

}  // namespace corro::base
