#include "gateway/handshake_budget.hpp"

#include <algorithm>

#include "io/timer.hpp"

namespace corro::gateway {

handshake_budget::handshake_budget(io::context& context, const handshake_budget_options& options) noexcept
    : context_(context),
      options_(options),
      // Not zero, which would be a yield.
      apart_(std::clamp<std::chrono::nanoseconds>(
          options.apart, std::chrono::nanoseconds(1),
          std::chrono::nanoseconds(1) +
              std::chrono::nanoseconds(options.window) / (2 * std::int64_t{options.steps_max}))) {}

io::task<void> handshake_budget::run() {
    const io::stop_token stop = co_await io::this_stop_token();
    while (!stop.stop_requested()) {
        if (waiting_count() == 0) {
            const std::error_code stopped = co_await arrived_.wait();
            if (stopped) co_return;
            continue;
        }
        const io::steady_time now = context_.now();
        if (now - window_begin_ >= options_.window) {
            window_begin_ = now;
            window_steps_ = 0;
        }
        if (window_steps_ >= options_.steps_max) {
            const std::error_code stopped = co_await io::sleep_until(window_begin_ + options_.window);
            if (stopped) co_return;
            continue;
        }
        line& next = first_.waiting != 0 ? first_ : others_;
        --next.waiting;
        ++window_steps_;
        ++steps_count_;
        next.turns.release();
        // The step is computed now. A yield would not do: tasks that take turns in the ready queue keep the loop from
        // looking for events. A timer makes it look, and its time counts from the end of the step.
        const std::error_code stopped = co_await io::sleep_for(apart_);
        if (stopped) co_return;
    }
}

io::task<std::error_code> handshake_budget::wait_for_turn(bool goes_first) {
    line& mine = goes_first ? first_ : others_;
    ++mine.waiting;
    arrived_.set();
    const std::error_code stopped = co_await mine.turns.acquire();
    if (stopped) --mine.waiting;
    co_return stopped;
}

}  // namespace corro::gateway
