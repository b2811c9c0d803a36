// SPDX-License-Identifier: Apache-2.0
// Merges several unreliable copies of one sequence: lines A and B of a feed, and retransmissions.
//
// Messages enter with their numbers, from any line; each leaves once, in order. A message that comes too early is
// held until the ones before it have come. Missing messages can be listed, and given up.
//
// Limits: holds messages up to `window` numbers ahead, each at most `message_bytes_max`.
// Threads: none of its own.
// Cost: memory for the whole window at construction, no allocation later; a message in order is not copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/assert.hpp"

namespace corro::feed {
/// What happened to a message.
enum class arrival : std::uint8_t {
    delivered,  ///< with all held messages that follow it
    held,       ///< an earlier one is missing
    duplicate,  ///< received before
    too_early,  ///< beyond the window, or too large to hold: not kept
};

/// Messages `first` to `first + count - 1`.
struct missing_range {
    std::uint64_t first = 0;  ///< the number of the first
    std::uint64_t count = 0;  ///< at least one
};

class line_merger {
 public:
    static constexpr std::size_t message_bytes_max = 512;  ///< of a held message

    /// @param next    The number of the first message, from 1.
    /// @param window  A power of two.
    explicit line_merger(std::uint64_t next, std::uint32_t window = 4'096)
        : next_(next),
          end_(next),
          sizes_(window, absent),
          bytes_(std::make_unique_for_overwrite<std::byte[]>(window * message_bytes_max)) {
        CORRO_ASSERT(next != 0 && window != 0 && (window & (window - 1)) == 0);
    }

    /// Takes a message from any line; calls `sink(sequence, message)` for each that is now in order.
    template <class Sink>
    arrival take(std::uint64_t sequence, std::span<const std::byte> message, Sink&& sink) {
        note(sequence + 1);
        if (sequence < next_) return arrival::duplicate;
        if (sequence != next_) return hold(sequence, message);
        // A held copy is the same message.
        sizes_[slot(sequence)] = absent;
        sink(next_++, message);
        deliver(sink);
        return arrival::delivered;
    }

    /// A heartbeat: the sender's next message will be `next`, so all before it exist.
    void note(std::uint64_t next) noexcept {
        if (next > end_) end_ = next;
    }

    /// The first range of missing messages from `from` on; nothing when none is missing.
    [[nodiscard]] std::optional<missing_range> missing(std::uint64_t from = 0) const noexcept {
        std::uint64_t first = from > next_ ? from : next_;
        while (first < end_ && is_held(first)) ++first;
        if (first >= end_) return std::nullopt;
        // Nothing is held beyond the window, however far ahead the sender claims to be.
        const std::uint64_t window_end = next_ + sizes_.size();
        std::uint64_t end = first + 1;
        while (end < end_ && end < window_end && !is_held(end)) ++end;
        if (end >= window_end) end = end_;
        return missing_range{first, end - first};
    }

    /// The number of the next message to leave.
    [[nodiscard]] std::uint64_t next() const noexcept { return next_; }
    /// One more than the highest known number.
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    /// Whether more messages are missing than the window can bridge.
    [[nodiscard]] bool is_overrun() const noexcept { return end_ - next_ > sizes_.size(); }

 private:
    static constexpr std::uint16_t absent = 0xFFFF;
    static_assert(message_bytes_max < absent);

    [[nodiscard]] std::size_t slot(std::uint64_t sequence) const noexcept {
        return static_cast<std::size_t>(sequence) & (sizes_.size() - 1);
    }
    [[nodiscard]] bool is_held(std::uint64_t sequence) const noexcept {
        return sequence - next_ < sizes_.size() && sizes_[slot(sequence)] != absent;
    }
    [[nodiscard]] std::byte* room(std::uint64_t sequence) const noexcept {
        return bytes_.get() + slot(sequence) * message_bytes_max;
    }

    arrival hold(std::uint64_t sequence, std::span<const std::byte> message) noexcept {
        if (sequence - next_ >= sizes_.size() || message.size() > message_bytes_max) return arrival::too_early;
        std::uint16_t& size = sizes_[slot(sequence)];
        if (size != absent) return arrival::duplicate;
        size = static_cast<std::uint16_t>(message.size());
        if (!message.empty()) std::memcpy(room(sequence), message.data(), message.size());
        return arrival::held;
    }

    template <class Sink>
    void deliver(Sink&& sink) {
        while (next_ != end_ && is_held(next_)) {
            std::uint16_t& size = sizes_[slot(next_)];
            const std::span<const std::byte> message(room(next_), size);
            size = absent;
            sink(next_++, message);
        }
    }

    std::uint64_t next_;
    std::uint64_t end_;
    std::vector<std::uint16_t> sizes_;  ///< of the held messages, by slot; `absent` for none
    std::unique_ptr<std::byte[]> bytes_;
};

}  // namespace corro::feed
