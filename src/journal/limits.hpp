// SPDX-License-Identifier: Apache-2.0
// Limits of the journal, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "domain/command.hpp"

namespace corro::journal {

/// The unit that a disk writes completely or not at all. Everything in a segment is aligned to it, so that no sector
/// with durable bytes is ever written a second time.
inline constexpr std::size_t sector_bytes = 512;

/// Commands in one block. 2,048 make 256 KiB, which fit a processor's cache while they are checked; a larger block
/// would only enlarge a torn write.
inline constexpr std::uint32_t block_commands_max = 2'048;

/// Partitions of one venue: their numbers have five bits in an order id.
inline constexpr std::uint32_t partitions_max = 32;

/// Marks of other partitions in one block: as many as fit its header. With more partitions the blocks take turns.
inline constexpr std::size_t block_marks_max = 10;

/// The default number of commands that wait while the disk is busy: 16 ms at a million per second.
inline constexpr std::uint32_t buffer_commands_default = 16'384;

/// The default size of a segment: half a million commands in full blocks.
inline constexpr std::uint64_t segment_bytes_default = std::uint64_t{64} << 20;

/// Bounds of a segment. The smallest holds its header, its seal and some blocks of one command; the largest can still
/// be read within a second.
inline constexpr std::uint64_t segment_bytes_min = 16 * sector_bytes;
inline constexpr std::uint64_t segment_bytes_max = std::uint64_t{4} << 30;

/// The state in a snapshot: ten million open orders of 400 bytes.
inline constexpr std::uint64_t snapshot_bytes_max = std::uint64_t{4} << 30;

/// The interval at which an idle journal checks whether those of other partitions have more durable commands. If so, it
/// writes one block and syncs it.
inline constexpr std::chrono::milliseconds marks_interval{500};

/// The interval of retries on a full disk.
inline constexpr std::chrono::milliseconds full_disk_retry{100};

/// The interval of syncs in the mode `async`.
inline constexpr std::chrono::milliseconds async_sync_interval{20};

static_assert(block_commands_max <= buffer_commands_default, "a buffer holds a block");
static_assert(buffer_commands_default * sizeof(domain::command) < segment_bytes_default, "a buffer fits a segment");

}  // namespace corro::journal
