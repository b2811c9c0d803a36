// SPDX-License-Identifier: Apache-2.0
// Bytes on their way to one peer: a bounded first-in first-out buffer whose reservations are contiguous.
//
// A message is written in place, in one piece, and leaves in as few system calls as possible. When the end of the
// memory is too short for the next message the buffer wraps early and remembers where the valid bytes end.
//
// Limits: the capacity given at construction. A reservation that does not fit fails, and the caller decides what to do.
// Cost: one allocation at construction, unless the memory is given; pages are touched only when used.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "base/assert.hpp"

namespace corro::base {

class byte_queue {
 public:
    explicit byte_queue(std::size_t capacity_bytes)
        : owned_(std::make_unique_for_overwrite<std::byte[]>(capacity_bytes)),
          bytes_(owned_.get()),
          capacity_(capacity_bytes) {}
    /// Uses memory of the caller, which must outlive the queue.
    explicit byte_queue(std::span<std::byte> memory) noexcept : bytes_(memory.data()), capacity_(memory.size()) {}

    /// Contiguous space for `size` bytes, to be filled and committed; empty when there is none.
    [[nodiscard]] std::span<std::byte> reserve(std::size_t size) noexcept {
        if (tail_ >= head_) {
            if (capacity_ - tail_ >= size) return {bytes_ + tail_, size};
            // One byte stays free between tail and head, so that full and empty differ.
            if (head_ <= size) return {};
            end_ = tail_;
            tail_ = 0;
            return {bytes_, size};
        }
        if (head_ - tail_ <= size) return {};
        return {bytes_ + tail_, size};
    }

    /// Makes the first `size` bytes of the last reservation readable.
    void commit(std::size_t size) noexcept {
        tail_ += size;
        if (tail_ > end_) end_ = tail_;
        CORRO_ASSERT(tail_ <= capacity_);
    }

    /// The oldest readable bytes that are contiguous. They stay in place until consumed, also when more is reserved.
    [[nodiscard]] std::span<const std::byte> readable() noexcept {
        if (head_ > tail_ && head_ == end_) {  // the part before the wrap is used up
            head_ = 0;
            end_ = tail_;
        }
        return {bytes_ + head_, (tail_ >= head_ ? tail_ : end_) - head_};
    }

    /// Frees the first `size` readable bytes.
    void consume(std::size_t size) noexcept {
        head_ += size;
        CORRO_ASSERT(head_ <= end_);
        if (head_ == tail_) head_ = tail_ = end_ = 0;
    }

    [[nodiscard]] bool empty() noexcept { return readable().empty(); }
    void clear() noexcept { head_ = tail_ = end_ = 0; }

 private:
    std::unique_ptr<std::byte[]> owned_;
    std::byte* bytes_;
    std::size_t capacity_;
    std::size_t head_ = 0;  ///< first readable byte
    std::size_t tail_ = 0;  ///< first free byte
    std::size_t end_ = 0;   ///< end of the readable bytes before the wrap; tail_ when not wrapped
};

}  // namespace corro::base
