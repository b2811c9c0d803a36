// Limits of the journal, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "domain/command.hpp"

namespace corro::journal {

/// What a disk writes whole or not at all. Everything in a segment begins on such a border, so that no sector with
/// durable bytes is ever written a second time.
inline constexpr std::size_t sector_bytes = 512;

/// Commands in one block. 2,048 make 256 KiB, which a processor checks while they are in its cache; a larger block
/// would only make more of a torn write.
inline constexpr std::uint32_t block_commands_max = 2'048;

/// Shards of one venue: their numbers have five bits in an order id.
inline constexpr std::uint32_t shards_max = 32;

/// Marks of other shards in one block: what fits into its header. With more shards than that and one, the blocks take
/// turns.
inline constexpr std::size_t block_marks_max = 10;

/// Commands that wait while the disk is busy, unless the options say otherwise: 16 ms at a million a second.
inline constexpr std::uint32_t buffer_commands_default = 16'384;

/// A segment unless the options say otherwise: half a million commands in full blocks.
inline constexpr std::uint64_t segment_bytes_default = std::uint64_t{64} << 20;

/// Bounds of a segment. The smallest holds its header, its seal and some blocks of one command; the largest can still
/// be read within a second.
inline constexpr std::uint64_t segment_bytes_min = 16 * sector_bytes;
inline constexpr std::uint64_t segment_bytes_max = std::uint64_t{4} << 30;

/// The state in a snapshot: ten million open orders of 400 bytes.
inline constexpr std::uint64_t snapshot_bytes_max = std::uint64_t{4} << 30;

/// How often a journal in which nothing happens looks whether those of the other shards have more on the disk. It
/// writes one block then, and syncs it.
inline constexpr std::chrono::milliseconds marks_interval{500};

/// How often a full disk is looked at again.
inline constexpr std::chrono::milliseconds full_disk_retry{100};

/// How long the mode `async` waits from one sync to the next.
inline constexpr std::chrono::milliseconds async_sync_interval{20};

static_assert(block_commands_max <= buffer_commands_default, "a buffer holds a block");
static_assert(buffer_commands_default * sizeof(domain::command) < segment_bytes_default, "a buffer fits a segment");

}  // namespace corro::journal
