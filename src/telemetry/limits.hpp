// SPDX-License-Identifier: Apache-2.0
// Limits of the event log and of the metrics.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace corro::telemetry {

/// Events that one thread may be ahead of the writer; further ones are counted as lost. 4 MiB, a quarter of a second at
/// 260,000 events/s.
inline constexpr std::size_t events_waiting_max = std::size_t{1} << 16U;

/// The same for log records, which are rare.
inline constexpr std::size_t log_records_waiting_max = std::size_t{1} << 12U;

/// The interval at which the writer polls. Producers do not wake it, so that they pay only for a copy.
inline constexpr std::chrono::milliseconds look_interval{10};

/// Bytes of one log file; then the next one begins.
inline constexpr std::uint64_t file_bytes_max = std::uint64_t{256} << 20U;

/// Files of one kind that are kept, including the current one.
inline constexpr std::uint32_t files_max = 8;

/// Connections to the metrics' port, in all and from one address. A monitor has one; beyond the limit a new connection
/// evicts the oldest.
inline constexpr std::size_t metrics_connections_max = 256;
inline constexpr std::size_t metrics_connections_per_address_max = 64;

/// Pages of metrics that are made in a window, some 200 us each. Further requests get the last page again.
inline constexpr std::uint32_t pages_made_max = 20;
inline constexpr std::chrono::milliseconds pages_window{1'000};

/// Text that is collected before it is written.
inline constexpr std::size_t write_bytes = std::size_t{1} << 18U;

}  // namespace corro::telemetry
