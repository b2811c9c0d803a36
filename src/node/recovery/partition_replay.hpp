// SPDX-License-Identifier: Apache-2.0
// Replays the journals of a venue's partitions up to a moment: loads the newest snapshots of one moment, and executes
// the commands after them in the order of their arrival over all journals. A recovery uses it, and so do snapshots of
// a running venue.
//
// Threads: the context of the journals' files. Cost: reads a snapshot of each partition, and reads and executes the
// journals after them.
// Source: docs/spec/partitions.md.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "domain/command.hpp"
#include "io/task/task.hpp"
#include "journal/snapshot_store.hpp"
#include "node/recovery/journal_replay.hpp"
#include "node/recovery/venue_snapshot.hpp"
#include "node/venue/answer_merger.hpp"

namespace corro::node {

/// One partition to replay. All members outlive the replay.
struct replayed_partition {
    journal_replay* journal = nullptr;  ///< not read yet
    venue_parts into;                   ///< newly made; the first partition's include the answers
};

/// Receives the replayed commands.
struct replay_listener {
    virtual void replayed(std::size_t partition, const domain::command& command) = 0;
    /// Only some partitions have their copy of a command to all.
    virtual void replayed_partly(const domain::command& command) = 0;

 protected:
    ~replay_listener() = default;
};

class partition_replay {
 public:
    /// @param merger  Receives the events of the partitions' hosts; newly made, and outlives the replay.
    partition_replay(std::vector<replayed_partition> partitions, answer_merger& merger);

    /// Loads the newest moment for which every partition has a valid snapshot. Without one, the partitions begin with
    /// their first commands. Fails with recovery_error.
    /// @return  The last arrival in the state; 0 for a new venue.
    [[nodiscard]] io::task<std::uint64_t> load_newest();

    /// The last command of each partition that any examined snapshot of the first partition names.
    [[nodiscard]] std::span<const std::uint64_t> named_sequences() const noexcept { return named_sequences_; }

    /// Replays to the journals' ends. Fails with recovery_error.
    /// @pre Loaded.
    [[nodiscard]] io::task<void> run(replay_listener* witness);
    /// Replays each journal up to the given moment, and reads nothing beyond it. Ends early when `stopping` has
    /// become true. Fails with recovery_error.
    /// @pre Loaded; the journals hold it.
    [[nodiscard]] io::task<void> run_to(venue_cut moment, const std::atomic<bool>* stopping);

 private:
    using snapshots = std::vector<std::optional<journal::stored_snapshot>>;

    [[nodiscard]] io::task<bool> find_others(const venue_cut* cut, snapshots* found);
    [[nodiscard]] bool load_all(const snapshots& found);
    [[nodiscard]] bool may_have_next(std::size_t partition) const noexcept;
    io::task<void> read_ahead();
    void check_next(std::size_t partition) const;
    /// A partition's next command to replay; nullptr when there is none.
    [[nodiscard]] const domain::command* next_of(std::size_t partition) const noexcept;
    [[nodiscard]] std::uint64_t next_arrival() const noexcept;
    [[nodiscard]] bool replay_arrival(std::uint64_t arrival, replay_listener* witness);

    std::vector<replayed_partition> partitions_;
    answer_merger& merger_;
    std::vector<std::uint64_t> named_sequences_;
    std::vector<std::uint64_t> last_sequences_;  ///< the last command to replay, by partition
};

}  // namespace corro::node
