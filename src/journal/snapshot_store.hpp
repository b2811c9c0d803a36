// SPDX-License-Identifier: Apache-2.0
// Snapshots of a state beside the journal, so that a restart need not replay everything.
//
//     snapshot_store snapshots(&files, "data/journal", venue);
//     auto saved = co_await snapshots.save(about, bytes);        // bytes: as facility::save made them
//     if (saved) log.forget_before(about.sequence);
//     ...
//     auto newest = co_await snapshots.load_newest();            // then the journal from newest->sequence + 1
//
// A snapshot is written under another name, synced, renamed, and its name synced, so that a file with its final name
// is complete. A damaged snapshot is skipped and reported, and the next older one is used. A snapshot of another venue
// is refused, because the directory must be the wrong one. Write a snapshot only of a state whose last command is
// durable, so that no snapshot is ever ahead of the journal; and only under the journal's lock.
//
// Layout: all numbers little endian; 00000000000000001234.snapshot is the state after command 1234.
//
//   offset  size  meaning
//        0     8  "CORROSNP"
//        8     4  version of the format: 1
//       12     4  CRC32C of the first 128 bytes, this field taken as zero
//       16     8  sequence number of the last command that the state has executed
//       24     8  fencing epoch
//       32     8  when it was made, nanoseconds since the epoch of Unix
//       40     8  fingerprint of the venue's instruments
//       48     4  partition
//       52     4  CRC32C of the state's bytes
//       56     8  how many bytes the state has
//       64     8  hash of the state, as the facility computes it
//       72    24  name of the venue, padded with zeros
//       96    32  zeros
//      128        the state, opaque here
//
// Limits:  snapshot_bytes_max.
// Threads: one context.
// Cost:    loading allocates the state's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

inline constexpr std::size_t snapshot_header_bytes = 128;

/// The header in front of a state.
struct snapshot_header {
    std::uint64_t sequence = 0;
    std::uint64_t epoch = 0;
    std::int64_t created_ns = 0;
    std::uint64_t state_hash = 0;
};

struct stored_snapshot {
    snapshot_header about;
    std::vector<std::byte> bytes;
};

/// The result of `load_newest`.
struct newest_snapshot {
    std::optional<stored_snapshot> snapshot;
    std::vector<problem> passed_over;  ///< damaged ones, newest first
};

class snapshot_store {
 public:
    /// @param files  Outlives the store.
    /// @param venue  The owner of the snapshots; nothing to accept any, in tools, which only read.
    snapshot_store(storage* files, std::string directory, std::optional<identity> venue)
        : files_(files), directory_(std::move(directory)), venue_(std::move(venue)) {}

    /// Writes a snapshot; when it returns without error, the snapshot is durable under its name.
    /// @param bytes  Valid until the await returns.
    /// @error file_too_large beyond snapshot_bytes_max; the system's errors. Existing snapshots are untouched.
    [[nodiscard]] io::task<std::expected<void, problem>> save(snapshot_header about, std::span<const std::byte> bytes);

    /// The sequence numbers of the existing snapshots, oldest first. Does not check their contents.
    [[nodiscard]] std::expected<std::vector<std::uint64_t>, problem> list() const;

    /// The snapshot of that sequence number.
    /// @error out_of_reach if there is none, damaged, foreign_file, unsupported_version, foreign_venue; the system's
    ///        errors.
    [[nodiscard]] io::task<std::expected<stored_snapshot, problem>> load(std::uint64_t sequence);

    /// The last `count` bytes of the state of that sequence number, unchecked. Fewer when the file is shorter.
    /// @error the system's.
    [[nodiscard]] io::task<std::expected<std::vector<std::byte>, problem>> load_end(std::uint64_t sequence,
                                                                                    std::size_t count);

    /// The newest valid snapshot that is not after `sequence`; none if there is none.
    /// @error foreign_venue; the system's.
    [[nodiscard]] io::task<std::expected<newest_snapshot, problem>> load_newest(
        std::uint64_t sequence = std::numeric_limits<std::uint64_t>::max());

    /// Removes a snapshot, which must exist.
    [[nodiscard]] io::task<std::expected<void, problem>> remove(std::uint64_t sequence);

    /// Removes the oldest ones, so that `count` stay.
    [[nodiscard]] io::task<std::expected<void, problem>> keep(std::size_t count);

 private:
    [[nodiscard]] std::string path_of(std::uint64_t sequence) const;

    storage* files_;
    std::string directory_;
    std::optional<identity> venue_;
};

/// The file name of a snapshot.
[[nodiscard]] std::string snapshot_name(std::uint64_t sequence);
/// The sequence number in a snapshot's file name; nothing for other names.
[[nodiscard]] std::optional<std::uint64_t> snapshot_sequence(std::string_view name) noexcept;

}  // namespace corro::journal
