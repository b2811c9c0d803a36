// SPDX-License-Identifier: Apache-2.0
// The journal of a host: recovery at the start, then writing.
//
// `recover` locks the journal's directory, loads the newest valid snapshot, replays the commands after it through
// the host, and opens the journal for new commands. Sessions and feed receive the replayed events as if they were
// live, so that their numbers continue.
//
// Threads: the host's context; snapshots are saved on the context of sessions and feed. Limits: the
// configuration's.
// Cost: recovery reads a snapshot, and reads and executes the journal after it.
// Source: docs/spec/journal.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/loop/context.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/manifest.hpp"
#include "journal/snapshot_store.hpp"
#include "journal/storage.hpp"
#include "journal/writer.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/journal_replay.hpp"
#include "node/recovery/recovery_progress.hpp"
#include "node/recovery/session_owners.hpp"
#include "node/recovery/venue_snapshot.hpp"

namespace corro::node {

/// The identity for the journal and snapshots of a configuration.
[[nodiscard]] journal::identity identity_of(const configuration& c);
/// Whether a crash may lose acknowledged commands with the configured durability.
[[nodiscard]] bool may_lose_commands(const configuration& c) noexcept;

/// Random numbers for a venue's first journal.
[[nodiscard]] journal::venue_identity make_venue_identity(io::platform& on) noexcept;

/// Saves the result of `save_venue`. `bytes` are valid until the await returns.
[[nodiscard]] io::task<std::expected<void, journal::problem>> write_snapshot(journal::snapshot_store* store,
                                                                             const io::context* clock,
                                                                             const std::vector<std::byte>* bytes,
                                                                             std::uint64_t epoch);
/// Saves the result of `save_venue`, and removes snapshots that are not kept.
/// @return  The last command in the oldest kept snapshot.
[[nodiscard]] io::task<std::expected<std::uint64_t, journal::problem>> store_snapshot(journal::snapshot_store* store,
                                                                                      const io::context* clock,
                                                                                      std::vector<std::byte> bytes,
                                                                                      std::uint64_t epoch,
                                                                                      std::size_t snapshots_kept);

class host_journal {
 public:
    /// @param context        The host's.
    /// @param edge           The context of sessions and feed; the same one unless the host has its own
    ///                       thread.
    /// @param configuration  Has a journal directory.
    host_journal(io::context& context, io::context& edge, const configuration& configuration);

    /// Makes it the journal of one of several partitions: they share their durable progress and, when they are new, the
    /// venue's random numbers. @pre Not recovered.
    void share(const journal::venue_identity& birth, std::shared_ptr<journal::partition_board> board) {
        options_.birth = birth;
        options_.board = std::move(board);
    }

    /// Brings the venue to the journal's end, and starts journaling. Fails with recovery_error.
    [[nodiscard]] io::task<void> recover(venue_parts parts);

    // The same in steps, for several journals whose commands are merged: partition_recovery.hpp.

    /// Makes the replay read on another context, which outlives it, and report its progress. @pre Nothing is read yet.
    void replay_on(io::context& context, recovery_progress* progress);
    /// Closes the replay's files after a failed recovery.
    void abandon_replay() noexcept {
        replay_.reset();
        replay_files_.reset();
    }
    /// The random numbers of the venue, if its journal has begun.
    [[nodiscard]] io::task<std::optional<journal::venue_identity>> find_venue_identity();
    /// The random numbers of the venue. @pre The directory is locked.
    [[nodiscard]] const journal::venue_identity& birth() const noexcept { return options_.birth; }
    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
    /// Locks the directory, if its sessions are those of the configuration.
    [[nodiscard]] io::task<void> take_directory();
    /// The replay. @pre Not finished.
    [[nodiscard]] journal_replay& replay() noexcept { return *replay_; }
    /// The owners of sessions, including accounts that the configuration lacks. @pre The directory is locked.
    [[nodiscard]] const std::vector<session_owner>& owners() const noexcept { return owners_; }
    /// Writes the owners of sessions, on the edge's context. @return The error as a sentence; empty on success.
    [[nodiscard]] io::task<std::string> write_owners(std::vector<session_owner> owners);
    /// Opens the journal for new commands, and starts journaling. @pre The replay is at the end. The host's time does
    /// not begin before `not_before`. Fails with recovery_error when that is further ahead of the wall clock than the
    /// configuration allows; more than a second ahead is a notice.
    [[nodiscard]] io::task<void> finish(matching_host* host, gateway::answer_log* answers,
                                        domain::time_ns not_before = {});

    /// Saves the state of a stopped venue, whose journal is sealed and whose answers are all delivered. Does nothing
    /// without commands since the last snapshot, or when the journal has failed. An error is a notice: without a
    /// snapshot the next start takes longer.
    [[nodiscard]] io::task<void> save_last_snapshot(venue_parts parts);

