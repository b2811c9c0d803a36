// SPDX-License-Identifier: Apache-2.0
// The bytes of a journal's segments.
//
// A journal is a directory of segments, numbered from 1: 0000000001.segment, 0000000002.segment, ... A segment is a
// header of one sector, then blocks, each beginning on a sector's border, then zeros up to the preallocated length. A
// block holds commands in their memory layout (domain/command.hpp). A segment that was closed in order ends with a
// seal, a block without commands. docs/spec/journal.md has the rules for damage.
//
// Layout: all numbers little endian.
//
//   segment header, 512 bytes
//   offset  size  meaning
//        0     8  "CORROJNL"
//        8     4  version of the format: 2
//       12     4  CRC32C of all 512 bytes, this field taken as zero
//       16     8  number of the segment, from 1
//       24     8  sequence number of the first command that the segment holds or will hold
//       32     8  fencing epoch: of all its blocks
//       40     8  when it was made, nanoseconds since the epoch of Unix
//       48     8  fingerprint of the venue's instruments
//       56     4  partition
//       60     4  bytes of one command: 128
//       64     8  bytes of the segment with its zeros
//       72    24  name of the venue, padded with zeros
//       96    16  id of the venue, random, made with its first journal
//      112    16  key for the venue's hashes, random, made with its first journal
//      128     4  CRC32C of the header of the segment before this one; 0 in the first
//      132     4  zeros
//      136     8  digest of the commands of the segment before this one; 0 in the first
//      144   256  marks of partitions, each 8 bytes, then zeros
//      400   112  zeros
//
//   block header, 128 bytes, then the commands, then zeros up to the next border
//   offset  size  meaning
//        0     4  "CJB2" for commands, "CJM2" for marks alone, "CJE2" for the seal
//        4     4  CRC32C of the block from offset 8 to its last command, continuing the CRC32C of the segment's header:
//                 a block from elsewhere does not fit
//        8     8  sequence number of its first command; without commands, that which comes next
//       16     8  highest sequence number that was on the disk when the block was made; 0 for none
//       24     8  fencing epoch
//       32     4  commands in the block
//       36     4  zeros
//       40    80  marks of partitions, each 8 bytes, then zeros
//      120     8  zeros
//
//   mark of a partition, 8 bytes
//   bits 0 to 55   the last command of that partition's journal that was on the disk when the mark was made
//   bits 56 to 62  which partition
//   bit 63         1 in every mark: that partition has a journal, also when no command is in it
//
// The digest of a segment is made of the checksums of its blocks that have commands, in their order (digest_after).
//
// Version 1, which is still read, has a segment header that ends with the venue's name and zeros behind it, and block
// headers of 64 bytes, "CJB1" and "CJE1", without marks.
//
// These three stay in every version: the magic, the version and the CRC32C of the first 512 bytes.
//
// Cost: no allocation; checking runs at the speed of the checksum.
#pragma once

#include <array>
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

static_assert(std::endian::native == std::endian::little, "commands are journaled in their memory layout");

inline constexpr std::uint32_t format_version = 2;
inline constexpr std::size_t segment_header_bytes = sector_bytes;
/// In the current version. No block has more sectors than with the 64 bytes of version 1.
inline constexpr std::size_t block_header_bytes = 128;
inline constexpr std::size_t block_header_bytes_v1 = 64;
inline constexpr std::size_t command_bytes = sizeof(domain::command);

/// The next multiple of a sector.
[[nodiscard]] constexpr std::uint64_t padded(std::uint64_t bytes) noexcept {
    return (bytes + sector_bytes - 1) / sector_bytes * sector_bytes;
}

/// The bytes of a block in its segment, in any version.
[[nodiscard]] constexpr std::uint64_t block_bytes(std::uint64_t commands_count) noexcept {
    return padded(block_header_bytes + commands_count * command_bytes);
}

inline constexpr std::uint64_t seal_bytes = block_bytes(0);

/// How much of a segment is read at a time: enough for sequential reads of the disk, and in a near cache when it is
/// checked. What is in the page cache is then read without a change of thread (io/file/file.hpp).
inline constexpr std::size_t read_bytes_at_once = std::size_t{128} << 10U;
/// The reader's buffer, from which it returns commands.
inline constexpr std::size_t read_buffer_bytes = std::size_t{1} << 20U;
static_assert(read_buffer_bytes >= read_bytes_at_once + 2 * block_bytes(block_commands_max));

