// SPDX-License-Identifier: Apache-2.0
// The parts of a venue that order entry and the venue share: the partitions, the way of commands to them, the event
// log.
//
// Threads: one context.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gateway/admin_service.hpp"
#include "io/loop/context.hpp"
#include "io/loop/tick_clock.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/snapshot_maker.hpp"
#include "node/venue/command_source.hpp"
#include "node/venue/partition.hpp"
#include "node/venue/partition_router.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/log_record.hpp"

namespace corro::node {

/// The event log of a configuration; nullptr without one.
[[nodiscard]] std::unique_ptr<telemetry::event_log> make_event_log(const io::context& context, const configuration& c);

struct venue_core {
    venue_core(io::context& where, const configuration& c);
    venue_core(const venue_core&) = delete;
    venue_core& operator=(const venue_core&) = delete;

    /// Makes the partitions of the configuration. @throws std::system_error, configuration_error
    void make_partitions(command_source& from);

    /// The only partition, or the first.
    [[nodiscard]] partition& first() noexcept { return *partitions.front(); }
    [[nodiscard]] const partition& first() const noexcept { return *partitions.front(); }

    /// Inline: releases events whose command is durable.
    void release();
    void flush_feeds() noexcept {
        for (const auto& p : partitions) p->feed.flush();
    }
    /// Releases, reports and sends. To be called once per batch, unless order entry does it by itself.
    void publish_progress();

    /// Why a journal has failed, as a sentence; nullptr while none has.
    [[nodiscard]] const std::string* failure() const noexcept;
    /// Whether a journal has failed and all events that it has released are delivered: nothing more is answered.
    [[nodiscard]] bool has_failed() const noexcept;
    /// A failed journal is permanent: ends the venue, or refuses all requests at once.
    void inspect_journals();
    /// Why the venue is not ready, as a sentence; empty when it is.
    [[nodiscard]] std::string not_ready_reason() const;
    /// Starts to shut down.
    void close() noexcept;

    /// The replies to an operator's request: the state of each partition. A snapshot concerns the whole venue, and the
    /// first partition replies for all.
    void reply(const gateway::admin_request& question, const std::function<void(const gateway::admin_reply&)>& to);

    /// Commands sequenced, in all partitions together. When split, to be called only while no command is outstanding.
    [[nodiscard]] std::uint64_t commands_count() const noexcept;
    /// Records an event of the venue's life.
    void record(telemetry::log_record_kind what, std::uint64_t number) const;
    void collect(telemetry::metrics_page& page) const;

    io::context& context;
    const io::tick_clock& clock;
    configuration settings;                     ///< of the start
    std::unique_ptr<telemetry::event_log> log;  ///< nullptr without an event log
    telemetry::producer* log_end;               ///< this thread's producer, or nullptr
    command_source* source = nullptr;
    std::unique_ptr<partition_router> router;  ///< several partitions; nullptr for one
    std::vector<std::unique_ptr<partition>> partitions;
    std::unique_ptr<snapshot_maker> snapshots;  ///< with journals
    bool is_closing = false;
    bool failure_is_known = false;
};

}  // namespace corro::node
