// SPDX-License-Identifier: Apache-2.0
// Bytes that one process writes once for any number of processes of its machine.
//
// An acceptor hands the memory out with each stream (`shm_options::broadcast`), and a stream's server says from which
// position on its client reads there instead of from the stream (`shm_stream::follow`). Readers cannot write to the
// memory. A reader that is overrun gets no_buffer_space from its next read.
//
// Threads: one context. Cost: a write is one copy, whatever the number of readers; `wake` one load per reader.
// Source:  docs/spec/shared_memory.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <system_error>

namespace corro::io {

/// The memory that one process writes and others read, with its write position.
class shm_broadcast {
 public:
    /// @param bytes  The capacity, a power of two within shm::ring_bytes_min and ring_bytes_max (asserted).
    /// @param begin  The position of the first byte.
    /// @error the system's.
    [[nodiscard]] static std::expected<shm_broadcast, std::error_code> make(std::size_t bytes, std::uint64_t begin);

    shm_broadcast(shm_broadcast&&) noexcept;
    shm_broadcast& operator=(shm_broadcast&&) noexcept;
    ~shm_broadcast();

    /// Writes all of `from`; nobody is waited for. The readers that sleep are to be woken then (`shm_stream::wake`).
    void write(std::span<const std::byte> from) noexcept;
    /// No more bytes follow.
    void end() noexcept;
    /// Behind the last byte.
    [[nodiscard]] std::uint64_t position() const noexcept;
    [[nodiscard]] std::size_t capacity_bytes() const noexcept;
    /// The file to hand out; this object keeps it.
    [[nodiscard]] int file() const noexcept;

 private:
    struct state;
    explicit shm_broadcast(std::unique_ptr<state> made) noexcept;
    std::unique_ptr<state> state_;
};

}  // namespace corro::io
