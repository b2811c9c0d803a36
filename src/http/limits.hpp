// SPDX-License-Identifier: Apache-2.0
// Limits of the memory and the time that an HTTP peer can cost this process.
//
// Units: bytes, counts, std::chrono durations.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corro::http {

/// Limits on the bytes of a message.
struct message_limits {
    message_limits() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// The request or status line with its end. RFC 9112 recommends at least 8,000.
    std::size_t start_line_bytes = 8 * 1024;
    /// All field lines with their ends. Browsers' cookies stay below it.
    std::size_t fields_bytes = 16 * 1024;
    /// Fields of a head.
    std::size_t fields_count = 100;
    /// The body, after chunks are taken off.
    std::uint64_t body_bytes = 1U << 20U;
    /// The line of one chunk's size, with its extensions, which only attacks use.
    std::size_t chunk_line_bytes = 256;
    /// All trailer lines of a chunked body.
    std::size_t trailers_bytes = 4 * 1024;
    /// Fields after a chunked body.
    std::size_t trailers_count = 16;

    /// The most bytes of a head that a connection buffers.
    [[nodiscard]] std::size_t head_bytes() const noexcept { return start_line_bytes + fields_bytes; }
};

/// Limits of a peer's time. A transfer of bytes may take `transfer_grace` plus one second for each
/// `bytes_per_second_min` bytes that it has moved. So a slow line is accepted, but not a peer that sends single bytes
/// slowly.
struct time_limits {
    time_limits() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Between two requests on a connection that is kept alive.
    std::chrono::nanoseconds idle = std::chrono::seconds(60);
    /// From a head's first byte to its last.
    std::chrono::nanoseconds head = std::chrono::seconds(10);
    /// The time before the speed of a transfer is checked.
    std::chrono::nanoseconds transfer_grace = std::chrono::seconds(10);
    /// The minimum average speed of a transfer after that.
    std::uint64_t bytes_per_second_min = 1024;
    /// The time that a closing connection still reads, so that a reset does not lose its last response.
    std::chrono::nanoseconds linger = std::chrono::seconds(2);

    /// The time by which a transfer that has moved `bytes` must have moved more.
    [[nodiscard]] std::chrono::nanoseconds transfer_allowance(std::uint64_t bytes) const noexcept {
        return transfer_grace + std::chrono::seconds(bytes / bytes_per_second_min);
    }
};

static_assert(sizeof(std::size_t) == 8, "sizes on the wire fit into std::size_t");

}  // namespace corro::http
