// SPDX-License-Identifier: Apache-2.0
// The part of a thread's time for TLS handshakes of unauthenticated connections.
//
// A step of a handshake is a public-key operation, a thousand times as expensive as an order, and every client that can
// connect can ask for one. So a window of time has a limit of steps, and between any two the loop serves all
// other connections for a while: a session waits for one step at most.
//
// Handshakes wait in three lines (`handshake_rank`). Where all three wait, clients whose address has proven a key get
// every second step, and the other two lines every fourth, so that no line can keep the others out. Newcomers are
// served the newest first: when there are more of them than steps, an old one would be evicted or time out before it
// is done, and each step for it would be lost.
//
// Threads: one context. Limits: handshake_budget_options. Cost: nothing for sessions that have shaken hands.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <system_error>

#include "gateway/limits.hpp"
#include "io/loop/context.hpp"
#include "io/sync/event.hpp"
#include "io/task/task.hpp"

namespace corro::gateway {

struct handshake_budget_options {
    handshake_budget_options() noexcept {}

    std::uint32_t steps_max = handshake_steps_max;  ///< in a window
    std::chrono::milliseconds window = handshake_window;
    std::chrono::nanoseconds apart = handshake_apart;  ///< from the end of a step; less where the window needs it
};

/// Which line a handshake waits in.
enum class handshake_rank : std::uint8_t {
    proven,    ///< its address has proven a key before
    begun,     ///< it has had a step already
    newcomer,  ///< all others
};
inline constexpr std::size_t handshake_ranks_count = 3;

class handshake_budget {
 public:
    /// @pre At least one step in a window.
    handshake_budget(io::context& context, const handshake_budget_options& options) noexcept;

    /// Hands out the turns, until a stop.
    [[nodiscard]] io::task<void> run();

    /// Waits for the turn to compute one step.
    /// @error   operation_canceled on stop.
    /// @suspend Until `run` grants the turn.
    [[nodiscard]] io::task<std::error_code> wait_for_turn(handshake_rank rank);

    /// Turns that were handed out.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_count_; }
    [[nodiscard]] std::size_t waiting_count() const noexcept {
        return lines_[0].size() + lines_[1].size() + lines_[2].size();
    }

 private:
    /// The turns that are awaited; a handshake that is stopped leaves its line itself.
    using line = std::deque<io::auto_event*>;

    [[nodiscard]] io::auto_event* take_next() noexcept;

    io::context& context_;
    handshake_budget_options options_;
    std::chrono::nanoseconds apart_;
    std::array<line, handshake_ranks_count> lines_;  ///< by rank
    std::uint32_t round_ = 0;                        ///< whose turn it is, when several lines wait
    io::auto_event arrived_;
    io::steady_time window_begin_{};
    std::uint32_t window_steps_ = 0;
    std::uint64_t steps_count_ = 0;
};

}  // namespace corro::gateway
