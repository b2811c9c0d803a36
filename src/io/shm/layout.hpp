// SPDX-License-Identifier: Apache-2.0
// How two processes agree on the memory that they share: what its owner sends with it, and where the parts are.
//
// The side that listens makes the memory and seals its size; the side that connects checks what it was given before it
// touches it. Everything here is plain calculation.
//
// Layout: docs/spec/shared_memory.md.
//
//   offset      size          meaning
//   0           512           words of the ring to the server (ring_words)
//   512         512           words of the ring to the client
//   1024        256           where the client goes on in the broadcast ring (handover_words)
//   1280        2816          nothing
//   4096        to_server     bytes of the ring to the server
//   + to_server to_client     bytes of the ring to the client
//
// Limits: ring_bytes_min and ring_bytes_max.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "io/shm/broadcast_ring.hpp"
#include "io/shm/ring.hpp"

namespace corro::io::shm {

/// A ring's capacity: a power of two. Pages are the unit of sealing and mapping.
inline constexpr std::uint64_t ring_bytes_min = 4096;
/// More than any processor's cache, and small enough that sizes of several rings never overflow.
inline constexpr std::uint64_t ring_bytes_max = std::uint64_t{1} << 30U;
inline constexpr std::size_t words_to_server_offset = 0;
inline constexpr std::size_t words_to_client_offset = 512;
inline constexpr std::size_t handover_offset = 1024;
inline constexpr std::size_t data_offset = 4096;

static_assert(words_to_client_offset == sizeof(ring_words) && handover_offset == 2 * sizeof(ring_words) &&
              handover_offset + sizeof(handover_words) <= data_offset);

[[nodiscard]] constexpr bool is_ring_size(std::uint64_t bytes) noexcept {
    return std::has_single_bit(bytes) && bytes >= ring_bytes_min && bytes <= ring_bytes_max;
}

/// The first and only message on the Unix socket, which comes with the descriptors of the memory. Later bytes on the
/// socket are bells.
struct hello {
    std::uint64_t to_server_bytes = 0;
    std::uint64_t to_client_bytes = 0;
    /// Of the broadcast ring, whose descriptor comes second; 0: there is none.
    std::uint64_t broadcast_bytes = 0;

    /// The size of the memory.
    [[nodiscard]] constexpr std::uint64_t memory_bytes() const noexcept {
        return data_offset + to_server_bytes + to_client_bytes;
    }
    friend constexpr bool operator==(const hello&, const hello&) noexcept = default;
};

inline constexpr std::size_t hello_bytes = 40;
inline constexpr std::array<char, 8> hello_magic{'c', 'o', 'r', 'r', 'o', 's', 'h', 'm'};
inline constexpr std::uint64_t hello_version = 1;

/// Numbers are in the machine's own order: memory is not shared with another one.
[[nodiscard]] inline std::array<std::byte, hello_bytes> encode(const hello& from) noexcept {
    std::array<std::byte, hello_bytes> bytes{};
    const std::array<std::uint64_t, 4> numbers{hello_version, from.to_server_bytes, from.to_client_bytes,
                                               from.broadcast_bytes};
    std::memcpy(bytes.data(), hello_magic.data(), hello_magic.size());
    std::memcpy(bytes.data() + hello_magic.size(), numbers.data(), sizeof numbers);
    return bytes;
}

/// @return nothing unless the bytes are a hello of this version with possible sizes.
[[nodiscard]] inline std::optional<hello> decode_hello(std::span<const std::byte> bytes) noexcept {
    if (bytes.size() != hello_bytes) return std::nullopt;
    std::array<std::uint64_t, 4> numbers{};
    if (std::memcmp(bytes.data(), hello_magic.data(), hello_magic.size()) != 0) return std::nullopt;
    std::memcpy(numbers.data(), bytes.data() + hello_magic.size(), sizeof numbers);
    hello read;
    read.to_server_bytes = numbers[1];
    read.to_client_bytes = numbers[2];
    read.broadcast_bytes = numbers[3];
    const bool is_known = numbers[0] == hello_version && is_ring_size(read.to_server_bytes) &&
                          is_ring_size(read.to_client_bytes) &&
                          (read.broadcast_bytes == 0 || is_ring_size(read.broadcast_bytes));
    return is_known ? std::optional(read) : std::nullopt;
}

}  // namespace corro::io::shm
