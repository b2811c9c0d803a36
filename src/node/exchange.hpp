// A venue of one facility in one process: gateway, facility and distributor.
//
// Requests come from the gateway's queue in one order and go through the matching host; its events go to their sessions
// and to the feed. `threading` selects the threads: inline, everything is on one context; split, the host has a thread
// of its own. Order entry, market data and host are the same classes in both cases and independent of each other.
//
// Threads: one context, and the facility's thread when split; during the construction one for the recovery. Limits: the
// configuration's.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/net/endpoint.hpp"
#include "io/task/task.hpp"
#include "node/answer_marks.hpp"
#include "node/configuration.hpp"
#include "node/edges.hpp"
#include "node/facility_thread.hpp"
#include "node/host_journal.hpp"
#include "node/journal_watch.hpp"
#include "node/latency_tables.hpp"
#include "node/market_data_side.hpp"
#include "node/matching_host.hpp"
#include "node/order_entry_side.hpp"
#include "node/snapshot_maker.hpp"
#include "node/venue_snapshot.hpp"
#include "node/venue_watch.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class exchange final : private gateway::command_consumer, private gateway::admin_service {
 public:
    /// Recovers from the journal, and then opens the ports of the configuration; port 0 takes a free one. The metrics
    /// port is open during the recovery.
    /// @throws std::system_error when a port cannot be opened; configuration_error when an address is malformed;
    ///         recovery_error.
    /// @pre    `context` is not running.
    exchange(io::context& context, const configuration& configuration);
    ~exchange();
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    /// Serves until `close`; ends when every session has ended and every accepted request is answered.
    [[nodiscard]] io::task<void> run();

    /// Starts to shut down.
    void close() noexcept {
        closing_ = true;
        orders_.close();
    }

    /// Why the journal has failed, as a sentence; nullptr while it has not. After a failure the venue ends by itself,
    /// unless it is configured to refuse all requests instead.
    [[nodiscard]] const std::string* failure() const noexcept {
        return journal_ == nullptr ? nullptr : journal_->failure();
    }

    /// Takes keys, new accounts and limits from a configuration that was read again; see order_entry_side.
    [[nodiscard]] io::task<reread_outcome> reread(configuration changed) { return orders_.reread(std::move(changed)); }

    /// Starts to write a snapshot beside the journal, without interrupting trading. No effect without a journal.
    void write_snapshot() noexcept {
        if (snapshots_ != nullptr) snapshots_->ask();
    }

    [[nodiscard]] io::endpoint order_entry_endpoint() const noexcept { return orders_.endpoint(); }
    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return feed_.feed_endpoint(); }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return feed_.snapshot_endpoint(); }
    /// Nothing without lines or without a retransmission port.
    [[nodiscard]] std::optional<io::endpoint> retransmission_endpoint() const noexcept {
        return feed_.lines() == nullptr ? std::nullopt : feed_.lines()->retransmission_endpoint();
    }

    /// Nothing without a depth port.
    [[nodiscard]] std::optional<io::endpoint> depth_endpoint() const noexcept { return feed_.depth_endpoint(); }
    /// Nothing without a metrics port.
    [[nodiscard]] std::optional<io::endpoint> metrics_endpoint() const noexcept { return watch_.endpoint(); }
    /// The event log's counters; zeros without a log.
    [[nodiscard]] telemetry::event_log_statistics event_log_statistics() const noexcept {
        return log_ == nullptr ? telemetry::event_log_statistics() : log_->statistics();
    }

    [[nodiscard]] const latency_tables& latencies() const noexcept { return orders_.latencies(); }
    [[nodiscard]] const gateway::gateway_statistics& gateway_statistics() const noexcept {
        return orders_.statistics();
    }
    [[nodiscard]] market_data_statistics feed_statistics() const noexcept { return feed_.statistics(); }
    /// nullptr when no lines are configured.
    [[nodiscard]] const market_data::line_publisher_statistics* line_statistics() const noexcept {
        return feed_.lines() == nullptr ? nullptr : &feed_.lines()->statistics();
    }
    /// The number of the feed's next message.
    [[nodiscard]] std::uint64_t feed_next_sequence() const noexcept { return feed_.publisher().next_sequence(); }
    [[nodiscard]] const market_data::book_image* book(domain::instrument_id id) const noexcept {
        return feed_.publisher().book(id);
    }
    /// nullptr without a journal. When split it belongs to the facility's thread while `run` runs.
    [[nodiscard]] const host_journal* journal() const noexcept { return journal_.get(); }
    /// How far venue time was ahead of the wall clock at the last comparison.
    [[nodiscard]] std::chrono::nanoseconds clock_offset() const noexcept { return host_.clock_offset(); }
    /// Commands sequenced so far. When split, to be called only while no request is outstanding, as is the hash.
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return host_.sequence(); }
    [[nodiscard]] std::uint64_t state_hash() const { return host_.state().state_hash(); }

 private:
    [[nodiscard]] venue_parts parts() noexcept {
        return {&host_, &orders_.answers(), &feed_.publisher(), feed_.lines()};
    }
    bool take(const domain::command& command) noexcept override;
    void expect(std::span<domain::prefetch_hint> coming) noexcept override;
    void execute(domain::command& command) noexcept;
    io::task<void> pump_inline();
    io::task<void> pump_split();
    io::task<void> follow_journal();
    void publish_progress() noexcept;
    void look_at_journal();
    [[nodiscard]] std::string hindrance() const;
    [[nodiscard]] gateway::request_refusal ask(const gateway::admin_request& question) override;
    void collect(telemetry::metrics_page& page) const;
    void say(telemetry::log_record_kind what, std::uint64_t number) const;

    const io::tick_clock& clock_;
    io::context& context_;
    std::unique_ptr<telemetry::event_log> log_;  ///< nullptr without an event log
    telemetry::producer* events_log_;            ///< this thread's producer, or nullptr
    order_entry_side orders_;
    market_data_side feed_;
    edges edges_;
    std::unique_ptr<facility_thread> thread_;  ///< when split
    matching_host host_;
    std::unique_ptr<host_journal> journal_;
    std::unique_ptr<journal_watch> disk_watch_;  ///< with a journal
    std::unique_ptr<snapshot_maker> snapshots_;  ///< with a journal
    answer_marks marks_;                         ///< inline
    std::uint64_t taken_count_ = 0;              ///< inline
    bool ends_with_journal_;
    bool failure_is_known_ = false;
    bool closing_ = false;
    venue_watch watch_;  ///< last: it reads all of the above
};

}  // namespace corro::node
