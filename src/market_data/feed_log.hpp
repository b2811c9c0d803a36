// SPDX-License-Identifier: Apache-2.0
// The recent messages of the feed: each once, already framed, for any number of subscribers.
//
// A message is encoded once, behind its SoupBinTCP header, and every subscriber's data is sent directly from here;
// subscribers differ only by a position. When the memory is used up the oldest messages are overwritten.
//
// Layout: a circular array of bytes plus slack for one message, so that a message is always written in one piece and
// then
//         folded around the end. Positions count bytes since the beginning of the feed and never wrap.
// Limits: the capacity given at construction, a power of two; one message is at most `message_bytes_max`.
// Cost: no allocation after construction, and no page fault when its pages are touched then; finding a sequence number
//       walks at most `index_every` messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/page_touch.hpp"
#include "base/raw_array.hpp"

namespace corro::market_data {

class feed_log {
 public:
    static constexpr std::size_t message_bytes_max = 512;
    static constexpr std::uint64_t index_every = 64;

    /// `capacity_bytes` is rounded up to a power of two, at least 4 KiB.
    explicit feed_log(std::size_t capacity_bytes, base::page_touch touch = base::page_touch::no);

    /// Begins in the middle of a feed: the first message will have this number. Readers can begin with the next message
    /// whose number is one more than a multiple of index_every. @pre Nothing was appended (asserted).
    void begin_at(std::uint64_t sequence) noexcept;

    /// Space for the next packet, of message_bytes_max bytes. Overwrites the oldest messages: after the next commit
    /// positions below the new `first_position()` must not be read any more.
    [[nodiscard]] std::span<std::byte> reserve() noexcept;

    /// Appends the first `size` bytes of the reservation as one packet.
    void commit(std::size_t size) noexcept;

    /// The number of the next message; the first message has 1, or the number of `begin_at`.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }

    /// The oldest sequence number that is still available.
    [[nodiscard]] std::uint64_t first_sequence() const noexcept;

    /// The position behind the last message.
    [[nodiscard]] std::uint64_t end_position() const noexcept { return end_; }

    /// Whether the bytes from `position` on are still available.
    [[nodiscard]] bool has(std::uint64_t position) const noexcept { return position >= oldest_position(); }

    /// The position of message `sequence`; `first_sequence() <= sequence <= next_sequence()`.
    [[nodiscard]] std::uint64_t position_of(std::uint64_t sequence) const noexcept;

    /// Whole packets and parts of packets from `position` on, contiguous in memory, at most `limit_bytes`; empty at the
    /// end. The caller must not be further behind than the capacity less one message.
    [[nodiscard]] std::span<const std::byte> bytes_from(std::uint64_t position, std::size_t limit_bytes) const noexcept;

    /// The whole packet that begins at `position`, in one piece; empty at the end. The caller must not be further
    /// behind than the capacity less one message.
    [[nodiscard]] std::span<const std::byte> packet_at(std::uint64_t position) const noexcept;

    [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_; }

 private:
    [[nodiscard]] std::size_t packet_bytes(std::uint64_t position) const noexcept;
    [[nodiscard]] std::size_t fold(std::uint64_t position) const noexcept {
        return static_cast<std::size_t>(position) & (capacity_ - 1);
    }
    [[nodiscard]] std::uint64_t oldest_position() const noexcept {
        // Keeps the space of one message free, where the next reservation writes.
        const std::uint64_t reach = capacity_ - message_bytes_max;
        return end_ > reach ? end_ - reach : 0;
    }

    std::size_t capacity_;
    base::raw_array<std::byte> bytes_;
    std::vector<std::uint64_t> index_;  ///< position of every index_every-th message, circular
    std::uint64_t end_ = 0;
    std::uint64_t next_sequence_ = 1;
    std::uint64_t begin_sequence_ = 1;  ///< of the first message ever
};

}  // namespace corro::market_data
