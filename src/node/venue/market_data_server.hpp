// SPDX-License-Identifier: Apache-2.0
// Market data in a process: the publisher of the feed, and what follows it: the ports of subscribers, by SoupBinTCP and
// by FIX, and the UDP lines.
//
// It does not depend on the facility: public events come by `publish`.
//
// Threads: one context. Limits: the configuration's, market_data/limits.hpp.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "domain/event.hpp"
#include "facility/facility.hpp"
#include "fix_market_data/fix_market_data_server.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/shm/shm_broadcast.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/task.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/line_publisher.hpp"
#include "market_data/subscriber_registry.hpp"
#include "market_data/subscriber_server.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/feed_relay.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// Counts of the feed and of its subscribers.
struct market_data_statistics : market_data::feed_statistics, market_data::subscriber_statistics {};

class market_data_server {
 public:
    /// Opens no port yet.
    /// @throws std::system_error, configuration_error as `exchange`.
    market_data_server(io::context& context, const configuration& configuration, telemetry::producer* log);

    /// Opens the ports. To be called when the feed is ready, because subscribers connect from then on.
    /// @throws std::system_error, configuration_error as `exchange`.
    void open(const configuration& c);

    /// Serves until `close`; ends when every subscriber has disconnected.
    [[nodiscard]] io::task<void> run();

    /// Ends the feed; nothing may be published any more.
    void close() noexcept;

    [[nodiscard]] market_data::feed_publisher& publisher() noexcept { return publisher_; }
    [[nodiscard]] const market_data::feed_publisher& publisher() const noexcept { return publisher_; }

    void publish(const domain::event& event) noexcept {
        if (event.kind == domain::event_kind::phase_changed) [[unlikely]]
            note_phase(event.instrument, event.phase.phase);
        if (relay_ != nullptr) [[unlikely]]
            return relay_->push(event);
        publisher_.publish(event);
    }
    void expect(const domain::event& event) const noexcept {
        if (relay_ == nullptr) [[likely]]
            publisher_.prefetch(event);
    }
    /// For set-up: leaves the publishing to `relay` until this is called with nullptr.
    void publish_by(feed_relay* relay) noexcept { relay_ = relay; }

    /// For set-up, after a recovery: takes over the phases of all instruments.
    void take_phases(const facility::facility& state);
    /// The phase of an instrument, as published; nothing when there is none.
    [[nodiscard]] std::optional<domain::trading_phase> phase_of(domain::instrument_id id) const noexcept {
        return id.value < phases_.size() ? phases_[id.value] : std::nullopt;
    }

    /// Starts sending. To be called once per batch of events.
    void flush() noexcept { publisher_.flush(); }

    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return feed_endpoint_; }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return snapshot_endpoint_; }
    /// Nothing without a depth port.
    [[nodiscard]] std::optional<io::endpoint> depth_endpoint() const noexcept { return depth_endpoint_; }
    /// Nothing without a port for FIX.
    [[nodiscard]] std::optional<io::endpoint> fix_endpoint() const noexcept { return fix_endpoint_; }
    [[nodiscard]] market_data_statistics statistics() const noexcept {
        return {publisher_.statistics(), subscribers_.statistics()};
    }
    /// nullptr without a port for FIX.
    [[nodiscard]] const fix_market_data::fix_market_data_server* fix() const noexcept { return fix_.get(); }
    /// nullptr when no lines are configured.
    [[nodiscard]] market_data::line_publisher* lines() noexcept { return lines_.get(); }
    [[nodiscard]] const market_data::line_publisher* lines() const noexcept { return lines_.get(); }

 private:
    void open_memory(const configuration& c);
    void note_phase(domain::instrument_id id, domain::trading_phase phase);

    io::context& context_;
    std::vector<std::optional<domain::trading_phase>> phases_;  ///< by instrument id
    market_data::feed_publisher publisher_;
    feed_relay* relay_ = nullptr;
    market_data::subscriber_server subscribers_;
    std::unique_ptr<market_data::line_publisher> lines_;
    std::unique_ptr<fix_market_data::fix_market_data_server> fix_;
    std::optional<io::shm_broadcast> broadcast_;
    io::shm_acceptor feed_memory_;
    io::tcp_acceptor feed_;
    io::tcp_acceptor snapshots_;
    io::tcp_acceptor depth_;
    io::tcp_acceptor fix_port_;
    io::endpoint feed_endpoint_;
    io::endpoint snapshot_endpoint_;
    std::optional<io::endpoint> depth_endpoint_;
    std::optional<io::endpoint> fix_endpoint_;
};

}  // namespace corro::node
