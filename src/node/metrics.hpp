// Writes the metrics of a process from the counters of its components.
//
// Names and units: docs/howto/observe.md. Threads: the sides'.
#pragma once

#include <span>

#include "node/facility_thread.hpp"
#include "node/host_journal.hpp"
#include "node/market_data_side.hpp"
#include "node/order_entry_side.hpp"
#include "node/recovery_progress.hpp"
#include "node/segment.hpp"
#include "node/snapshot_maker.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

void add_metrics(const order_entry_side& side, telemetry::metrics_page& page);
void add_metrics(const market_data_side& side, telemetry::metrics_page& page);
/// The feeds and the journals of all partitions, each sample with its partition's name.
void add_metrics(std::span<const segment* const> segments, telemetry::metrics_page& page);
/// The progress of the journal and its newest snapshot.
void add_metrics(const host_journal& journal, telemetry::metrics_page& page);
void add_metrics(const recovery_progress& progress, telemetry::metrics_page& page);
void add_metrics(const snapshot_maker& maker, telemetry::metrics_page& page);
void add_metrics(const matching_host& host, telemetry::metrics_page& page);
void add_metrics(const facility_thread& thread, telemetry::metrics_page& page);
void add_metrics(const telemetry::event_log& log, telemetry::metrics_page& page);

}  // namespace corro::node
