// What an HTTP peer may make this process hold or wait for.
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

    /// The request or status line with its end. 8,000 is what RFC 9112 recommends at least.
    std::size_t start_line_bytes = 8 * 1024;
    /// All field lines with their ends. Browsers' cookies stay below it.
    std::size_t fields_bytes = 16 * 1024;
    /// Fields of a head.
    std::size_t fields_count = 100;
    /// The body, after chunks are taken off.
    std::uint64_t body_bytes = 1U << 20U;
    /// The line of one chunk's size, with its extensions. Nobody uses extensions; attacks do.
    std::size_t chunk_line_bytes = 256;
    /// All trailer lines of a chunked body.
    std::size_t trailers_bytes = 4 * 1024;
    /// Fields after a chunked body.
    std::size_t trailers_count = 16;

    /// How much a connection holds of a head, at most.
    [[nodiscard]] std::size_t head_bytes() const noexcept { return start_line_bytes + fields_bytes; }
};

/// Limits on how long a peer may take. A transfer of bytes may take `transfer_grace` plus one second for each
/// `bytes_per_second_min` bytes that it has moved; so a slow line passes, and a peer that drips does not.
struct time_limits {
    time_limits() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Between two requests on a connection that is kept alive.
    std::chrono::nanoseconds idle = std::chrono::seconds(60);
    /// From a head's first byte to its last.
    std::chrono::nanoseconds head = std::chrono::seconds(10);
    /// How long a transfer may go on before its speed is looked at.
    std::chrono::nanoseconds transfer_grace = std::chrono::seconds(10);
    /// What a transfer has to reach after that, on the average.
    std::uint64_t bytes_per_second_min = 1024;
    /// How long a connection that is to be closed still reads, so that its last response is not lost to a reset.
    std::chrono::nanoseconds linger = std::chrono::seconds(2);

    /// When a transfer that began at `begun` and has moved `bytes` must have moved more.
    [[nodiscard]] std::chrono::nanoseconds transfer_allowance(std::uint64_t bytes) const noexcept {
        return transfer_grace + std::chrono::seconds(bytes / bytes_per_second_min);
    }
};

static_assert(sizeof(std::size_t) == 8, "sizes on the wire fit into std::size_t");

}  // namespace corro::http
