// The part of a thread's time that strangers' TLS handshakes get.
//
// A step of a handshake is a public-key operation, a thousand times as expensive as an order, and whoever can connect
// can ask for one. So one step is computed in a turn of the loop, and so many in a window of time. The others wait in
// two lines: clients whose address has proven a key before go first.
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
};

class handshake_budget {
 public:
    handshake_budget(io::context& context, const handshake_budget_options& options) noexcept
        : context_(context), options_(options) {}

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
    line first_;
    line others_;
    io::auto_event arrived_;
    io::steady_time window_begin_{};
    std::uint32_t window_steps_ = 0;
    std::uint64_t steps_count_ = 0;
};

}  // namespace corro::gateway
