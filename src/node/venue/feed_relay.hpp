// SPDX-License-Identifier: Apache-2.0
// Publishes the public events of a replay on a worker of its own, beside the replay.
//
// While a venue replays its journal, nobody reads the feed. So the feed may be published later than the commands are
// executed. The replay collects public events and passes them on in portions, through a ring. When the ring is full,
// the replay waits.
//
// Threads: the constructor and `finish` on the context of the feed, `push` and `hand_over` on that of the replay. From
//          the constructor to `finish` the feed belongs to the worker.
// Limits:  one portion and the events of one command in front of the ring, and feed_relay_capacity in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/spsc_ring.hpp"
#include "domain/event.hpp"
#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"
#include "market_data/feed_publisher.hpp"

namespace corro::node {

class feed_relay {
 public:
    /// @param edge       The context of the feed.
    /// @param replaying  The context of the replay, on the same platform.
    /// @throws std::system_error if the kernel refuses a context or a thread.
    feed_relay(io::context& edge, io::context& replaying, market_data::feed_publisher& feed);
    feed_relay(const feed_relay&) = delete;
    feed_relay& operator=(const feed_relay&) = delete;

    /// Takes a public event. Copies it.
    void push(const domain::event& event) { waiting_.push_back(event); }
    /// Whether a portion waits: time for `hand_over`.
    [[nodiscard]] bool has_portion() const noexcept { return waiting_.size() >= portion_events; }
    /// Hands over all events that wait. To be called at the end of the replay too.
    [[nodiscard]] io::task<void> hand_over();

    /// Waits until everything that was handed over is published, and gives the feed back. Once, also after a replay
    /// that failed.
    [[nodiscard]] io::task<void> finish();

 private:
    static constexpr std::size_t portion_events = 4'096;

    [[nodiscard]] io::task<void> publish_all();
    void publish(std::span<const domain::event> events) noexcept;

    market_data::feed_publisher& feed_;
    std::unique_ptr<io::worker> worker_;
    io::remote_event arrived_;  ///< for the worker
    io::remote_event room_;     ///< for the replay
    io::remote_event done_;     ///< for the context of the feed
    std::vector<domain::event> waiting_;
    base::spsc_ring<domain::event> ring_;
    std::atomic<bool> has_ended_{false};
};

}  // namespace corro::node
