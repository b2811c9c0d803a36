// SPDX-License-Identifier: Apache-2.0
#include "node/venue/feed_relay.hpp"

#include <algorithm>

#include "node/configuration/limits.hpp"

namespace corro::node {

feed_relay::feed_relay(io::context& edge, io::context& replaying, market_data::feed_publisher& feed)
    : feed_(feed),
      worker_(replaying.runs_on().make_worker(io::context_options())),
      arrived_(worker_->where()),
      room_(replaying),
      done_(edge),
      ring_(feed_relay_capacity) {
    waiting_.reserve(2 * portion_events);
    worker_->start(publish_all());
}

io::task<void> feed_relay::hand_over() {
    std::span<const domain::event> left(waiting_);
    while (true) {
        left = left.subspan(ring_.try_push(left));
        arrived_.set();
        if (left.empty()) break;
        static_cast<void>(co_await room_.wait());
    }
    waiting_.clear();
}

io::task<void> feed_relay::finish() {
    has_ended_.store(true, std::memory_order_release);
    arrived_.set();
    static_cast<void>(co_await done_.wait());
    worker_->join();
}

io::task<void> feed_relay::publish_all() {
    while (true) {
        const bool has_ended = has_ended_.load(std::memory_order_acquire);
        const std::span<const domain::event> ready = ring_.peek();
        if (ready.empty()) {
            if (has_ended) break;
            static_cast<void>(co_await arrived_.wait());
            continue;
        }
        const std::size_t count = std::min(ready.size(), portion_events);
        publish(ready.first(count));
        ring_.release(count);
        room_.set();
    }
    done_.set();
}

// Each event's memory is fetched in steps while the events before it are published.
void feed_relay::publish(std::span<const domain::event> events) noexcept {
    constexpr std::size_t distance = 4;
    const auto fetch = [&](std::size_t at, int step) {
        if (at < events.size()) feed_.prefetch(events[at], step);
    };
    for (std::size_t i = 0; i < events.size(); ++i) {
        fetch(i + 3 * distance, 0);
        fetch(i + 2 * distance, 1);
        fetch(i + distance, 2);
        feed_.publish(events[i]);
    }
}

}  // namespace corro::node
