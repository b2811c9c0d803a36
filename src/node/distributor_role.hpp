// The market-data side in a process of its own, fed by the venue's feed: as many as wanted, each for its own
// subscribers.
//
// It joins the venue's feed as any subscriber does, by a snapshot and from the next message on, and publishes the same
// messages under the same numbers, by TCP and by its own lines. When the connection breaks it tries until the venue is
// back and goes on with the next message; its subscribers notice nothing but the pause. When the venue no longer has
// that message, or has gone back behind it, the feed ends: there would be a gap.
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
#include "node/configuration.hpp"
#include "node/market_data_side.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class distributor_role {
 public:
    /// How long to wait between two attempts to reach the venue.
    static constexpr std::chrono::milliseconds retry_interval{100};

    /// Opens the ports. @param feed, snapshots  The venue's.
    /// @throws std::system_error, configuration_error as `exchange`.
    distributor_role(io::context& context, const configuration& configuration, io::endpoint feed,
                     io::endpoint snapshots);

    /// Serves until `close`, or until the venue's feed cannot be continued.
    [[nodiscard]] io::task<void> run();

    /// Begins to leave.
    void close() noexcept;

    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return feed_.feed_endpoint(); }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return feed_.snapshot_endpoint(); }
    [[nodiscard]] const market_data::distributor& distributor() const noexcept { return feed_.distributor(); }
    /// Nothing when metrics are not served.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return metrics_endpoint_; }
    /// Why the feed ended by itself; empty if it did not.
    [[nodiscard]] const std::string& failure() const noexcept { return failure_; }

 private:
    io::task<void> follow();
    io::task<void> join();
    io::task<void> pass_on();
    void collect(telemetry::metrics_page& page) const;

    io::context& context_;
    io::endpoint venue_feed_;
    io::endpoint venue_snapshots_;
    std::unique_ptr<telemetry::event_log> log_;  ///< when there is one
    telemetry::producer* events_log_;            ///< this thread's end of it, or nullptr
    market_data_side feed_;
    telemetry::metrics_server metrics_;
    io::tcp_acceptor metrics_port_;
    std::optional<io::endpoint> metrics_endpoint_;
    std::uint64_t resumed_count_ = 0;  ///< times that the venue's feed was found again
    std::unique_ptr<client::feed_session> upstream_;
    io::task_scope* following_ = nullptr;
    io::manual_event joined_;
    bool defines_;  ///< whether the venue may have instruments that are not configured
    std::string failure_;
    bool closing_ = false;
};

}  // namespace corro::node
