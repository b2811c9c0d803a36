// SPDX-License-Identifier: Apache-2.0
// Recovers a venue up to a moment of its journal: loads the newest valid snapshot, and replays the commands after it
// through the host. Sessions and feed receive the replayed events as if they were live, so that their numbers
// continue.
//
// Threads: the context of its files. Cost: reads a snapshot, and reads and executes the journal after it.
// Source: docs/spec/journal.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "io/task/task.hpp"
#include "journal/identity.hpp"
#include "journal/reader.hpp"
#include "journal/snapshot_store.hpp"
#include "journal/storage.hpp"
#include "node/recovery/recovery_progress.hpp"
#include "node/recovery/venue_snapshot.hpp"
#include "node/venue/feed_relay.hpp"

namespace corro::node {

/// Why a host cannot start: its journal is damaged, belongs to another venue, is in use, or cannot be read. `what()` is
/// a sentence for the operator.
class recovery_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws a recovery_error: the problem, and what the operator can do about it.
[[noreturn]] void fail_recovery(const journal::problem& problem);

class journal_replay {
 public:
    /// @param files      Outlive the replay.
    /// @param may_lose   Whether the journal's mode may lose commands that a snapshot includes; such a snapshot is
    ///                   removed.
    journal_replay(journal::storage* files, std::string directory, journal::identity venue, bool may_lose);

    /// Reports the progress of the replay from now on. `progress` outlives it; several replays may share one.
    void report_to(recovery_progress* progress) noexcept { progress_ = progress; }

    /// The events of the feed go through `relay` from now on, which outlives the replay.
    void publish_by(feed_relay* relay) noexcept { relay_ = relay; }

    /// Brings the venue to the journal's end, or to the command `until`, whichever comes first. Fails with
    /// recovery_error.
    /// @param stopping  Checked regularly: when it has become true, the replay ends early. May be nullptr.
    /// @pre   The parts are newly made. To be called once.
    [[nodiscard]] io::task<void> run(venue_parts parts, const std::atomic<bool>* stopping = nullptr,
                                     std::uint64_t until = std::numeric_limits<std::uint64_t>::max());

    // --- In steps, for several journals whose commands are merged: partition_recovery.hpp ---

    /// The journal was closed in order and has lost nothing: it must include the commands of every snapshot.
    void expect_whole() noexcept { may_lose_ = false; }
    /// The newest valid snapshot not after `sequence`, if the journal has the following commands; `fetch` then returns
    /// these.
    [[nodiscard]] io::task<std::optional<journal::stored_snapshot>> find_snapshot(std::uint64_t sequence);
    /// Makes `fetch` begin with the journal's first command.
    [[nodiscard]] io::task<void> begin_at_first();
    /// Sets the hash key of an unused host from the journal's header.
    void take_hash_key(matching_host& host) const noexcept;
    /// Records that a snapshot was loaded; or a sentence about one that was not.
    void loaded(std::uint64_t sequence) noexcept { snapshot_sequence_ = sequence; }
    void passed_over(std::uint64_t sequence, const std::string& why);
    /// The journal's directory.
    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
    /// The file of a snapshot.
    [[nodiscard]] std::string path_of_snapshot(std::uint64_t sequence) const;
    /// Whether `next()` has a command. False after `fetch` at the end of the journal.
    [[nodiscard]] bool has_next() const noexcept { return !behind_.commands.empty(); }
    /// Reads more commands. @pre Not `has_next`.
    [[nodiscard]] io::task<void> fetch();
    [[nodiscard]] const domain::command& next() const noexcept { return behind_.commands.front(); }
    /// @pre has_next().
    void replay_next(const venue_parts& parts) noexcept;

    /// The journal's end. @pre The replay has reached it (asserted).
    [[nodiscard]] const journal::journal_end& end() const noexcept { return behind_.reader->end(); }
    [[nodiscard]] std::uint64_t replayed_count() const noexcept { return replayed_count_; }
    /// The last command in the loaded snapshot; 0 for none.
    [[nodiscard]] std::uint64_t snapshot_sequence() const noexcept { return snapshot_sequence_; }
    /// Notices for the operator, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }

 private:
    /// The source of the commands after a snapshot.
    struct tail {
        std::unique_ptr<journal::reader> reader;
        std::span<const domain::command> commands;  ///< the first of them
    };

    io::task<tail> open_tail(std::uint64_t from);
    io::task<tail> find_tail(const journal::stored_snapshot* snapshot);
    io::task<void> load_newest(venue_parts parts);
    void report(bool at_end) noexcept;
    io::task<void> replay_until(std::uint64_t until, venue_parts parts, const std::atomic<bool>* stopping);
    void announce_next(const venue_parts& parts) noexcept;

    journal::storage* files_;
    std::string directory_;
    journal::identity venue_;
    bool may_lose_;
    tail behind_;
    std::vector<std::string> notices_;
    std::uint64_t snapshot_sequence_ = 0;
    std::uint64_t replayed_count_ = 0;
    recovery_progress* progress_ = nullptr;
    feed_relay* relay_ = nullptr;
    bool reports_ = false;                 ///< the total has been reported
    std::uint64_t reported_bytes_ = 0;     ///< of the reader's
    std::uint64_t reported_commands_ = 0;  ///< of the replayed commands
};

}  // namespace corro::node
