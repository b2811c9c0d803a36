// SPDX-License-Identifier: Apache-2.0
// Makes snapshots of a running venue from its journal, with an offline copy on a thread of its own.
//
// The trading venue does no work for them and never waits. At intervals, or on request, a thread loads the newest
// snapshot into copies of facility, answer log and distributor, replays the journal up to the last durable command, and
// saves the result. So a snapshot is by construction the result of a recovery, and its state hash is computed from the
// journal, not from the venue's memory.
//
// The source supplies the input: one journal (journal_snapshots.hpp), or those of several partitions
// (partition_snapshots.hpp).
//
// Threads: the context of sessions and feed; each snapshot is made on a thread of its own, one at a time.
// Limits:  snapshot_every and snapshots_kept of the configuration.
// Cost:    during a snapshot, the memory of a second venue, and the processor time to load a snapshot, replay the
//          commands after it, and save; see `corro_snapshot_seconds`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// The outcome of a snapshot.
struct snapshot_outcome {
    std::uint64_t commands = 0;  ///< the number of commands in it
    bool is_new = false;         ///< false without commands since the last one, or with a `problem`
    std::string problem;         ///< a sentence; empty on success
};

enum class moment_state : std::uint8_t {
    ready,
    coming,  ///< a journal does not have all its commands yet
    never,   ///< a journal has failed before it had all its commands
};

/// The source of snapshots.
class snapshot_source {
 public:
    snapshot_source() = default;
    virtual ~snapshot_source() = default;
    snapshot_source(const snapshot_source&) = delete;
    snapshot_source& operator=(const snapshot_source&) = delete;

    /// Durable commands, in all journals together.
    [[nodiscard]] virtual std::uint64_t durable_count() const noexcept = 0;
    /// The number of these in the newest snapshot.
    [[nodiscard]] virtual std::uint64_t saved_count() const noexcept = 0;

    /// Chooses the moment of the next snapshot: it includes all commands that are durable now.
    virtual void choose_moment() = 0;
    /// Whether the moment can be read from the journals.
    [[nodiscard]] virtual moment_state look_at_moment() = 0;
    /// Makes and saves the snapshot. On the maker's worker; the other functions are not called at the same time. Fails
    /// with a std::exception when it cannot be made.
    /// @param stopping  Nothing more is made when this has become true.
    [[nodiscard]] virtual io::task<snapshot_outcome> make(const std::atomic<bool>* stopping) = 0;
    /// The last `make` has succeeded: informs the journals, so that they can remove segments.
    virtual void note_made() = 0;
    /// Adds a sentence for the operator.
    virtual void note(const std::string& notice) = 0;
};

struct snapshot_statistics {
    std::uint64_t made = 0;
    std::uint64_t failed = 0;
    std::chrono::nanoseconds last_duration{};  ///< from the request to the durable name
};

class snapshot_maker {
 public:
    /// @param source  Of journals that are recovered before `run`; all that it refers to outlives the
    ///                maker.
    /// @param every   Commands between two snapshots; 0: only on request.
    /// @param log     Of the thread of `edge`, outlives the maker; nullptr for no log.
    snapshot_maker(io::context& edge, std::unique_ptr<snapshot_source> source, std::uint64_t every,
                   telemetry::producer* log);
    ~snapshot_maker();
    snapshot_maker(const snapshot_maker&) = delete;
    snapshot_maker& operator=(const snapshot_maker&) = delete;

    /// Makes snapshots as configured until it is stopped, which aborts a snapshot in progress.
    [[nodiscard]] io::task<void> run();

    /// Requests a snapshot of the commands that are then durable, whatever is configured.
    void ask() noexcept { asked_ = true; }

    /// Whether a snapshot is being made or was requested.
    [[nodiscard]] bool is_under_way() const noexcept { return asked_ || making_; }
    /// Whether the newest snapshot includes all durable commands.
    [[nodiscard]] bool has_everything() const noexcept { return source_->durable_count() == source_->saved_count(); }

    [[nodiscard]] const snapshot_statistics& statistics() const noexcept { return statistics_; }

 private:
    [[nodiscard]] bool is_due() const noexcept;
    io::task<bool> make_one();
    io::task<bool> moment_is_there();
    io::task<void> work();
    void take_outcome(std::chrono::nanoseconds duration);
    void say(telemetry::log_record_kind what, std::uint64_t number) const;
    void stop() noexcept;

    std::unique_ptr<snapshot_source> source_;
    std::uint64_t every_;
    const io::context& edge_;
    telemetry::producer* log_;
    std::uint64_t last_count_ = 0;  ///< durable commands at the last attempt
    bool asked_ = false;
    bool making_ = false;
    snapshot_statistics statistics_;

    // The worker while it makes one, and its results: written by it before it rings, read after.
    std::unique_ptr<io::worker> worker_;
    snapshot_outcome outcome_;
    io::remote_event bell_;
    std::atomic<bool> stopping_{false};  ///< false -> true by `stop`
};

}  // namespace corro::node
