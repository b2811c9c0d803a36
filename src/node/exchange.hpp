// One exchange: gateway, facility and distributor composed into a process, on one thread.
//
// Requests come out of the gateway's queue in one order, get their sequence number and time, and go through the
// facility; its events go to the sessions they are for and to the feed. This is the only place that joins the two ends
// of the queue.
//
// Threads: one context. Limits: the configuration's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/tsc_clock.hpp"
#include "facility/facility.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/order_entry_gateway.hpp"
#include "io/context.hpp"
#include "io/endpoint.hpp"
#include "io/task.hpp"
#include "io/tcp.hpp"
#include "market_data/distributor.hpp"
#include "market_data/line_publisher.hpp"
#include "node/configuration.hpp"
#include "node/latency_tables.hpp"

namespace corro::node {

class exchange final : private facility::event_consumer {
 public:
    /// Opens the ports of the configuration; port 0 takes a free one.
    /// @throws std::system_error when a port cannot be opened; configuration_error when an address is malformed.
    exchange(io::context& context, const configuration& configuration);
    ~exchange();
    exchange(const exchange&) = delete;
    exchange& operator=(const exchange&) = delete;

    /// Serves until `close`; ends when every session has said goodbye and every accepted request is answered.
    [[nodiscard]] io::task<void> run();

    /// Begins to leave.
    void close() noexcept { gateway_.close(); }

    [[nodiscard]] io::endpoint order_entry_endpoint() const noexcept { return order_entry_endpoint_; }
    [[nodiscard]] io::endpoint feed_endpoint() const noexcept { return feed_endpoint_; }
    [[nodiscard]] io::endpoint snapshot_endpoint() const noexcept { return snapshot_endpoint_; }
    /// Nothing when no lines are configured, or nobody may ask.
    [[nodiscard]] std::optional<io::endpoint> retransmission_endpoint() const noexcept {
        return lines_ == nullptr ? std::nullopt : lines_->retransmission_endpoint();
    }

    [[nodiscard]] const latency_tables& latencies() const noexcept { return latencies_; }
    [[nodiscard]] const gateway::gateway_statistics& gateway_statistics() const noexcept {
        return gateway_.statistics();
    }
    [[nodiscard]] const market_data::distributor_statistics& feed_statistics() const noexcept {
        return distributor_.statistics();
    }
    /// nullptr when no lines are configured.
    [[nodiscard]] const market_data::line_publisher_statistics* line_statistics() const noexcept {
        return lines_ == nullptr ? nullptr : &lines_->statistics();
    }
    [[nodiscard]] const market_data::book_image* book(domain::instrument_id id) const noexcept {
        return distributor_.book(id);
    }
    /// Commands sequenced so far.
    [[nodiscard]] std::uint64_t commands_count() const noexcept { return sequence_; }
    [[nodiscard]] std::uint64_t state_hash() const { return facility_.state_hash(); }

 private:
    /// Commands applied in a row before the sockets get their turn.
    static constexpr std::size_t batch_max = 512;

    void consume(std::span<const domain::event> events) noexcept override;
    io::task<void> pump();
    void apply(domain::command& command);

    base::tsc_clock clock_;
    std::uint64_t start_ticks_;
    std::int64_t start_ns_;  ///< wall-clock time at start_ticks_
    latency_tables latencies_;
    gateway::account_directory accounts_;
    gateway::command_queue commands_;
    gateway::answer_log answers_;
    facility::facility facility_;
    gateway::order_entry_gateway gateway_;
    market_data::distributor distributor_;
    std::unique_ptr<market_data::line_publisher> lines_;
    io::context& context_;
    io::tcp_acceptor order_entry_;
    io::tcp_acceptor feed_;
    io::tcp_acceptor snapshots_;
    io::endpoint order_entry_endpoint_;
    io::endpoint feed_endpoint_;
    io::endpoint snapshot_endpoint_;
    std::uint64_t sequence_ = 0;
};

}  // namespace corro::node
