// The part of a thread's time that strangers' TLS handshakes get.
//
// A step of a handshake is a public-key operation, a thousand times as expensive as an order, and every client that can
// connect can ask for one. So there is a limit of them in a window of time, and between any two the loop serves
// everybody else for a while: a session waits for one step at most. The others wait in two lines: clients whose address
// has proven a key before go first.
//
// Threads: one context. Limits: handshake_budget_options. Cost: nothing for sessions that have shaken hands.
#pragma once

#include <chrono>
#include <cstdint>
#include <system_error>

#include "gateway/limits.hpp"
#include "io/context.hpp"
#include "io/event.hpp"
#include "io/semaphore.hpp"
#include "io/task.hpp"

namespace corro::gateway {

struct handshake_budget_options {
    handshake_budget_options() noexcept {}

    std::uint32_t steps_max = handshake_steps_max;  ///< in a window
    std::chrono::milliseconds window = handshake_window;
    std::chrono::nanoseconds apart = handshake_apart;  ///< from the end of a step; less where the window needs it
};

class handshake_budget {
 public:
    /// @pre At least one step in a window.
    handshake_budget(io::context& context, const handshake_budget_options& options) noexcept;

    /// Hands out the turns, until a stop.
    [[nodiscard]] io::task<void> run();

    /// Waits for the turn to compute one step.
    /// @error   operation_canceled on stop.
    /// @suspend Until `run` says so.
    [[nodiscard]] io::task<std::error_code> wait_for_turn(bool goes_first);

    /// Turns that were handed out.
    [[nodiscard]] std::uint64_t steps_count() const noexcept { return steps_count_; }
    [[nodiscard]] std::uint64_t waiting_count() const noexcept { return first_.waiting + others_.waiting; }

 private:
    struct line {
        io::semaphore turns{0};
        std::uint64_t waiting = 0;
    };

    io::context& context_;
    handshake_budget_options options_;
    std::chrono::nanoseconds apart_;
    line first_;
    line others_;
    io::auto_event arrived_;
    io::steady_time window_begin_{};
    std::uint32_t window_steps_ = 0;
    std::uint64_t steps_count_ = 0;
};

}  // namespace corro::gateway
