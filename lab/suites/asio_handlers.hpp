// SPDX-License-Identifier: Apache-2.0
// Recycled memory for Asio's handlers: what an expert's associated allocator takes it from.
//
// Threads: one context.
#pragma once

#include <array>
#include <cstddef>

#include "lab/suites/asio_sockets.hpp"

namespace corro::lab::CORRO_LAB_ASIO {

/// Memory for the one handler that is under way in one direction.
class handler_memory {
 public:
    void* allocate(std::size_t size) {
        if (used_ || size > bytes_.size()) return ::operator new(size);
        used_ = true;
        return bytes_.data();
    }
    void deallocate(void* what) noexcept {
        if (what == bytes_.data()) {
            used_ = false;
        } else {
            ::operator delete(what);
        }
    }

 private:
    alignas(std::max_align_t) std::array<std::byte, 512> bytes_;
    bool used_ = false;
};

template <class T>
struct handler_allocator {
    using value_type = T;
    explicit handler_allocator(handler_memory& m) noexcept : memory(&m) {}
    template <class U>
    handler_allocator(const handler_allocator<U>& other) noexcept : memory(other.memory) {}  // NOLINT: converts
    T* allocate(std::size_t n) { return static_cast<T*>(memory->allocate(n * sizeof(T))); }
    void deallocate(T* what, std::size_t) noexcept { memory->deallocate(what); }
    friend bool operator==(const handler_allocator& a, const handler_allocator& b) noexcept {
        return a.memory == b.memory;
    }
    handler_memory* memory;
};

void implement_venue(registry& into);

}  // namespace corro::lab::CORRO_LAB_ASIO
