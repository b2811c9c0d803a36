// SPDX-License-Identifier: Apache-2.0
// The machine that the process runs on, as a platform: one for each kernel interface.
//
//     io::context ctx{io::context_options(io::uring_platform())};
//
// Threads: any.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/loop/platform.hpp"

namespace corro::io {

/// Contexts on epoll, on every kernel.
[[nodiscard]] platform& epoll_platform() noexcept;

/// Contexts on io_uring. Where the kernel lacks or forbids it, making one throws std::system_error.
[[nodiscard]] platform& uring_platform() noexcept;

/// Contexts on io_uring; on epoll where the kernel lacks or forbids it, with a notice (`context::backend_notice`).
[[nodiscard]] platform& uring_if_possible_platform() noexcept;

/// All that the machine gives except backends. For those who add a kernel interface, as the library for Asio does.
class machine : public platform {
 public:
    [[nodiscard]] steady_time now() noexcept final;
    [[nodiscard]] std::chrono::system_clock::time_point wall_now() noexcept final;
    [[nodiscard]] const tick_clock& ticks() final;
    void fill_random(std::span<std::byte> into) noexcept final;
    [[nodiscard]] task<resolved> look_up(std::string host, std::uint16_t port) final;
    [[nodiscard]] std::unique_ptr<storage> make_storage(context& on, file_faults* faults) final;
    /// A worker on a thread of its own.
    [[nodiscard]] std::unique_ptr<worker> make_worker(context_options options) final;
    [[nodiscard]] std::size_t processors_count() const noexcept final;
};

/// A worker on a thread of its own whose context stands on `on`. For platforms that leave threads to the machine.
[[nodiscard]] std::unique_ptr<worker> make_thread_worker(platform& on, context_options options);

}  // namespace corro::io
