// SPDX-License-Identifier: Apache-2.0
// Input that arrives in pieces, as one run of bytes: the input of the decoders of recorded files.
//
// Pieces are used in place. Only bytes that straddle two of them are copied, into a buffer that grows to the largest
// `peek`.
//
// Threads: one. Cost: no allocation once the buffer has its size; a piece is never copied as a whole.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"

namespace corro::recorded {

class byte_feed {
 public:
    /// Adds the next piece. The one before must be used up: `peek` has returned nothing. `piece` must stay valid until
    /// `peek` returns nothing again.
    void feed(std::span<const std::byte> piece) noexcept {
        CORRO_ASSERT(piece_.empty() && !finished_, "feed may be called only when the decoder needs more");
        piece_ = piece;
    }

    /// Marks the end of the input.
    void finish() noexcept { finished_ = true; }
    [[nodiscard]] bool finished() const noexcept { return finished_; }

    /// The next `size` bytes, which stay in front until `drop`; empty when fewer have arrived. `size` is at least 1,
    /// and must not shrink between two calls without a `drop`. The view is valid until the next call.
    [[nodiscard]] std::span<const std::byte> peek(std::size_t size) noexcept {
        if (held_.empty() && piece_.size() >= size) [[likely]]
            return piece_.first(size);
        return gather(size);
    }

    /// Removes the bytes of the last `peek`.
    void drop(std::size_t size) noexcept {
        if (held_.empty()) {
            piece_ = piece_.subspan(size);
        } else {
            CORRO_ASSERT(size == held_.size());
            held_.clear();  // keeps the bytes in place until the next peek, as promised
        }
        offset_ += size;
    }

    /// As `drop`, and returns the bytes.
    [[nodiscard]] std::vector<std::byte> take(std::size_t size) noexcept {
        offset_ += size;
        if (!held_.empty()) {
            CORRO_ASSERT(size == held_.size());
            return std::exchange(held_, {});
        }
        const auto front = piece_.first(size);
        piece_ = piece_.subspan(size);
        return {front.begin(), front.end()};
    }

    /// Bytes dropped so far: the offset of the front byte in the whole input.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    /// Bytes in front that have arrived.
    [[nodiscard]] std::size_t available() const noexcept { return held_.size() + piece_.size(); }

 private:
    [[nodiscard, gnu::noinline]] std::span<const std::byte> gather(std::size_t size) noexcept {
        if (held_.size() < size) {
            const std::size_t wanted = std::min(size - held_.size(), piece_.size());
            held_.insert(held_.end(), piece_.begin(), piece_.begin() + static_cast<std::ptrdiff_t>(wanted));
            piece_ = piece_.subspan(wanted);
        }
        if (held_.size() < size) return {};
        return held_;
    }

    /// The unread rest of the newest piece; it follows `held_`.
    std::span<const std::byte> piece_;
    /// The front of the input where it began in an earlier piece.
    std::vector<std::byte> held_;
    std::uint64_t offset_ = 0;
    bool finished_ = false;
};

}  // namespace corro::recorded