/// The recorded progress of another partition's journal.
struct partition_mark {
    std::uint32_t partition = 0;
    bool has_begun = false;      ///< that partition has a journal, which may have no command yet
    std::uint64_t sequence = 0;  ///< the last durable command of that journal

    friend bool operator==(const partition_mark&, const partition_mark&) = default;
};

/// A mark as its 8 bytes. @pre The partition is below partitions_max, the sequence number below 2^56 (asserted).
[[nodiscard]] std::uint64_t pack(const partition_mark& mark) noexcept;
[[nodiscard]] partition_mark unpack_mark(std::uint64_t bytes) noexcept;

/// Random numbers that are made with the first journal of a venue and never change.
struct venue_identity {
    std::array<std::byte, 16> id{};        ///< zeros in a journal of version 1
    std::array<std::byte, 16> hash_key{};  ///< for hashes of values that clients choose

    friend bool operator==(const venue_identity&, const venue_identity&) = default;
};

struct segment_header {
    std::uint32_t version = format_version;
    identity venue;
    venue_identity birth;
    std::uint64_t number = 0;
    std::uint64_t first_sequence = 0;
    std::uint64_t epoch = 0;
    std::int64_t created_ns = 0;
    std::uint64_t segment_bytes = 0;
    std::uint32_t previous_checksum = 0;                ///< of the header of the segment before
    std::uint64_t previous_digest = 0;                  ///< of the commands of the segment before
    std::array<std::uint64_t, partitions_max> marks{};  ///< packed; 0 for none
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
    std::uint32_t checksum = 0;
    bool is_seal = false;
    std::size_t bytes = block_header_bytes;              ///< of the header itself
    std::array<std::uint64_t, block_marks_max> marks{};  ///< packed; 0 for none

    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return first_sequence + commands_count; }
};

/// The size of a block's header in this segment.
[[nodiscard]] constexpr std::size_t block_header_bytes_in(const segment_header& segment) noexcept {
    return segment.version == 1 ? block_header_bytes_v1 : block_header_bytes;
}

/// The marks of a block, packed; at most block_marks_max.
using packed_marks = std::span<const std::uint64_t>;

/// Writes the header of a block in front of its commands, which are already in place.
/// @param block  block_header_bytes_in(segment), then exactly the commands. Without commands it is a block of marks
///               only.
void encode_block(const segment_header& segment, std::uint64_t first_sequence, std::uint64_t durable_sequence,
                  std::span<std::byte> block, packed_marks marks = {}) noexcept;

/// Writes a seal.
/// @param into  block_header_bytes_in(segment).
void encode_seal(const segment_header& segment, std::uint64_t next_sequence, std::uint64_t durable_sequence,
                 std::span<std::byte> into, packed_marks marks = {}) noexcept;

/// The size of a block, header and commands, according to its header; nothing if no block begins here.
/// @param from  block_header_bytes_in(segment), unchecked.
[[nodiscard]] std::optional<std::size_t> claimed_bytes(const segment_header& segment,
                                                       std::span<const std::byte> from) noexcept;

/// Checks a block: checksum, epoch, sequence numbers of its commands. The caller checks the padding.
/// @param block  As many bytes as `claimed_bytes` returned.
/// @return       Nothing if anything is wrong.
[[nodiscard]] std::optional<block_header> decode_block(const segment_header& segment,
                                                       std::span<const std::byte> block) noexcept;

/// The digest of a segment including this block, from the digest `before` it; 0 before the first block.
[[nodiscard]] std::uint64_t digest_after(std::uint64_t before, const block_header& block) noexcept;

/// The commands of a block that `decode_block` accepted. @pre The block is aligned as commands are (asserted).
[[nodiscard]] std::span<const domain::command> commands_of(const block_header& header,
                                                           std::span<const std::byte> block) noexcept;

[[nodiscard]] bool all_zero(std::span<const std::byte> bytes) noexcept;

inline constexpr std::string_view segment_suffix = ".segment";

/// The file name of a segment.
[[nodiscard]] std::string segment_name(std::uint64_t number);
/// The number in a segment's file name; nothing for other names.
[[nodiscard]] std::optional<std::uint64_t> segment_number(std::string_view name) noexcept;

/// The name of the preallocated file that becomes the next segment.
inline constexpr std::string_view spare_name = "spare";

}  // namespace corro::journal
