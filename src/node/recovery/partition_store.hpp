// SPDX-License-Identifier: Apache-2.0
// Writes snapshots of a venue of several partitions: one of each partition, of the same moment.
//
// The first partition's snapshot names those of the others, and is written last; snapshots that no kept moment needs
// are removed only after that. So whenever the process ends, the newest complete moment is still complete.
//
// Layout: docs/spec/partitions.md. Threads: one context. Cost: saves and writes every partition that has executed
// commands.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "io/loop/context.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/snapshot_store.hpp"
#include "journal/storage.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/venue_snapshot.hpp"

namespace corro::node {

/// A partition whose state is written, and the target.
struct stored_partition {
    /// @param files  Outlive it.
    /// @param own    From `configuration_of_partition`.
    /// @param newest_sequence  The last command in its newest snapshot that a moment needs; 0 for none.
    stored_partition(journal::storage* files, const configuration& own, venue_parts state, std::uint64_t writing_epoch,
                     std::uint64_t newest_sequence);

    journal::snapshot_store store;
    venue_parts parts;
    std::uint64_t epoch;
    std::uint64_t newest;
};

/// Writes the states of all partitions, which must be of one moment, the first partition's last. A partition without
/// commands since its newest snapshot is not written again. Then removes all but `snapshots_kept` moments and their
/// snapshots.
/// @param all      In order; valid until the await returns.
/// @param arrival  The last one of the moment.
/// @return  The last command in the oldest kept snapshot, by partition.
[[nodiscard]] io::task<std::expected<std::vector<std::uint64_t>, journal::problem>> store_partitions(
    std::vector<stored_partition>* all, const io::context* clock, std::uint64_t arrival, std::size_t snapshots_kept);

}  // namespace corro::node
