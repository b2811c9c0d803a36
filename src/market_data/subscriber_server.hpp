// SPDX-License-Identifier: Apache-2.0
// The TCP ports of a venue's market data, by SoupBinTCP: the feed, snapshots to join it late, and conflated depth.
//
// A late joiner asks the snapshot port for all books as of message N, then logs in to the feed with N + 1 as the
// sequence number: it sees every change once, or is rejected.
//
// Threads: one context, the publisher's. Limits: market_data/limits.hpp.
// Cost:    per subscriber and batch one write.
// Source:  Nasdaq SoupBinTCP 3.00; docs/spec/market_data.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/shm/shm_broadcast.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/task.hpp"
#include "market_data/feed_follower.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/limits.hpp"
#include "market_data/soup_options.hpp"
#include "market_data/subscriber_registry.hpp"

namespace corro::market_data {

struct subscriber_options : soup_options, registry_options {
    subscriber_options() noexcept {}

    std::chrono::milliseconds snapshot_timeout = market_data::snapshot_timeout;
    std::uint32_t snapshots_max = market_data::snapshots_max;
    std::uint32_t snapshots_per_address_max = market_data::snapshots_per_address_max;
    std::uint32_t snapshots_made_max = market_data::snapshots_made_max;
    std::chrono::milliseconds snapshots_window = market_data::snapshots_window;
    std::size_t depth_levels = market_data::depth_levels;
    std::chrono::milliseconds conflation_interval = market_data::conflation_interval;
};

class subscriber_server final : public feed_follower {
 public:
    /// Follows the publisher, which outlives the server's tasks.
    subscriber_server(io::context& context, const subscriber_options& options, feed_publisher& publisher);
    /// @pre The serving tasks have ended (asserted).
    ~subscriber_server();

    /// Serves the live feed until the publisher is closed; ends when every subscriber has disconnected. Each gets the
    /// remaining messages and an end-of-session packet, as far as it reads them within farewell_timeout.
    [[nodiscard]] io::task<void> serve_feed(io::tcp_acceptor acceptor);
    /// The same through shared memory. Subscribers that are not behind read `broadcast`, which the acceptor hands out.
    /// @param broadcast  Begins at the end of the publisher's log, and outlives the server's tasks. Once.
    [[nodiscard]] io::task<void> serve_feed(io::shm_acceptor acceptor, io::shm_broadcast& broadcast);
    /// Serves snapshots in the same way.
    [[nodiscard]] io::task<void> serve_snapshots(io::tcp_acceptor acceptor);
    /// Serves conflated depth in the same way: pictures of the best levels, at the speed of each subscriber.
    [[nodiscard]] io::task<void> serve_depth(io::tcp_acceptor acceptor);

    /// Starts sending the published messages. Cuts subscribers that are too far behind.
    void flush() noexcept override;
    /// Copies into the broadcast, and sends as much as each waiting subscriber takes at once.
    void keep_up() noexcept override;
    void close() noexcept override;

    [[nodiscard]] const subscriber_statistics& statistics() const noexcept { return registry_.statistics(); }

 private:
    struct ports;

    soup_options options_;
    subscriber_registry registry_;
    std::unique_ptr<ports> ports_;
};

}  // namespace corro::market_data
