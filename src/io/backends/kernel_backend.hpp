// SPDX-License-Identifier: Apache-2.0
// What every backend on the Linux kernel's sockets does alike: setting sockets up.
//
// Not part of the library's interface. Transfers, waiting and closing are each backend's own.
//
// Threads: as backend.hpp. Cost: one or two system calls each; none of this is on the way of a message.
#pragma once

#include <expected>
#include <string_view>
#include <system_error>
#include <utility>

#include "io/backends/kernel_sockets.hpp"
#include "io/loop/backend.hpp"

namespace corro::io::kernel {

class kernel_backend : public backend {
 public:
    [[nodiscard]] std::expected<descriptor*, std::error_code> open(transport kind) noexcept final {
        const auto file = open_socket(kind);
        if (!file) return std::unexpected(file.error());
        return adopt(*file);
    }
    [[nodiscard]] std::expected<std::pair<descriptor*, descriptor*>, std::error_code> open_pair(
        transport kind) noexcept final {
        const auto files = open_socket_pair(kind);
        if (!files) return std::unexpected(files.error());
        descriptor* const first = *adopt(files->first);
        return std::pair(first, *adopt(files->second));
    }
    [[nodiscard]] std::error_code bind(descriptor& on, const socket_address& address) noexcept final {
        return bind_socket(file_of(on), address);
    }
    [[nodiscard]] std::error_code listen(descriptor& on, int backlog) noexcept final {
        return listen_socket(file_of(on), backlog);
    }
    [[nodiscard]] bool sends_files() const noexcept final { return true; }
    [[nodiscard]] std::error_code set_option(descriptor& on, socket_option option, int value) noexcept final {
        return set_socket_option(file_of(on), option, value);
    }
    [[nodiscard]] std::expected<int, std::error_code> get_option(descriptor& on, socket_option option) noexcept final {
        return get_socket_option(file_of(on), option);
    }
    [[nodiscard]] std::expected<socket_address, std::error_code> local_address(descriptor& on) noexcept final {
        return kernel::local_address(file_of(on));
    }
    [[nodiscard]] std::expected<socket_address, std::error_code> remote_address(descriptor& on) noexcept final {
        return kernel::remote_address(file_of(on));
    }
    [[nodiscard]] std::error_code shutdown_send(descriptor& on) noexcept final {
        return kernel::shutdown_send(file_of(on));
    }
    [[nodiscard]] std::error_code set_membership(descriptor& on, const endpoint& group, std::uint32_t interface,
                                                 bool joined) noexcept final {
        return kernel::set_membership(file_of(on), group, interface, joined);
    }

 private:
    /// The kernel's number of an open socket of this backend.
    [[nodiscard]] virtual int file_of(descriptor& on) const noexcept = 0;
};

}  // namespace corro::io::kernel
