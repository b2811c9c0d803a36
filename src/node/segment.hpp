// One partition of a venue: a facility with its sequence of commands, its journal and its feed.
//
// Threads: the context of sessions and feed; the facility has its own thread when split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "gateway/command_queue.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "node/answer_merger.hpp"
#include "node/command_outlet.hpp"
#include "node/configuration.hpp"
#include "node/facility_thread.hpp"
#include "node/host_journal.hpp"
#include "node/market_data_side.hpp"
#include "node/matching_host.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// Receives the events of a partition on the thread of sessions and feed: converts ids of orders and trades to those of
/// the venue, publishes public events and passes private ones to the merger.
class segment_edge final : public command_outlet {
 public:
    segment_edge(std::size_t index, market_data_side& feed, answer_merger& merger) noexcept
        : index_(index), feed_(feed), merger_(merger) {}

    void log_to(telemetry::producer* log) noexcept { log_ = log; }

    /// Takes all events.
    std::size_t accept(std::span<const domain::event> events) noexcept override;
    void executed(const executed_command& what) override { merger_.executed(index_, what); }
    [[nodiscard]] bool has_room() const noexcept override { return merger_.has_room(index_); }
    bool give_up() noexcept override { return !std::exchange(has_failed_, true); }
    /// Split: the partition's journal has failed, and all released events are here.
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }

 private:
    std::size_t index_;
    market_data_side& feed_;
    answer_merger& merger_;
    telemetry::producer* log_ = nullptr;
    bool has_failed_ = false;
};

struct segment {
    /// Opens no port yet.
    /// @param c  From `configuration_of_segment`.
    /// @throws std::system_error, configuration_error as `exchange`.
    segment(io::context& context, const configuration& c, const io::tick_clock& clock, answer_merger& merger,
            telemetry::producer* log, std::uint32_t sessions_count);
    segment(const segment&) = delete;
    segment& operator=(const segment&) = delete;

    /// The context of the facility.
    [[nodiscard]] io::context& host_context() noexcept { return thread != nullptr ? thread->context() : edge_context; }
    [[nodiscard]] const std::string& name() const noexcept { return own.feed_session; }
    [[nodiscard]] std::size_t index() const noexcept { return own.shard; }

    configuration own;
    io::context& edge_context;
    market_data_side feed;
    segment_edge edge;
    gateway::command_queue commands;          ///< split: to the thread
    std::unique_ptr<facility_thread> thread;  ///< split
    matching_host host;
    std::unique_ptr<host_journal> journal;  ///< nullptr without a journal
    bool is_held_back = false;              ///< split: whether the merger had no room for its events
};

}  // namespace corro::node
