// SPDX-License-Identifier: Apache-2.0
// A venue: order entry, one or several partitions, and the way of answers between them.
//
// Order entry is in this process, or in gateways that connect over links (`order_entry_place`). Each partition is a
// facility with its journal and its feed. A venue that is not divided has one; its events go directly to order entry.
// With several partitions a router distributes the commands and merges the answers. `threading` selects the threads:
// inline, everything is on one context; split, each facility has a thread of its own.
//
// Threads: one context, and one per partition when split; during `start` one for the recovery. Limits: the
// configuration's, node/configuration/limits.hpp.
// Source: docs/decisions/0012-one-venue.md.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "domain/command.hpp"
#include "io/loop/context.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/links/linked_order_entry.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/journal_watch.hpp"
#include "node/venue/latency_tables.hpp"
#include "node/venue/local_order_entry.hpp"
#include "node/venue/partition.hpp"
#include "node/venue/venue_core.hpp"
#include "node/venue/venue_watch.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// Where clients enter orders.
enum class order_entry_place : std::uint8_t {
    here,           ///< at the ports of this process
    over_gateways,  ///< at gateways in processes of their own, which connect to the configuration's link
};

class venue {
 public:
    /// Opens nothing yet.
    /// @param noticed  With gateways: called with a sentence when one has other accounts or keys than this process.
    /// @throws configuration_error when an address is malformed; std::system_error.
    venue(io::context& context, const configuration& configuration, order_entry_place place = order_entry_place::here,
          std::function<void(const std::string&)> noticed = {});
    /// @pre `run` or `stop` has ended after a `start` (asserted).
    ~venue();
    venue(const venue&) = delete;
    venue& operator=(const venue&) = delete;

    /// Recovers from the journals, and then opens the ports of the configuration; port 0 takes a free one. The metrics
    /// port is open during the recovery. Fails with std::system_error when a port cannot be opened, with
    /// configuration_error and with recovery_error; nothing needs to be stopped then. Once.
    [[nodiscard]] io::task<void> start();

    /// Ends a venue that was started and will not run.
    [[nodiscard]] io::task<void> stop();

    /// Serves until `close`; ends when every session or link has ended and every accepted request is answered.
    /// @pre Started.
    [[nodiscard]] io::task<void> run();

    /// Starts to shut down. @pre Started.
    void close() noexcept { core_.close(); }

    /// Why a journal has failed, as a sentence; nullptr while none has. After a failure the venue ends by itself,
    /// unless it is configured to refuse all requests instead.
    [[nodiscard]] const std::string* failure() const noexcept { return core_.failure(); }

    /// Takes keys, new accounts and limits from a configuration that was read again; see command_source.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed) { return source_->reread(std::move(changed)); }

    /// Starts to write a snapshot of all partitions, without interrupting trading. No effect without a journal.
    void write_snapshot() noexcept {
        if (core_.snapshots != nullptr) core_.snapshots->ask();
    }

    [[nodiscard]] std::size_t partitions_count() const noexcept { return core_.partitions.size(); }
    /// When split its host and journal belong to its thread while `run` runs.
    [[nodiscard]] const partition& at(std::size_t index) const noexcept { return *core_.partitions[index]; }
    /// Order entry of this process; nullptr with gateways.
    [[nodiscard]] const order_entry* orders() const noexcept { return local_ == nullptr ? nullptr : &local_->orders(); }
    /// Order entry over gateways; nullptr when it is of this process.
    [[nodiscard]] const linked_order_entry* links() const noexcept { return linked_; }

    /// @pre Order entry of this process.
    [[nodiscard]] io::endpoint order_entry_endpoint() const noexcept { return local_->orders().endpoint(); }
    /// Nothing without a port for FIX.
    [[nodiscard]] std::optional<io::endpoint> fix_endpoint() const noexcept { return local_->orders().fix_endpoint(); }
    /// @pre Order entry over gateways.
    [[nodiscard]] std::string link_address() const { return linked_->link_address(); }
    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return watch_.endpoint(); }
    /// The event log's counters; zeros without a log.
    [[nodiscard]] telemetry::event_log_statistics event_log_statistics() const noexcept {
        return core_.log == nullptr ? telemetry::event_log_statistics() : core_.log->statistics();
    }
    /// @pre Order entry of this process.
    [[nodiscard]] const latency_tables& latencies() const noexcept { return local_->orders().latencies(); }
    [[nodiscard]] const gateway::gateway_statistics& gateway_statistics() const noexcept {
        return local_->orders().statistics();
    }

    // Of the only partition, or of the first.

    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return core_.first().feed.feed_endpoint(); }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return core_.first().feed.snapshot_endpoint(); }
    /// Nothing without lines or without a retransmission port.
    [[nodiscard]] std::optional<io::endpoint> retransmission_endpoint() const noexcept;
    /// Nothing without a depth port.
    [[nodiscard]] std::optional<io::endpoint> depth_endpoint() const noexcept {
        return core_.first().feed.depth_endpoint();
    }
    [[nodiscard]] market_data_statistics feed_statistics() const noexcept { return core_.first().feed.statistics(); }
    /// nullptr when no lines are configured.
    [[nodiscard]] const market_data::line_publisher_statistics* line_statistics() const noexcept;
    /// The number of the feed's next message.
    [[nodiscard]] std::uint64_t feed_next_sequence() const noexcept {
        return core_.first().feed.publisher().next_sequence();
    }
    [[nodiscard]] const feed::book_image* book(domain::instrument_id id) const noexcept {
        return core_.first().feed.publisher().book(id);
    }
    /// nullptr without a journal.
    [[nodiscard]] const host_journal* journal() const noexcept { return core_.first().journal.get(); }
    /// How far venue time was ahead of the wall clock at the last comparison.
    [[nodiscard]] std::chrono::nanoseconds clock_offset() const noexcept { return core_.first().host.clock_offset(); }
    /// When split, to be called only while no request is outstanding, as is `commands_count`.
    [[nodiscard]] std::uint64_t state_hash() const { return core_.first().host.state().state_hash(); }

    /// Commands sequenced so far, in all partitions together.
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return core_.commands_count(); }

 private:
    io::task<void> recover();
    void begin();
    io::task<void> open();
    io::task<void> follow_journal(partition* p);
    io::task<void> follow_thread(partition* p);
    io::task<void> make_snapshots();
    io::task<void> save_last_snapshot();

    venue_core core_;
    std::unique_ptr<command_source> source_;
    local_order_entry* local_ = nullptr;         ///< one of these is the source
    linked_order_entry* linked_ = nullptr;       ///< the other is nullptr
    std::uint64_t last_arrival_ = 0;             ///< of the recovery
    std::deque<domain::command> refusals_;       ///< of the recovery
    std::unique_ptr<journal_watch> disk_watch_;  ///< with a journal
    venue_watch watch_;                          ///< last: it reads all of the above
};

}  // namespace corro::node
