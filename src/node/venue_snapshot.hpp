// What a snapshot of a venue holds: the host with its facility, the answers to sessions, the feed with its books.
//
// Saved between two commands, while nothing is on its way from the host to the sessions and the feed. Who loads it goes
// on with the same state hash and the same numbers of orders, sessions, answers and feed messages as who executes all
// commands from the first.
//
// Layout: docs/spec/journal.md, what is in a snapshot. Threads: that of all three, or all of them at rest.
// Limits: snapshot_feed_bytes_max. Cost: the facility's snapshot, 64 bytes for each answer that is kept, about 32 for
//         each order of the books, and the newest messages of the feed.
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
#include "market_data/distributor.hpp"
#include "market_data/line_publisher.hpp"
#include "node/matching_host.hpp"

namespace corro::node {

/// A moment of a venue of several segments: everything that arrived until then is executed, and nothing else.
struct venue_cut {
    std::uint64_t arrival = 0;
    std::vector<std::uint64_t> sequences;  ///< of each segment's last command then
};

/// The parts of a venue that go on after a restart. They outlive whoever has this.
struct venue_parts {
    matching_host* host = nullptr;
    gateway::answer_log* answers = nullptr;  ///< nullptr: they are in another segment's snapshot
    market_data::distributor* feed = nullptr;
    market_data::line_publisher* lines = nullptr;  ///< of the feed, when there are any
    const venue_cut* cut = nullptr;  ///< where the answers of several segments are: the moment of the snapshot
};

/// Why a snapshot was not loaded.
struct load_failure {
    std::error_code unfit;  ///< the facility does not take it, and nothing has changed
    std::string problem;    ///< the rest does not fit the configuration, as a sentence; the venue cannot be used

    [[nodiscard]] bool failed() const noexcept { return unfit || !problem.empty(); }
};

/// @pre  Every event of the host has arrived where it belongs (asserted).
[[nodiscard]] std::vector<std::byte> save_venue(const venue_parts& parts);

/// @pre  The parts are as newly made.
[[nodiscard]] load_failure load_venue(const venue_parts& parts, std::span<const std::byte> saved);

/// Bytes at the end of a snapshot that say of which moment of so many segments it is.
[[nodiscard]] std::size_t cut_bytes(std::size_t segments_count) noexcept;

/// The moment of a snapshot that has the answers of a venue of so many segments; nothing if it is none. Its last
/// `cut_bytes` are enough.
[[nodiscard]] std::optional<venue_cut> cut_of(std::span<const std::byte> saved, std::size_t segments_count);

/// The header of the facility's part, which stands first; all zeros when there is no room for one.
[[nodiscard]] facility::snapshot_header facility_header_of(std::span<const std::byte> saved) noexcept;

}  // namespace corro::node
