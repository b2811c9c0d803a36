// SPDX-License-Identifier: Apache-2.0
// A snapshot of a venue: the host with its facility, the answers to sessions, the feed with its books.
//
// Saved between two commands, while no event is between the host and the sessions or the feed. Loading it gives the
// same state hash and the same numbers of orders, sessions, answers and feed messages as replaying all commands.
//
// Layout: docs/spec/journal.md, what is in a snapshot. Threads: that of all three, or all of them idle.
// Limits: snapshot_feed_bytes_max. Cost: the facility's snapshot, 64 bytes for each kept answer, about 32 for each
//         order of the books, and the newest messages of the feed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "facility/snapshot.hpp"
#include "gateway/answer_log.hpp"
#include "market_data/feed_publisher.hpp"
#include "market_data/line_publisher.hpp"
#include "node/venue/matching_host.hpp"

namespace corro::node {

/// A moment of a venue of several partitions: exactly the commands up to an arrival are executed.
struct venue_cut {
    std::uint64_t arrival = 0;
    std::vector<std::uint64_t> sequences;  ///< of the last command at that moment, by partition
};

/// The components of a venue with state that survives a restart. They must outlive this.
struct venue_parts {
    matching_host* host = nullptr;
    gateway::answer_log* answers = nullptr;  ///< nullptr: they are in another partition's snapshot
    market_data::feed_publisher* feed = nullptr;
    market_data::line_publisher* lines = nullptr;  ///< of the feed, or nullptr
    const venue_cut* cut = nullptr;  ///< the moment of the snapshot, where the answers of several partitions are
};

/// Why a snapshot was not loaded.
struct load_failure {
    std::error_code unfit;  ///< the facility's error; nothing has changed
    std::string problem;    ///< a mismatch with the configuration, as a sentence; the venue cannot be used

    [[nodiscard]] bool failed() const noexcept { return unfit || !problem.empty(); }
};

/// @pre  Every event of the host has been delivered (asserted).
[[nodiscard]] std::vector<std::byte> save_venue(const venue_parts& parts);

/// @pre  The parts are newly made.
[[nodiscard]] load_failure load_venue(const venue_parts& parts, std::span<const std::byte> saved);

/// The size of the moment at the end of a snapshot.
[[nodiscard]] std::size_t cut_bytes(std::size_t partitions_count) noexcept;

/// The moment of a snapshot with the answers of a venue of this many partitions; nothing if it has none. Its last
/// `cut_bytes` are enough.
[[nodiscard]] std::optional<venue_cut> cut_of(std::span<const std::byte> saved, std::size_t partitions_count);

/// The header of the facility's part, which comes first; all zeros when the snapshot is too short.
[[nodiscard]] facility::snapshot_header facility_header_of(std::span<const std::byte> saved) noexcept;

}  // namespace corro::node
