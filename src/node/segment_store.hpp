// Snapshots of a venue of several segments, on the disk: one of each segment, of the same moment.
//
// The first segment's says which ones of the others belong to it, and is written last; what no kept moment needs goes
// only then. So whenever the process ends, the newest moment that was whole is still whole.
//
// Layout: docs/spec/segments.md. Threads: one context. Cost: saves and writes every segment that has done something.
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
#include "node/configuration.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {

/// A segment whose state is written, and where to.
struct stored_segment {
    /// @param files  Outlive it.
    /// @param own    As `configuration_of_segment` makes it.
    /// @param newest_sequence  The last command in the newest snapshot of it that a moment needs; 0 for none.
    stored_segment(journal::storage* files, const configuration& own, venue_parts state, std::uint64_t writing_epoch,
                   std::uint64_t newest_sequence);

    journal::snapshot_store store;
    venue_parts parts;
    std::uint64_t epoch;
    std::uint64_t newest;
};

/// Writes the state of all segments, which is that of one moment, the first one's last. What has done nothing since its
/// newest snapshot is not written again. Then only `snapshots_kept` moments stay, and of every segment what they need.
/// @param all      In their order; valid until the await returns.
/// @param arrival  The last one in the moment.
/// @return  Of each segment the last command in the oldest snapshot that is kept.
[[nodiscard]] io::task<std::expected<std::vector<std::uint64_t>, journal::problem>> store_segments(
    std::vector<stored_segment>* all, const io::context* clock, std::uint64_t arrival, std::size_t snapshots_kept);

}  // namespace corro::node
