// SPDX-License-Identifier: Apache-2.0
// Socket set-up calls of the Linux kernel, shared by its backends.
//
// Threads: any; each call is one or two system calls and never waits.
#pragma once

#include <sys/socket.h>

#include <expected>
#include <system_error>

#include "io/loop/backend.hpp"

namespace corro::io::kernel {

/// An address in the kernel's form.
struct native_address {
    native_address() noexcept : size(0) {}
    sockaddr_storage storage;
    socklen_t size;

    [[nodiscard]] sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
    [[nodiscard]] const sockaddr* data() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
};

[[nodiscard]] native_address to_native(const socket_address& address) noexcept;
[[nodiscard]] socket_address from_native(const native_address& address) noexcept;

/// The code of an errno number.
[[nodiscard]] inline std::error_code system_code(int number) noexcept {
    return {number, std::generic_category()};
}

/// Opens a non-blocking socket that closes on exec.
[[nodiscard]] std::expected<int, std::error_code> open_socket(transport kind) noexcept;
[[nodiscard]] std::error_code bind_socket(int file, const socket_address& address) noexcept;
[[nodiscard]] std::error_code listen_socket(int file, int backlog) noexcept;
[[nodiscard]] std::error_code set_socket_option(int file, socket_option option, int value) noexcept;
[[nodiscard]] std::expected<int, std::error_code> get_socket_option(int file, socket_option option) noexcept;
[[nodiscard]] std::expected<socket_address, std::error_code> local_address(int file) noexcept;
[[nodiscard]] std::expected<socket_address, std::error_code> remote_address(int file) noexcept;
[[nodiscard]] std::error_code shutdown_send(int file) noexcept;
[[nodiscard]] std::expected<std::pair<int, int>, std::error_code> open_socket_pair(transport kind) noexcept;
[[nodiscard]] std::error_code set_membership(int file, const endpoint& group, std::uint32_t interface,
                                             bool joined) noexcept;

/// The kernel's monotonic clock.
[[nodiscard]] steady_time steady_now() noexcept;

}  // namespace corro::io::kernel
