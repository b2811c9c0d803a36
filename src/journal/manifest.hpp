// SPDX-License-Identifier: Apache-2.0
// The manifest of a journal: a record of its files, so that a missing one is noticed.
//
// A segment refers to the one before it, but not to the one after it: without the newest segment a journal would seem
// to end earlier, and without any it would seem new. The manifest records the newest segment before the first command
// is written to it, and the end of the journal when it was closed in order.
//
//     auto found = co_await find_manifest(&files, "data/journal", venue, birth);   // under the directory's lock
//     ... a reader reads to the end ...
//     auto whole = check_end(*found, journal->end(), "data/journal");
//
// Layout: all numbers little endian; the file `manifest` has two slots of 512 bytes, of which the valid one with the
// higher number of writes counts. They are written in turns, so that a torn write leaves the other one.
//
//   offset  size  meaning
//        0     8  "CORROMAN"
//        8     4  version of the format: 1
//       12     4  CRC32C of all 512 bytes, this field taken as zero
//       16     8  how often the manifest was written
//       24     8  number of the newest segment; 0 before there is one
//       32     4  CRC32C of that segment's header
//       36     4  1 if the journal was closed in order, otherwise 0
//       40     8  number of the oldest segment that is kept
//       48     8  closed: the sequence number behind the last command; otherwise the first one of the newest segment
//       56     8  fencing epoch
//       64     8  fingerprint of the venue's instruments
//       72    24  name of the venue, padded with zeros
//       96    16  id of the venue
//      112    16  key for the venue's hashes
//      128     4  partition
//      132   380  zeros
//
// Threads: one context.
// Cost:    reading: one read. Writing: one read, one write and one sync, once for each segment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/reader.hpp"
#include "journal/segment_format.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

inline constexpr std::string_view manifest_name = "manifest";
inline constexpr std::size_t manifest_slot_bytes = sector_bytes;

struct manifest {
    std::uint64_t writes_count = 0;  ///< 0: there is no file yet
    std::uint64_t newest_segment = 0;
    std::uint32_t newest_checksum = 0;
    bool is_closed = false;
    std::uint64_t oldest_segment = 1;
    std::uint64_t next_sequence = 1;
    std::uint64_t epoch = 0;
    identity venue;
    venue_identity birth;

    friend bool operator==(const manifest&, const manifest&) = default;
};

/// Encodes one slot. @param into manifest_slot_bytes.
void encode(const manifest& what, std::span<std::byte> into) noexcept;
/// Decodes one slot. @param from manifest_slot_bytes. @return Nothing if it is not a manifest, or damaged.
[[nodiscard]] std::optional<manifest> decode_manifest(std::span<const std::byte> from) noexcept;

/// The newer of the valid slots; nothing when there is no file or no valid slot.
/// @error the system's.
[[nodiscard]] io::task<std::expected<std::optional<manifest>, problem>> read_manifest(storage* files,
                                                                                      std::string directory);

/// Writes the newer slot again as it is, and returns when it is durable. For a start, before its first
/// `write_manifest`: the process before may have been killed before its sync, or that sync has failed, and then the
/// older slot alone is durable, which is the one that the next write takes.
/// @param writes_count  Of what `read_manifest` has found. @error the system's.
[[nodiscard]] io::task<std::expected<void, problem>> confirm_manifest(storage* files, std::string directory,
                                                                      std::uint64_t writes_count);

/// Writes to the older slot, makes the file if there is none, and returns when that is durable. Increments the number
/// of writes in `what`, which must stay valid until then.
/// @error in_use if the file has changed since this process wrote it; the system's errors.
[[nodiscard]] io::task<std::expected<void, problem>> write_manifest(storage* files, std::string directory,
                                                                    manifest* what);

/// The manifest for a start: for a new journal a new one; for a journal of version 1, which has none, one that is
/// not written yet. To be called under the directory's lock.
/// @param birth  The identity of a new journal.
/// @error missing_segment, missing_manifest, foreign_venue; the system's errors.
[[nodiscard]] io::task<std::expected<manifest, problem>> find_manifest(storage* files, std::string directory,
                                                                       identity venue, venue_identity birth);

/// Checks the end of a journal against its manifest.
/// @error missing_segment, missing_end, stale_manifest, broken_chain.
[[nodiscard]] std::expected<void, problem> check_end(const manifest& what, const journal_end& end,
                                                     const std::string& directory);

/// Writes a manifest for the existing files: accepts a journal as it is, whatever is missing. Under the directory's
/// lock.
/// @return  The journal's end. @error as the reader's.
[[nodiscard]] io::task<std::expected<journal_end, problem>> adopt_journal(storage* files, std::string directory);

/// The name of the file with the torn bytes that a start has cut off a segment.
[[nodiscard]] std::string torn_name(std::uint64_t number);
[[nodiscard]] std::optional<std::uint64_t> torn_number(std::string_view name) noexcept;

}  // namespace corro::journal
