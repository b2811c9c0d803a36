// SPDX-License-Identifier: Apache-2.0
// Bytes in the order in which they came.
//
// Threads: one.
// Cost:    amortised one copy in and one out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace corro::sim {

class byte_queue {
 public:
    [[nodiscard]] bool empty() const noexcept { return head_ == bytes_.size(); }
    [[nodiscard]] std::size_t size() const noexcept { return bytes_.size() - head_; }

    void add(std::span<const std::byte> more) { bytes_.insert(bytes_.end(), more.begin(), more.end()); }

    /// The oldest bytes. @pre It has `count`.
    [[nodiscard]] std::span<const std::byte> front(std::size_t count) const noexcept {
        return std::span(bytes_).subspan(head_, count);
    }

    /// Moves at most `room` bytes to `into`. @return How many.
    std::size_t take(std::byte* into, std::size_t room) {
        const std::size_t count = std::min(room, size());
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(head_), count, into);
        drop(count);
        return count;
    }

    /// Removes the oldest bytes. @pre It has `count`.
    void drop(std::size_t count) {
        head_ += count;
        if (head_ == bytes_.size()) {
            clear();
        } else if (head_ > bytes_.size() / 2) {
            bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(head_));
            head_ = 0;
        }
    }

    void clear() noexcept {
        bytes_.clear();
        head_ = 0;
    }

 private:
    std::vector<std::byte> bytes_;
    std::size_t head_ = 0;
};

}  // namespace corro::sim
