// The bytes of a journal's segments.
//
// A journal is a directory of segments, numbered from 1: 0000000001.segment, 0000000002.segment, ... A segment is a
// header of one sector, then blocks, each beginning on a sector's border, then zeros up to the length for which room
// was made on the disk. A block holds commands as they lie in memory (domain/command.hpp). A segment that was finished
// in order ends with a seal, a block without commands. docs/spec/journal.md says what a reader concludes from damage.
//
// Layout: all numbers little endian.
//
//   segment header, 512 bytes
//   offset  size  meaning
//        0     8  "CORROJNL"
//        8     4  version of the format: 1
//       12     4  CRC32C of all 512 bytes, this field taken as zero
//       16     8  number of the segment, from 1
//       24     8  sequence number of the first command that the segment holds or will hold
//       32     8  fencing epoch: of all its blocks
//       40     8  when it was made, nanoseconds since the epoch of Unix
//       48     8  fingerprint of the venue's instruments
//       56     4  shard
//       60     4  bytes of one command: 128
//       64     8  bytes of the segment with its zeros
//       72    24  name of the venue, padded with zeros
//       96   416  zeros
//
//   block header, 64 bytes, then the commands, then zeros up to the next border
//   offset  size  meaning
//        0     4  "CJB1" for commands, "CJE1" for the seal
//        4     4  CRC32C of the block from offset 8 to its last command, continuing the CRC32C of the segment's header:
//                 a block from elsewhere does not fit
//        8     8  sequence number of its first command; of the seal: that which comes next
//       16     8  highest sequence number that was on the disk when the block was made; 0 for none
//       24     8  fencing epoch
//       32     4  commands in the block
//       36    28  zeros
//
// These three stay in every version: the magic, the version and the CRC32C of the first 512 bytes.
//
// Cost: no allocation; checking runs at the speed of the checksum.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "domain/command.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/limits.hpp"

namespace corro::journal {

static_assert(std::endian::native == std::endian::little, "commands are journaled as they lie in memory");

inline constexpr std::uint32_t format_version = 1;
inline constexpr std::size_t segment_header_bytes = sector_bytes;
inline constexpr std::size_t block_header_bytes = 64;
inline constexpr std::size_t command_bytes = sizeof(domain::command);

/// The next sector's border.
[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
    return (bytes + sector_bytes - 1) / sector_bytes * sector_bytes;
}

/// What a block of so many commands takes up in its segment.
[[nodiscard]] constexpr std::uint64_t block_bytes(std::uint64_t commands_count) noexcept {
    return padded(block_header_bytes + commands_count * command_bytes);
}

inline constexpr std::uint64_t seal_bytes = block_bytes(0);

struct segment_header {
    identity venue;
    std::uint64_t number = 0;
    std::uint64_t first_sequence = 0;
    std::uint64_t epoch = 0;
    std::int64_t created_ns = 0;
    std::uint64_t segment_bytes = 0;
    std::uint32_t checksum = 0;  ///< Of the header itself; its blocks continue it. Filled in by both functions below.
};

/// Writes the header.
/// @param into  segment_header_bytes.
void encode(segment_header& header, std::span<std::byte> into) noexcept;

/// Reads a header.
/// @param from  segment_header_bytes.
/// @error foreign_file, damaged, unsupported_version.
[[nodiscard]] std::expected<segment_header, journal_errc> decode_segment_header(
    std::span<const std::byte> from) noexcept;

struct block_header {
    std::uint64_t first_sequence = 0;
    std::uint64_t durable_sequence = 0;
    std::uint32_t commands_count = 0;
    bool is_seal = false;

    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return first_sequence + commands_count; }
};

/// Writes the header of a block in front of its commands, which are there already.
/// @param block  block_header_bytes, then exactly the commands.
void encode_block(const segment_header& segment, std::uint64_t first_sequence, std::uint64_t durable_sequence,
                  std::span<std::byte> block) noexcept;

/// Writes a seal.
/// @param into  block_header_bytes.
void encode_seal(const segment_header& segment, std::uint64_t next_sequence, std::uint64_t durable_sequence,
                 std::span<std::byte> into) noexcept;

/// How many bytes, header and commands, the block that begins with these claims to have; nothing if they begin none.
/// @param from  block_header_bytes, unchecked.
[[nodiscard]] std::optional<std::size_t> claimed_bytes(std::span<const std::byte> from) noexcept;

/// Checks a block: checksum, epoch, sequence numbers of its commands. What stands in the padding is the caller's.
/// @param block  As many bytes as `claimed_bytes` said.
/// @return       Nothing if anything is wrong.
[[nodiscard]] std::optional<block_header> decode_block(const segment_header& segment,
                                                       std::span<const std::byte> block) noexcept;

/// The commands of a block that `decode_block` accepted. @pre The block is aligned as commands are (asserted).
[[nodiscard]] std::span<const domain::command> commands_of(std::span<const std::byte> block) noexcept;

[[nodiscard]] bool all_zero(std::span<const std::byte> bytes) noexcept;

/// The file name of a segment.
[[nodiscard]] std::string segment_name(std::uint64_t number);
/// The number in a segment's file name; nothing for other names.
[[nodiscard]] std::optional<std::uint64_t> segment_number(std::string_view name) noexcept;

/// What a new segment is made of, until it has its header and its name.
inline constexpr std::string_view spare_name = "spare";

}  // namespace corro::journal
