// SPDX-License-Identifier: Apache-2.0
// One partition of a venue: a facility with its sequence of commands, its journal and its feed. A venue that is not
// divided is one partition.
//
// Threads: the context of order entry and feed; the facility has its own thread when split.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/recovery/venue_snapshot.hpp"
#include "node/venue/event_router.hpp"
#include "node/venue/facility_thread.hpp"
#include "node/venue/market_data_server.hpp"
#include "node/venue/matching_host.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// Makes the sink of a partition's events, which refers to its feed.
using sink_maker = std::function<std::unique_ptr<partition_sink>(market_data_server& feed)>;

struct partition {
    /// Opens no port yet.
    /// @param c         From `configuration_of_partition`, or that of a venue of one.
    /// @param log       nullptr for no log.
    /// @param queue     Split: the gateway's queue, whose commands the thread takes; only their number is reported
    /// back.
    ///                  nullptr: a queue of its own, and the outcome of each command is reported.
    /// @throws std::system_error, configuration_error
    partition(io::context& context, const configuration& c, const io::tick_clock& clock, telemetry::producer* log,
              std::uint32_t sessions_count, gateway::command_queue* queue, const sink_maker& make_sink);
    partition(const partition&) = delete;
    partition& operator=(const partition&) = delete;

    /// The context of the facility.
    [[nodiscard]] io::context& host_context() noexcept { return thread != nullptr ? thread->context() : edge_context; }
    /// Runs `work` on the context of the facility. @pre The thread is not started.
    [[nodiscard]] io::task<void> run_on_host(io::task<void> work);

    /// The session name of its feed.
    [[nodiscard]] const std::string& name() const noexcept {
        return own.feed_session.empty() ? own.venue_name : own.feed_session;
    }
    /// Whether the venue is divided.
    [[nodiscard]] bool is_of_several() const noexcept { return !own.feed_session.empty(); }
    [[nodiscard]] std::size_t index() const noexcept { return own.partition_index; }
    /// The parts with state, the answers among them if this is the first partition.
    [[nodiscard]] venue_parts parts(gateway::answer_log& answers) noexcept;

    configuration own;
    io::context& edge_context;
    market_data_server feed;
    std::unique_ptr<partition_sink> sink;
    std::unique_ptr<gateway::command_queue> own_commands;  ///< split, unless the gateway's queue is used
    std::unique_ptr<facility_thread> thread;               ///< split
    matching_host host;
    std::unique_ptr<host_journal> journal;  ///< nullptr without a journal
    bool is_held_back = false;              ///< split: whether the merger had no room for its events
};

}  // namespace corro::node
