// SPDX-License-Identifier: Apache-2.0
// Market data in a process of its own, fed by the venue's feed. There may be any number of them, each with its own
// subscribers.
//
// It joins the venue's feed like any subscriber, by a snapshot and from the next message on, and publishes the same
// messages under the same numbers, by TCP and by its own lines. When the connection breaks it retries until the venue
// is back and continues with the next message; its subscribers notice only the pause. When the venue no longer has
// that message, or its feed ends before it, the feed ends, because there would be a gap.
//
// Threads: one context. Limits: the configuration's, market_data/limits.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "client/feed_session.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/sync/event.hpp"
#include "io/task/scope.hpp"
#include "io/task/task.hpp"
#include "market_data/limits.hpp"
#include "node/configuration/configuration.hpp"
#include "node/venue/market_data_server.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class distributor_role {
 public:
    /// The pause between two attempts to connect to the venue.
    static constexpr std::chrono::milliseconds retry_interval{100};
    // A machine that loses its power in the middle of a login leaves a connection on which nothing comes.
    static constexpr std::chrono::milliseconds resume_timeout = market_data::login_timeout;
    static constexpr std::chrono::milliseconds join_timeout = resume_timeout + market_data::snapshot_timeout;

    /// Opens the ports. @param feed, snapshots  The venue's.
    /// @throws std::system_error, configuration_error as `exchange`.
    distributor_role(io::context& context, const configuration& configuration, io::endpoint feed,
                     io::endpoint snapshots);

    /// Serves until `close`, or until the venue's feed cannot be continued.
    [[nodiscard]] io::task<void> run();

    /// Starts to shut down.
    void close() noexcept;

    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return feed_.feed_endpoint(); }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return feed_.snapshot_endpoint(); }
    /// Of market data by FIX; nothing without a port for it.
    [[nodiscard]] std::optional<io::endpoint> fix_endpoint() const noexcept { return feed_.fix_endpoint(); }
    [[nodiscard]] const market_data::feed_publisher& publisher() const noexcept { return feed_.publisher(); }
    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return metrics_endpoint_; }
    /// Why the feed ended by itself; empty otherwise.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
    io::task<void> follow();
    io::task<void> join();
    io::task<void> pass_on();
    void collect(telemetry::metrics_page& page) const;

    io::context& context_;
    io::endpoint venue_feed_;
    io::endpoint venue_snapshots_;
    std::unique_ptr<telemetry::event_log> log_;  ///< nullptr without an event log
    telemetry::producer* events_log_;            ///< this thread's producer, or nullptr
    market_data_server feed_;
    telemetry::metrics_server metrics_;
    io::tcp_acceptor metrics_port_;
    std::optional<io::endpoint> metrics_endpoint_;
    std::uint64_t resumed_count_ = 0;  ///< reconnects to the venue's feed
    std::unique_ptr<client::feed_session> upstream_;
    io::task_scope* following_ = nullptr;
    io::manual_event joined_;
    bool defines_;  ///< whether the venue may define further instruments
    std::string failure_;
    bool closing_ = false;
};

}  // namespace corro::node
