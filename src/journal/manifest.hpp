// The manifest of a journal: which files it has, so that one that is gone is missed.
//
// The files of a journal tell of those before them, and nothing of those behind: without the newest segment a journal
// would look as if it ended earlier, and without any as if it had never begun. The manifest records the newest segment
// before the first command is written to it, and where the journal ended when it was closed in order.
//
//     auto found = co_await find_manifest(&files, "data/journal", venue, birth);   // under the directory's lock
//     ... a reader reads to the end ...
//     auto whole = check_end(*found, journal->end(), "data/journal");
//
// Layout: all numbers little endian; the file `manifest` has two slots of 512 bytes, of which the sound one with the
// higher number of writes counts. They are written in turns, so that a torn write leaves the other.
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
//      128     4  shard
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

/// One slot. @param into  manifest_slot_bytes.
void encode(const manifest& what, std::span<std::byte> into) noexcept;
/// @param from  manifest_slot_bytes. @return Nothing if it is none, or damaged.
[[nodiscard]] std::optional<manifest> decode_manifest(std::span<const std::byte> from) noexcept;

/// The newer of the sound slots; nothing when there is no file, or no sound slot in it.
/// @error what the system reports.
[[nodiscard]] io::task<std::expected<std::optional<manifest>, problem>> read_manifest(storage* files,
                                                                                      std::string directory);

/// Writes to the older slot, makes the file if there is none, and returns when that is on the disk. `what` stays valid
/// until then and counts one write more.
/// @error in_use if the file is not as this process wrote it last; what the system reports.
[[nodiscard]] io::task<std::expected<void, problem>> write_manifest(storage* files, std::string directory,
                                                                    manifest* what);

/// What a start needs: the manifest, made for a journal that is new. Of a journal of version 1, which has none, one
/// that is not written yet. To be called under the directory's lock.
/// @param birth  For a journal that has none yet.
/// @error missing_segment, missing_manifest, foreign_venue; what the system reports.
[[nodiscard]] io::task<std::expected<manifest, problem>> find_manifest(storage* files, std::string directory,
                                                                       identity venue, venue_identity birth);

/// Whether a journal ends where its manifest says that it must.
/// @error missing_segment, missing_end, stale_manifest, broken_chain.
[[nodiscard]] std::expected<void, problem> check_end(const manifest& what, const journal_end& end,
                                                     const std::string& directory);

/// A manifest of what is there: takes a journal as it is, whatever is missing. Under the directory's lock.
/// @return  The journal's end. @error as a reader's.
[[nodiscard]] io::task<std::expected<journal_end, problem>> adopt_journal(storage* files, std::string directory);

/// The bytes of a torn tail that a start has cut off and kept, by the number of their segment.
[[nodiscard]] std::string torn_name(std::uint64_t number);
[[nodiscard]] std::optional<std::uint64_t> torn_number(std::string_view name) noexcept;

}  // namespace corro::journal
