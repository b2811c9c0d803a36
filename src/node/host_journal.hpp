// The journal of a host: starting is recovering, running is writing.
//
// `recover` takes the journal's directory for this process, loads the newest snapshot that is sound, replays the
// commands behind it through the host, and opens the journal for what comes. Sessions and feed learn the replayed
// events as they would have learnt them live, so that their numbers go on where they ended.
//
// Threads: the host's context; snapshots are saved on that of sessions and feed. Limits: the configuration's.
// Cost: recovery reads a snapshot, and reads and executes the journal behind it.
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
#include "node/configuration.hpp"
#include "node/journal_replay.hpp"
#include "node/recovery_progress.hpp"
#include "node/session_owners.hpp"
#include "node/venue_snapshot.hpp"

namespace corro::node {

/// Whose journal and snapshots a configuration's are.
[[nodiscard]] journal::identity identity_of(const configuration& c);
/// Whether the configuration's durability lets a crash take commands that were acknowledged.
[[nodiscard]] bool may_lose_commands(const configuration& c) noexcept;

/// Random numbers for a venue's first journal.
[[nodiscard]] journal::venue_identity make_venue_identity() noexcept;

/// Saves what `save_venue` made. `bytes` are valid until the await returns.
[[nodiscard]] io::task<std::expected<void, journal::problem>> write_snapshot(journal::snapshot_store* store,
                                                                             const io::context* clock,
                                                                             const std::vector<std::byte>* bytes,
                                                                             std::uint64_t epoch);
/// Saves what `save_venue` made, and removes snapshots beyond those that are kept.
/// @return  The last command in the oldest one that is kept.
[[nodiscard]] io::task<std::expected<std::uint64_t, journal::problem>> store_snapshot(journal::snapshot_store* store,
                                                                                      const io::context* clock,
                                                                                      std::vector<std::byte> bytes,
                                                                                      std::uint64_t epoch,
                                                                                      std::size_t snapshots_kept);

class host_journal {
 public:
    /// @param context        The host's.
    /// @param edge           The context of sessions and feed; the same one unless the host has its own.
    /// @param configuration  Has a journal directory.
    host_journal(io::context& context, io::context& edge, const configuration& configuration);

    /// Makes it the journal of a shard, whose venue has others: they share what each has on the disk and, when they are
    /// new, the venue's random numbers. @pre Not recovered.
    void share(const journal::venue_identity& birth, std::shared_ptr<journal::shard_board> shards) {
        options_.birth = birth;
        options_.shards = std::move(shards);
    }

    /// Brings the venue to where the journal ends, and lets the host journal from then on. Fails with recovery_error.
    [[nodiscard]] io::task<void> recover(venue_parts parts);

    // The same in steps, where the commands of several journals go between each other: segment_recovery.hpp.

    /// Has the replay read on another context, which outlives it, and report how far it is. @pre Nothing is read yet.
    void replay_on(io::context& context, recovery_progress* progress);
    /// Closes what the replay has open: the recovery has failed.
    void abandon_replay() noexcept {
        replay_.reset();
        replay_files_.reset();
    }
    /// The random numbers of the venue, if its journal has begun.
    [[nodiscard]] io::task<std::optional<journal::venue_identity>> find_venue_identity();
    /// Those of the venue. @pre The directory is taken.
    [[nodiscard]] const journal::venue_identity& birth() const noexcept { return options_.birth; }
    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
    /// Takes the directory for this process, if its sessions are those of the configuration.
    [[nodiscard]] io::task<void> take_directory();
    /// What is there. @pre Not finished.
    [[nodiscard]] journal_replay& replay() noexcept { return *replay_; }
    /// Whose the sessions are, those of accounts too that the configuration lacks. @pre The directory is taken.
    [[nodiscard]] const std::vector<session_owner>& owners() const noexcept { return owners_; }
    /// Writes down whose sessions there are now, on the edge's context. @return  What went wrong, as a sentence.
    [[nodiscard]] io::task<std::string> write_owners(std::vector<session_owner> owners);
    /// Opens the journal for what comes, and lets the host journal from then on. @pre The replay is at the end.
    /// The host's time does not begin before `not_before`. Fails with recovery_error when it would be further ahead of
    /// the wall clock than the configuration allows; further than a second is a notice.
    [[nodiscard]] io::task<void> finish(matching_host* host, gateway::answer_log* answers,
                                        domain::time_ns not_before = {});

    /// Saves the state of a venue at rest, whose journal is sealed and whose answers are where they belong. Nothing has
    /// to be saved when nothing has happened since the last snapshot, and nothing can be when the journal has failed.
    /// What goes wrong is a notice: without a snapshot the next start takes longer.
    [[nodiscard]] io::task<void> save_last_snapshot(venue_parts parts);

