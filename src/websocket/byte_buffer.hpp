// SPDX-License-Identifier: Apache-2.0
// A growing buffer of bytes with a limit; new space is not cleared.
//
// Limits:  given with each growth. `capacity` is the allocated memory.
// Threads: one.
// Cost:    doubles when it is full.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>

namespace corro::websocket {

class byte_buffer {
 public:
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {bytes_.get(), size_}; }
    [[nodiscard]] std::span<std::byte> room() noexcept { return {bytes_.get() + size_, capacity_ - size_}; }

    /// Makes space for at least `more` bytes; grows to at most `limit`, which must suffice.
    void reserve(std::size_t more, std::size_t limit) {
        if (capacity_ - size_ >= more) return;
        const std::size_t wanted =
            std::max({size_ + more, std::min(capacity_ * 2, limit), std::min<std::size_t>(256, limit)});
        auto larger = std::make_unique_for_overwrite<std::byte[]>(wanted);
        if (size_ != 0) std::memcpy(larger.get(), bytes_.get(), size_);
        bytes_ = std::move(larger);
        capacity_ = wanted;
    }
    void append(std::span<const std::byte> more, std::size_t limit) {
        if (more.empty()) return;
        reserve(more.size(), limit);
        std::memcpy(bytes_.get() + size_, more.data(), more.size());
        size_ += more.size();
    }
    /// Adds bytes that were written to `room`.
    void grow(std::size_t by) noexcept { size_ += by; }
    void remove_front(std::size_t count) noexcept {
        if (count == 0) return;
        std::memmove(bytes_.get(), bytes_.get() + count, size_ - count);
        size_ -= count;
    }
    /// Empties it; releases memory beyond `kept` bytes.
    void clear(std::size_t kept) noexcept {
        size_ = 0;
        if (capacity_ <= kept) return;
        bytes_.reset();
        capacity_ = 0;
    }

 private:
    std::unique_ptr<std::byte[]> bytes_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace corro::websocket
