// SPDX-License-Identifier: Apache-2.0
#include "gateway/transport/handshake_budget.hpp"

#include <algorithm>
#include <utility>

#include "io/loop/timer.hpp"

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
        ++window_steps_;
        ++steps_count_;
        take_next()->set();
        // The step is computed now. A yield would not do: tasks that take turns in the ready queue keep the loop from
        // looking for events. A timer makes it look, and its time counts from the end of the step.
        const std::error_code stopped = co_await io::sleep_for(apart_);
        if (stopped) co_return;
    }
}

// Takes the next turn out of its line. @pre Somebody waits.
io::auto_event* handshake_budget::take_next() noexcept {
    constexpr std::array order{handshake_rank::proven, handshake_rank::begun, handshake_rank::proven,
                               handshake_rank::newcomer};
    while (lines_[std::to_underlying(order[round_])].empty()) round_ = (round_ + 1) % order.size();
    const handshake_rank rank = order[round_];
    round_ = (round_ + 1) % order.size();
    line& from = lines_[std::to_underlying(rank)];
    const bool newest_first = rank == handshake_rank::newcomer;
    io::auto_event* const next = newest_first ? from.back() : from.front();
    newest_first ? from.pop_back() : from.pop_front();
    return next;
}

io::task<std::error_code> handshake_budget::wait_for_turn(handshake_rank rank) {
    io::auto_event turn;
    lines_[std::to_underlying(rank)].push_back(&turn);
    arrived_.set();
    const std::error_code stopped = co_await turn.wait();
    // It is in its line no more if it was given a turn at the moment of the stop.
    if (stopped) std::erase(lines_[std::to_underlying(rank)], &turn);
    co_return stopped;
}

}  // namespace corro::gateway
