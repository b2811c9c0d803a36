// SPDX-License-Identifier: Apache-2.0
// A frame: one message of the Corro Binary protocol in a received buffer. Its header has been read, its block not
// yet.
//
// Lifetime: a frame points into the buffer that it was found in and is valid as long as the buffer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"

namespace corro::wire {

/// Bytes of the header that opens every message.
inline constexpr std::size_t header_bytes = 16;

enum class template_id : std::uint16_t;

struct frame {
    const std::byte* block = nullptr;
    /// Bytes of the block; may be more than this version of the message has.
    std::uint16_t block_bytes = 0;
    /// As received: it may be a number without an enumerator.
    template_id message{};
    /// The schema version of the sender.
    std::uint16_t version = 0;
    std::uint64_t sequence = 0;

    /// Bytes of the whole frame: what to drop from the front of the buffer.
    [[nodiscard]] constexpr std::size_t size() const noexcept { return header_bytes + block_bytes; }
};

/// The block of a frame that has been checked as a `Message` (asserted).
template <class Message>
[[nodiscard]] const std::byte* block_of(const frame& from) noexcept {
    CORRO_ASSERT(from.message == Message::message_id && from.block_bytes >= Message::block_bytes);
    return from.block;
}

}  // namespace corro::wire
