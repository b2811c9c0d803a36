// SPDX-License-Identifier: Apache-2.0
// Snapshots of all books, for subscribers that join late; several may share one.
//
// A snapshot is made when it is asked for, but no more than a number of times in a window: further requests get the
// last one, from which the feed can be joined as well.
//
// Threads: the publisher's context. Limits: snapshots_made_max in a window; one snapshot is kept.
// Cost:    making one takes some 50 ns for each open order, without interruption.
// Source:  docs/spec/market_data.md, joining late.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "market_data/feed_publisher.hpp"
#include "market_data/limits.hpp"
#include "market_data/market_image.hpp"

namespace corro::market_data {

/// All books as packets, as of the message before `next_sequence`: definitions first, then per instrument its orders in
/// priority order, its best levels, its prices and volumes.
[[nodiscard]] std::vector<std::byte> make_snapshot(const market_image& image, std::uint64_t next_sequence);

struct snapshot_options {
    snapshot_options() noexcept {}

    std::uint32_t snapshots_made_max = market_data::snapshots_made_max;
    std::chrono::milliseconds snapshots_window = market_data::snapshots_window;
};

class snapshot_source {
 public:
    using shared_bytes = std::shared_ptr<const std::vector<std::byte>>;

    /// `publisher` outlives the source.
    explicit snapshot_source(const feed_publisher& publisher, const snapshot_options& options = snapshot_options())
        : publisher_(publisher), options_(options) {}

    /// A snapshot for a new subscriber: of this moment, or the last one when this window's limit is reached. The feed
    /// still has all messages since the last one.
    /// @param now  Never goes back (asserted).
    [[nodiscard]] shared_bytes take(std::chrono::steady_clock::time_point now);

    [[nodiscard]] std::uint64_t made_count() const noexcept { return made_count_; }

 private:
    const feed_publisher& publisher_;
    snapshot_options options_;
    shared_bytes latest_;                ///< the last snapshot made
    std::uint64_t latest_position_ = 0;  ///< the feed log's end at that time
    std::chrono::steady_clock::time_point window_begin_{};
    std::uint32_t made_in_window_ = 0;
    std::uint64_t made_count_ = 0;
};

}  // namespace corro::market_data