    /// Records that a snapshot of the state after `sequence` is durable, and that `oldest` is the oldest kept one.
    void note_snapshot(std::uint64_t sequence, std::uint64_t oldest) noexcept {
        snapshot_sequence_ = sequence;
        oldest_snapshot_.store(oldest, std::memory_order_relaxed);
    }
    /// Adds a sentence for the operator.
    void note(std::string notice) { notices_.push_back(std::move(notice)); }

    /// Removes segments that no kept snapshot needs, as configured. On the host's thread, when the journal has
    /// progressed.
    void forget_old_segments() noexcept {
        const std::uint64_t oldest = oldest_snapshot_.load(std::memory_order_relaxed);
        if (oldest == forgotten_before_) return;
        forgotten_before_ = oldest;
        writer_->forget_before(oldest);
    }

    /// Writes until `close`, or until the journal fails; `writer().progressed()` is then set a last time. @pre
    /// Recovered.
    [[nodiscard]] io::task<void> run();
    // For a watch (node/recovery/journal_watch.hpp); any thread.

    /// Calls on the journal's files in progress.
    [[nodiscard]] const journal::disk_calls& disk_calls() const noexcept { return files_->calls(); }
    /// Records how long the disk has not responded; 0 when it responds.
    void note_stall(std::chrono::nanoseconds so_far) noexcept {
        stalled_ns_.store(so_far.count(), std::memory_order_relaxed);
    }
    /// How long the disk has not responded, as last recorded by the watch; 0 below `disk_notice_after`.
    [[nodiscard]] std::chrono::nanoseconds stalled() const noexcept {
        return std::chrono::nanoseconds(stalled_ns_.load(std::memory_order_relaxed));
    }
    /// Gives up the disk: the journal fails as soon as its thread runs, and acknowledges nothing any more.
    void give_up() noexcept {
        writer_->give_up();
        given_up_.set();
    }

    /// The error that ended the journal, as a sentence for the operator; nullptr while there is none. Any thread.
    [[nodiscard]] const std::string* failure() const noexcept {
        return has_failed_.load(std::memory_order_acquire) ? &failure_ : nullptr;
    }
    /// Publishes a failure of the writer at once, so that rejects have this reason. The host's thread.
    void note_failure();
    /// Free bytes on the file system of the journal's directory; 0 when unknown.
    [[nodiscard]] std::uint64_t free_bytes() const noexcept;
    /// Whether `run` has ended.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Makes `run` write its commands, seal the journal and end.
    void close() noexcept { writer_->close(); }

    [[nodiscard]] journal::writer& writer() noexcept { return *writer_; }
    [[nodiscard]] const journal::writer& writer() const noexcept { return *writer_; }
    /// The fencing epoch of this run.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    /// Commands that `recover` replayed after the snapshot.
    [[nodiscard]] std::uint64_t replayed_count() const noexcept { return replayed_count_; }
    /// The last command in the newest snapshot that was loaded or saved; 0 for none.
    [[nodiscard]] std::uint64_t snapshot_sequence() const noexcept { return snapshot_sequence_; }
    /// Notices for the operator that do not prevent the start, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }

 private:
    void start_clock(matching_host& host, domain::time_ns not_before);
    void note_missing(const journal::manifest& manifest);
    io::task<void> apply_write_result();

    std::unique_ptr<journal::storage> files_;
    std::unique_ptr<journal::storage> snapshot_files_;  ///< on the edge's context
    io::context& edge_;
    std::string directory_;
    std::size_t snapshots_kept_;
    std::uint32_t clock_slew_ppm_;
    std::chrono::seconds clock_ahead_max_;
    journal::writer_options options_;
    std::vector<session_owner> owners_;
    std::uint64_t sessions_reserved_;
    std::vector<std::string> notices_;
    std::uint64_t snapshot_sequence_ = 0;
    bool may_lose_;  ///< acknowledged commands
    io::file_faults* faults_;
    std::unique_ptr<journal::storage> replay_files_;  ///< set when the replay reads on another context
    std::optional<journal_replay> replay_;            ///< until recovered
    std::optional<journal::directory_lock> lock_;     ///< until the writer takes it
    std::unique_ptr<journal::writer> writer_;
    std::uint64_t replayed_count_ = 0;
    std::uint64_t epoch_ = 0;
    std::atomic<std::uint64_t> oldest_snapshot_{0};  ///< written by the edge's thread, read by the host's
    std::uint64_t forgotten_before_ = 0;             ///< used by the host's thread only
    std::string failure_;
    std::atomic<bool> has_failed_{false};      ///< false -> true by `run`, after `failure_`
    io::remote_event given_up_;                ///< set by the watch
    std::atomic<std::int64_t> stalled_ns_{0};  ///< written by the watch
    bool ended_ = false;
};

}  // namespace corro::node
