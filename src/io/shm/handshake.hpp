// SPDX-License-Identifier: Apache-2.0
// The one message of a shared-memory connection: the hello, and the files of the memory that come with it.
//
// Not part of the library's interface. Threads: any. Cost: one system call each.
#pragma once

#include <array>
#include <cstddef>
#include <expected>
#include <span>
#include <system_error>

#include "io/shm/layout.hpp"
#include "io/shm/memory.hpp"

namespace corro::io::shm {

/// The memory of a connection, and the broadcast ring if there is one.
inline constexpr std::size_t hello_files_max = 2;

struct received_hello {
    received_hello() noexcept = default;
    hello sizes;
    std::array<owned_file, hello_files_max> files;
};

/// Sends the hello with its files on a new Unix socket, which has room for it.
/// @error the system's; message_size if the socket took only a part.
[[nodiscard]] std::error_code send_hello(int socket, const hello& sizes, std::span<const int> files) noexcept;

/// Takes the hello from a readable socket.
/// @error end_of_stream if the peer has closed; protocol_error: not a hello, too few or too many files. All files are
///        closed then. resource_unavailable_try_again: nothing has arrived.
[[nodiscard]] std::expected<received_hello, std::error_code> receive_hello(int socket) noexcept;

}  // namespace corro::io::shm
