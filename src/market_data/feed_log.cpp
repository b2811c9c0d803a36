// SPDX-License-Identifier: Apache-2.0
#include "market_data/feed_log.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/assert.hpp"

namespace corro::market_data {
namespace {

constexpr std::size_t packet_bytes_min = 3;

std::size_t rounded_capacity(std::size_t bytes) {
    return std::bit_ceil(std::max<std::size_t>(bytes, 4096));
}

}  // namespace

feed_log::feed_log(std::size_t capacity_bytes, base::page_touch touch)
    : capacity_(rounded_capacity(capacity_bytes)),
      bytes_(base::make_raw_array<std::byte>(capacity_ + message_bytes_max)),
      index_(std::bit_ceil(capacity_ / (packet_bytes_min * index_every) + 2)) {
    if (touch == base::page_touch::yes) base::touch_pages(bytes_.get(), capacity_ + message_bytes_max);
}

void feed_log::begin_at(std::uint64_t sequence) noexcept {
    CORRO_ASSERT(end_ == 0 && sequence != 0, "the beginning of a feed can be set only once");
    next_sequence_ = begin_sequence_ = sequence;
}

std::span<std::byte> feed_log::reserve() noexcept {
    return {bytes_.get() + fold(end_), message_bytes_max};
}

void feed_log::commit(std::size_t size) noexcept {
    CORRO_ASSERT(size >= packet_bytes_min && size <= message_bytes_max);
    const std::size_t at = fold(end_);
    if (at + size > capacity_) std::memcpy(bytes_.get(), bytes_.get() + capacity_, at + size - capacity_);
    const std::uint64_t ordinal = next_sequence_ - 1;
    if (ordinal % index_every == 0) index_[(ordinal / index_every) & (index_.size() - 1)] = end_;
    end_ += size;
    ++next_sequence_;
}

std::uint64_t feed_log::first_sequence() const noexcept {
    if (next_sequence_ == begin_sequence_) return next_sequence_;
    if (begin_sequence_ == 1 && oldest_position() == 0) return 1;
    // Indexed messages are ordered by position: finds the first one that is not overwritten.
    const std::uint64_t last = (next_sequence_ - 2) / index_every;
    const std::uint64_t first_indexed = (begin_sequence_ - 1 + index_every - 1) / index_every;
    std::uint64_t low = std::max(first_indexed, last >= index_.size() ? last - index_.size() + 1 : 0);
    std::uint64_t high = last + 1;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        if (index_[middle & (index_.size() - 1)] < oldest_position()) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > last ? next_sequence_ : low * index_every + 1;
}

std::uint64_t feed_log::position_of(std::uint64_t sequence) const noexcept {
    CORRO_ASSERT(sequence >= first_sequence() && sequence <= next_sequence_);
    if (sequence == next_sequence_) return end_;
    const std::uint64_t ordinal = sequence - 1;
    std::uint64_t position = index_[(ordinal / index_every) & (index_.size() - 1)];
    for (std::uint64_t steps = ordinal % index_every; steps > 0; --steps) position += packet_bytes(position);
    return position;
}

std::size_t feed_log::packet_bytes(std::uint64_t position) const noexcept {
    const auto high = std::to_integer<std::size_t>(bytes_.get()[fold(position)]);
    const auto low = std::to_integer<std::size_t>(bytes_.get()[fold(position + 1)]);
    return 2 + (high << 8U | low);
}

std::span<const std::byte> feed_log::packet_at(std::uint64_t position) const noexcept {
    CORRO_ASSERT(position <= end_ && position >= oldest_position());
    if (position == end_) return {};
    // A packet across the end of the memory stays complete in the slack until the next such packet.
    return {bytes_.get() + fold(position), packet_bytes(position)};
}

std::span<const std::byte> feed_log::bytes_from(std::uint64_t position, std::size_t limit_bytes) const noexcept {
    CORRO_ASSERT(position <= end_ && position >= oldest_position());
    const std::size_t at = fold(position);
    const std::uint64_t size = std::min<std::uint64_t>({end_ - position, capacity_ - at, limit_bytes});
    return {bytes_.get() + at, static_cast<std::size_t>(size)};
}

}  // namespace corro::market_data
