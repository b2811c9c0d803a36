#include "gateway/handshake_budget.hpp"

#include "io/timer.hpp"
#include "io/yield.hpp"

namespace corro::gateway {

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
        // The step is computed now, and everybody who is ready comes before the next.
        co_await io::yield();
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
