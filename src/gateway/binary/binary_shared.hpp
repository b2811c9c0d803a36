// SPDX-License-Identifier: Apache-2.0
// What all sessions of Corro Binary share.
//
// Threads: one context.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "domain/types.hpp"
#include "gateway/accounts.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "gateway/gateway_options.hpp"
#include "gateway/gateway_statistics.hpp"
#include "gateway/limits.hpp"
#include "gateway/session/session_registry.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"

namespace corro::gateway {

/// Buffers of sessions that have left, for the next ones: large pieces that come and go among small ones would leave
/// holes in the memory.
class buffer_pool {
 public:
    explicit buffer_pool(std::size_t bytes_each) noexcept : bytes_each_(bytes_each) {}

    [[nodiscard]] std::unique_ptr<std::byte[]> take() {
        if (spare_.empty()) return std::make_unique_for_overwrite<std::byte[]>(bytes_each_);
        std::unique_ptr<std::byte[]> taken = std::move(spare_.back());
        spare_.pop_back();
        return taken;
    }
    void give_back(std::unique_ptr<std::byte[]> buffers) {
        if (buffers != nullptr) spare_.push_back(std::move(buffers));
    }
    [[nodiscard]] std::size_t spare_count() const noexcept { return spare_.size(); }

 private:
    std::size_t bytes_each_;
    std::vector<std::unique_ptr<std::byte[]>> spare_;
};

struct binary_shared {
    /// All outlive this.
    binary_shared(io::context& on, const gateway_options& with, const account_directory& directory,
                  session_registry& sessions, command_queue& queue, const answer_log& log, const io::tick_clock& ticks,
                  gateway_statistics& counts) noexcept
        : context(on),
          options(with),
          accounts(directory),
          registry(sessions),
          commands(queue),
          answers(log),
          clock(ticks),
          statistics(counts),
          buffers(input_buffer_bytes + with.output_buffer_bytes) {}

    io::context& context;
    const gateway_options& options;
    const account_directory& accounts;
    session_registry& registry;
    command_queue& commands;
    const answer_log& answers;
    const io::tick_clock& clock;
    gateway_statistics& statistics;
    buffer_pool buffers;
    std::uint32_t sample_countdown = 0;  ///< requests until the next one that is stamped
};

/// The time of day in messages to clients.
[[nodiscard]] inline domain::time_ns wall_time(const io::context& here) {
    const auto now = here.wall_now().time_since_epoch();
    return domain::time_ns{std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
}

}  // namespace corro::gateway