    /// A snapshot of the state after `sequence` is on the disk, and `oldest` is the oldest that is kept.
    void note_snapshot(std::uint64_t sequence, std::uint64_t oldest) noexcept {
        snapshot_sequence_ = sequence;
        oldest_snapshot_.store(oldest, std::memory_order_relaxed);
    }
    /// Adds a sentence for the operator.
    void note(std::string notice) { notices_.push_back(std::move(notice)); }

    /// Lets segments go that no kept snapshot needs, as configured. On the host's thread, whenever the journal has
    /// progressed.
    void forget_old_segments() noexcept {
        const std::uint64_t oldest = oldest_snapshot_.load(std::memory_order_relaxed);
        if (oldest == forgotten_before_) return;
        forgotten_before_ = oldest;
        writer_->forget_before(oldest);
    }

    /// Writes until `close`, or until the journal fails; `writer().progressed()` is set a last time then. @pre
    /// Recovered.
    [[nodiscard]] io::task<void> run();
    // For a watch (node/journal_watch.hpp); any thread.

    /// Calls on the journal's files that are under way.
    [[nodiscard]] const journal::disk_calls& disk_calls() const noexcept { return files_.calls(); }
    /// Keeps how long the disk has not answered for; 0 when it does.
    void note_stall(std::chrono::nanoseconds so_far) noexcept {
        stalled_ns_.store(so_far.count(), std::memory_order_relaxed);
    }
    /// How long the disk has not answered for, as the watch last saw it; 0 below `disk_notice_after`.
    [[nodiscard]] std::chrono::nanoseconds stalled() const noexcept {
        return std::chrono::nanoseconds(stalled_ns_.load(std::memory_order_relaxed));
    }
    /// Takes the disk for broken: the journal fails as soon as its thread runs, and acknowledges nothing any more.
    void give_up() noexcept {
        writer_->give_up();
        given_up_.set();
    }

    /// What ended the journal before its time, as a sentence for the operator; nullptr while nothing has. Any thread.
    [[nodiscard]] const std::string* failure() const noexcept {
        return has_failed_.load(std::memory_order_acquire) ? &failure_ : nullptr;
    }
    /// Makes a failure of the writer known at once: who is refused for it is to hear the reason. The host's thread.
    void note_failure();
    /// Free room on the file system of the journal's directory; 0 when it cannot be found out.
    [[nodiscard]] std::uint64_t free_bytes() const noexcept;
    /// Whether `run` has come to its end.
    [[nodiscard]] bool ended() const noexcept { return ended_; }
    /// Lets `run` write what it has, seal the journal and end.
    void close() noexcept { writer_->close(); }

    [[nodiscard]] journal::writer& writer() noexcept { return *writer_; }
    [[nodiscard]] const journal::writer& writer() const noexcept { return *writer_; }
    /// The fencing epoch of this life.
    [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
    /// Commands that `recover` replayed, behind the snapshot.
    [[nodiscard]] std::uint64_t replayed_count() const noexcept { return replayed_count_; }
    /// The last command in the newest snapshot that was loaded or saved; 0 if none was.
    [[nodiscard]] std::uint64_t snapshot_sequence() const noexcept { return snapshot_sequence_; }
    /// What the operator should know although it does not hinder the venue, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }

 private:
    void start_clock(matching_host& host, domain::time_ns not_before);
    void note_missing(const journal::manifest& manifest);
    io::task<void> apply_write_result();

    journal::disk_storage files_;
    journal::disk_storage snapshot_files_;  ///< on the edge's context
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
    bool may_lose_;  ///< commands that were acknowledged
    io::file_faults* faults_;
    std::optional<journal::disk_storage> replay_files_;  ///< when the replay reads on another context
    std::optional<journal_replay> replay_;               ///< until recovered
    std::optional<journal::directory_lock> lock_;        ///< until the writer has it
    std::unique_ptr<journal::writer> writer_;
    std::uint64_t replayed_count_ = 0;
    std::uint64_t epoch_ = 0;
    std::atomic<std::uint64_t> oldest_snapshot_{0};  ///< written by the edge's thread, read by the host's
    std::uint64_t forgotten_before_ = 0;             ///< the host's thread's own
    std::string failure_;
    std::atomic<bool> has_failed_{false};      ///< false -> true by `run`, behind `failure_`
    io::remote_event given_up_;                ///< set by the watch
    std::atomic<std::int64_t> stalled_ns_{0};  ///< written by the watch
    bool ended_ = false;
};

}  // namespace corro::node
