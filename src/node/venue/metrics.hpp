// SPDX-License-Identifier: Apache-2.0
// Writes the metrics of a process from the counters of its components.
//
// Names and units: docs/howto/observe.md. Threads: the sides'.
#pragma once

#include <span>

#include "node/recovery/recovery_progress.hpp"
#include "node/recovery/snapshot_maker.hpp"
#include "node/venue/market_data_server.hpp"
#include "node/venue/order_entry.hpp"
#include "node/venue/partition.hpp"
#include "telemetry/event_log.hpp"
#include "telemetry/metrics.hpp"

namespace corro::node {

void add_metrics(const order_entry& side, telemetry::metrics_page& page);
void add_metrics(const market_data_server& side, telemetry::metrics_page& page);
/// The feeds, journals, clocks and rings of all partitions; with several, each sample has its partition's name.
void add_metrics(std::span<const partition* const> partitions, telemetry::metrics_page& page);
void add_metrics(const recovery_progress& progress, telemetry::metrics_page& page);
void add_metrics(const snapshot_maker& maker, telemetry::metrics_page& page);
void add_metrics(const telemetry::event_log& log, telemetry::metrics_page& page);

}  // namespace corro::node
