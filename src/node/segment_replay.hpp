// Brings the copies of a venue's segments from nothing to a moment of their journals: the newest snapshots of one
// moment, and the commands behind them in the order of their arrival, whatever journal they are in. Whoever recovers a
// venue does it, and whoever makes a snapshot of one that runs.
//
// Threads: the contexts of the journals' files, none of which is running. Cost: reads a snapshot of each segment, and
// reads and executes the journals behind them.
// Source: docs/spec/segments.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "io/loop/context.hpp"
#include "journal/snapshot_store.hpp"
#include "node/answer_merger.hpp"
#include "node/journal_replay.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {

/// One segment that is replayed. Everything outlives the replay.
struct replayed_segment {
    io::context* context = nullptr;     ///< of the journal's files
    journal_replay* journal = nullptr;  ///< nothing is read of it yet
    venue_parts into;                   ///< as newly made; the first segment's have the answers
};

/// Who wants to know which commands are replayed.
struct replay_listener {
    virtual void replayed(std::size_t segment, const domain::command& command) = 0;
    /// Only some segments have their copy of a command to all.
    virtual void replayed_partly(const domain::command& command) = 0;

 protected:
    ~replay_listener() = default;
};

class segment_replay {
 public:
    /// @param merger  Takes the events of the segments' hosts; as newly made, and outlives the replay.
    segment_replay(std::vector<replayed_segment> segments, answer_merger& merger);

    /// Loads the newest moment of which every segment has a sound snapshot. Without one, the segments begin with their
    /// first commands.
    /// @throws recovery_error
    /// @return  The last arrival that is in the state; 0 for a new venue.
    std::uint64_t load_newest();

    /// The last command of each segment that any snapshot of the first one names, among those that were looked at.
    [[nodiscard]] std::span<const std::uint64_t> named_sequences() const noexcept { return named_sequences_; }

    /// Replays to the journals' ends.
    /// @pre Loaded. @throws recovery_error
    void run(replay_listener& witness);
    /// Replays what a moment has of each journal, and reads nothing behind it. Ends where it is when `stopping` has
    /// become true.
    /// @pre Loaded; the journals hold it. @throws recovery_error
    void run_to(const venue_cut& moment, const std::atomic<bool>& stopping);

 private:
    using snapshots = std::vector<std::optional<journal::stored_snapshot>>;

    [[nodiscard]] std::optional<journal::stored_snapshot> find_snapshot(std::size_t segment, std::uint64_t sequence);
    [[nodiscard]] bool find_others(const venue_cut& cut, snapshots& found);
    [[nodiscard]] bool load_all(const snapshots& found);
    void prefetch_ahead(std::size_t segment);
    /// The next command of a segment that is replayed; nullptr when there is none.
    [[nodiscard]] const domain::command* next_of(std::size_t segment) const noexcept;
    [[nodiscard]] std::uint64_t next_arrival() const noexcept;
    void replay_arrival(std::uint64_t arrival, replay_listener* witness);

    std::vector<replayed_segment> segments_;
    answer_merger& merger_;
    std::vector<std::uint64_t> named_sequences_;
    std::vector<std::uint64_t> last_sequences_;  ///< to be replayed of each segment
};

}  // namespace corro::node
