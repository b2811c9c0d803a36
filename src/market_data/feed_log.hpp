// The feed's recent past: every message once, already framed, for as many subscribers as there are.
//
// A message is encoded a single time, behind its SoupBinTCP header, and every subscriber sends straight from here; what
// distinguishes one from another is only a position. When the memory is used up the oldest messages go.
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

    /// Begins in the middle of a feed: the first message will have this number. What can be asked for begins with the
    /// next message whose number is one more than a multiple of index_every. @pre Nothing was appended (asserted).
    void begin_at(std::uint64_t sequence) noexcept;

    /// Room for the next packet, message_bytes_max long. Overwrites the oldest messages: positions below
    /// `first_position()` as it is after the next commit must not be read any more.
    [[nodiscard]] std::span<std::byte> reserve() noexcept;

    /// Appends the first `size` bytes of the reservation as one packet.
    void commit(std::size_t size) noexcept;

    /// Number that the next message will have; the first message is 1 unless `begin_at` said otherwise.
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }

    /// The oldest sequence number that can still be asked for.
    [[nodiscard]] std::uint64_t first_sequence() const noexcept;

    /// Position behind the last message.
    [[nodiscard]] std::uint64_t end_position() const noexcept { return end_; }

    /// Where message `sequence` starts; `first_sequence() <= sequence <= next_sequence()`.
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
        // One message more than there is stays out of reach: the next reservation writes there.
        const std::uint64_t reach = capacity_ - message_bytes_max;
        return end_ > reach ? end_ - reach : 0;
    }

    std::size_t capacity_;
    base::raw_array<std::byte> bytes_;
    std::vector<std::uint64_t> index_;  ///< position of every index_every-th message, circular
    std::uint64_t end_ = 0;
    std::uint64_t next_sequence_ = 1;
    std::uint64_t begin_sequence_ = 1;  ///< of the first message that was ever here
};

}  // namespace corro::market_data
