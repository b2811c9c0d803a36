// SPDX-License-Identifier: Apache-2.0
// Copies a venue's journals while the venue runs, without its locks.
//
//     auto done = co_await back_up(&files, "data/journal", "/backup/monday", nullptr);
//     if (!done) ...                                        // done.error().text; no files are left
//
// The copy is of one moment: the state that a power cut would have left. It has the journals of all partitions, their
// newest snapshots and the file `sessions`, so that `corro serve` starts from it. Until it is complete its directory
// has the suffix `.unfinished`.
//
// Threads: one context. Cost: reads and writes the journals once; memory for one snapshot.
// Source:  docs/spec/journal.md, copies.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/storage.hpp"

namespace corro::node {

/// One journal in a copy.
struct backed_up_journal {
    std::string folder;  ///< empty for a venue of one facility
    std::uint64_t last_sequence = 0;
    std::size_t segments_count = 0;
    std::uint64_t snapshot_sequence = 0;  ///< of the newest snapshot; 0 for none
};

struct backup_report {
    std::vector<backed_up_journal> journals;
    std::uint64_t bytes = 0;
    std::chrono::system_clock::time_point moment;  ///< the copy includes everything acknowledged before
};

/// Receives the number of bytes copied so far.
using backup_progress = std::function<void(std::uint64_t)>;

/// Copies the journal in a directory, or those of a venue's partitions in its folders.
/// @param files     Outlive it.
/// @param to        A path that is not in use; its parent exists.
/// @param progress  Called regularly; may be nullptr.
/// @error file_exists if `to` is in use, foreign_file if the directory has no journal, and as a copier's.
[[nodiscard]] io::task<std::expected<backup_report, journal::problem>> back_up(journal::storage* files,
                                                                               std::string directory, std::string to,
                                                                               const backup_progress* progress);

}  // namespace corro::node
