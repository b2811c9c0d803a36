// SPDX-License-Identifier: Apache-2.0
// Limits of the memory and the time that a WebSocket peer can cost this process.
//
// Units: bytes, counts, std::chrono durations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "http/limits.hpp"
#include "websocket/frame.hpp"

namespace corro::websocket {

/// Limits of a peer's messages.
struct receive_limits {
    receive_limits() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    /// A message, assembled and inflated. The memory never exceeds it by more than one read.
    std::size_t message_bytes = 16U << 20U;
    /// Fragments of one message. They cost time, not memory, because payloads are assembled as they come.
    std::uint64_t fragments_count = 4U << 20U;
};

/// Sizes and times of one connection.
struct connection_limits {
    connection_limits() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions

    /// Limits of the peer's messages.
    receive_limits receive;
    /// A peer that was silent for this time is sent a ping; if it stays silent for the same time again, the connection
    /// ends. Zero: never.
    std::chrono::nanoseconds ping_interval = std::chrono::seconds(30);
    /// The time limit for the peer's answer to a close frame.
    std::chrono::nanoseconds close = std::chrono::seconds(5);
    /// Limits of the peer's reading speed.
    http::time_limits time;
};

/// Bytes of one read; the buffer of a connection grows to this size for a peer that fills it.
inline constexpr std::size_t read_bytes_initial = 4 * 1024;
/// The largest read.
inline constexpr std::size_t read_bytes_max = 64 * 1024;
/// Longer payloads are sent without a copy.
inline constexpr std::size_t copied_bytes_max = 64 * 1024;
/// Answers to pings that may wait; with more, receiving waits for the peer to read.
inline constexpr std::size_t waiting_bytes_max = 64 * 1024;

static_assert(read_bytes_initial >= frame_header_bytes_max + control_payload_bytes_max,
              "a control frame fits into the smallest buffer");

}  // namespace corro::websocket
