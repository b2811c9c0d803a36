// SPDX-License-Identifier: Apache-2.0
// Order entry as the venue sees it: it submits commands, receives their answers, and sends. Either of this process
// (local_order_entry.hpp) or of other processes over links (links/linked_order_entry.hpp).
//
// Calls of this interface are per batch. Events and commands go directly between order entry and the partitions.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "domain/instrument.hpp"
#include "gateway/answer_log.hpp"
#include "gateway/command_queue.hpp"
#include "io/task/task.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/host_journal.hpp"
#include "node/venue/account_changes.hpp"
#include "node/venue/event_router.hpp"
#include "node/venue/event_sink.hpp"
#include "node/venue/facility_thread.hpp"
#include "node/venue/market_data_server.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

class command_source {
 public:
    command_source() = default;
    command_source(const command_source&) = delete;
    command_source& operator=(const command_source&) = delete;
    virtual ~command_source() = default;

    // --- Set-up, in this order --------------------------------------------------------------------------------------

    /// The largest number of sessions while the venue runs.
    [[nodiscard]] virtual std::uint32_t sessions_capacity() const noexcept = 0;
    /// The answers to each session; for recovery, and for saving while no answer is outstanding.
    [[nodiscard]] virtual gateway::answer_log& answers() noexcept = 0;
    /// The queue whose commands the thread of the only partition takes; nullptr for a queue of the partition's own.
    [[nodiscard]] virtual gateway::command_queue* queue_of_thread() noexcept = 0;
    /// The sink of the only partition.
    [[nodiscard]] virtual std::unique_ptr<partition_sink> make_sink(market_data_server& feed) = 0;
    /// The receiver of the merged answers of several partitions.
    [[nodiscard]] virtual outcome_sink& merged_sink() noexcept = 0;
    /// The partitions are recovered: takes over accounts, cancels on disconnect and instruments.
    /// @throws recovery_error
    virtual void begin(std::vector<host_journal*> journals, std::span<const facility::facility* const> states) = 0;
    /// Opens the ports. Clients or gateways connect from then on. Fails with std::system_error and configuration_error.
    [[nodiscard]] virtual io::task<void> open() = 0;

    // --- While it runs ----------------------------------------------------------------------------------------------

    /// Serves until `close`, and until every command is answered.
    [[nodiscard]] virtual io::task<void> run() = 0;
    /// Starts to shut down.
    virtual void close() noexcept = 0;
    /// Takes keys, new accounts and limits from a configuration that was read again.
    /// @suspend  Until the commands are answered. @overlap One at a time. @cancel Nothing is changed then, although the
    ///           commands may be in the journal.
    [[nodiscard]] virtual io::task<reread_outcome> reread(configuration changed) = 0;

    /// An instrument that was defined, complete.
    virtual void define(const domain::instrument& instrument) = 0;
    /// Moves events of the only partition's thread here. @return Whether there were any.
    [[nodiscard]] virtual bool drain(facility_thread& from) = 0;
    /// Events were delivered: finds out which commands are answered, and starts to send.
    virtual void report_progress() = 0;
    /// Commands that waited for a partition may be submitted now.
    virtual void resume() noexcept = 0;
    /// The journal of the only partition has failed for good: refuses logons with this reason.
    virtual void refuse_after_failure() = 0;

    virtual void collect(telemetry::metrics_page& page) const = 0;
};

}  // namespace corro::node
