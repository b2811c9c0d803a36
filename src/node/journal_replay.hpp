// Brings a venue from nothing to a moment of its journal: the newest snapshot that is sound, and the commands behind
// it through the host. Sessions and feed learn the replayed events as they would have learnt them live, so that their
// numbers go on where they ended.
//
// Threads: the context of its files. Cost: reads a snapshot, and reads and executes the journal behind it.
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
#include "node/recovery_progress.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {

/// Why a host cannot start: its journal is damaged, another venue's, in use, or out of the system's reach. `what()` is
/// a whole sentence for the operator.
class recovery_error : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

class journal_replay {
 public:
    /// @param files      Outlive the replay.
    /// @param may_lose   The journal's mode may lose commands that a snapshot has; such a snapshot is removed.
    journal_replay(journal::storage* files, std::string directory, journal::identity venue, bool may_lose);

    /// Reports from now on how far the replay is. `progress` outlives it; several replays may share one.
    void report_to(recovery_progress* progress) noexcept { progress_ = progress; }

    /// Brings the venue to the journal's end, or to the command `until`, whichever comes first. Fails with
    /// recovery_error.
    /// @param stopping  Looked at now and then: when it has become true, the replay ends where it is. May be nullptr.
    /// @pre   The parts are as newly made. Once.
    [[nodiscard]] io::task<void> run(venue_parts parts, const std::atomic<bool>* stopping = nullptr,
                                     std::uint64_t until = std::numeric_limits<std::uint64_t>::max());

    // --- Step by step, where the commands of several journals go between each other: segment_recovery.hpp ---

    /// The journal was closed in order, so that it has lost nothing: what a snapshot has must be there.
    void expect_whole() noexcept { may_lose_ = false; }
    /// The newest sound snapshot of a command not after `sequence`, if the journal has what comes behind it; that is
    /// then what `fetch` gives.
    [[nodiscard]] io::task<std::optional<journal::stored_snapshot>> find_snapshot(std::uint64_t sequence);
    /// Lets `fetch` begin with the journal's first command.
    [[nodiscard]] io::task<void> begin_at_first();
    /// Keys the tables of a host that is not used yet as the journal's header says.
    void take_hash_key(matching_host& host) const noexcept;
    /// Takes note that a snapshot was loaded, and of a sentence about one that was not.
    void loaded(std::uint64_t sequence) noexcept { snapshot_sequence_ = sequence; }
    void passed_over(std::uint64_t sequence, const std::string& why);
    /// Where the journal is.
    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
    /// The file of a snapshot.
    [[nodiscard]] std::string path_of_snapshot(std::uint64_t sequence) const;
    /// The next command is `next()`; false, after `fetch`: the journal has no more.
    [[nodiscard]] bool has_next() const noexcept { return !behind_.commands.empty(); }
    /// Reads on. @pre Not `has_next`.
    [[nodiscard]] io::task<void> fetch();
    [[nodiscard]] const domain::command& next() const noexcept { return behind_.commands.front(); }
    void replay_next(matching_host& host) noexcept;

    /// How the journal ends. @pre The replay came there (asserted).
    [[nodiscard]] const journal::journal_end& end() const noexcept { return behind_.reader->end(); }
    [[nodiscard]] std::uint64_t replayed_count() const noexcept { return replayed_count_; }
    /// The last command in the snapshot that was loaded; 0 if none was.
    [[nodiscard]] std::uint64_t snapshot_sequence() const noexcept { return snapshot_sequence_; }
    /// What the operator should know, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }

 private:
    /// Where the commands behind a snapshot come from.
    struct tail {
        std::unique_ptr<journal::reader> reader;
        std::span<const domain::command> commands;  ///< the first of them
    };

    io::task<tail> open_tail(std::uint64_t from);
    io::task<tail> find_tail(const journal::stored_snapshot* snapshot);
    io::task<void> load_newest(venue_parts parts);
    void report(bool at_end) noexcept;

    journal::storage* files_;
    std::string directory_;
    journal::identity venue_;
    bool may_lose_;
    tail behind_;
    std::vector<std::string> notices_;
    std::uint64_t snapshot_sequence_ = 0;
    std::uint64_t replayed_count_ = 0;
    recovery_progress* progress_ = nullptr;
    bool reports_ = false;                 ///< the total has been reported
    std::uint64_t reported_bytes_ = 0;     ///< of the reader's
    std::uint64_t reported_commands_ = 0;  ///< of those that were replayed
};

}  // namespace corro::node
