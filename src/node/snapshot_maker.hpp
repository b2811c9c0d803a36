// Snapshots of a venue that runs: made of its journal, by a second venue on a thread of its own.
//
// The venue that trades does nothing for them and waits for nothing. Now and then, or when asked, a thread loads the
// newest snapshot into copies of facility, answer log and distributor, replays the journal up to the last command that
// is durable, and saves what came out. So a snapshot is by construction what a recovery would have led to, and the
// state hash in it is computed from the journal, not from the memory of the venue.
//
// Of what one is made is the source's: one journal (journal_snapshots.hpp), or those of several segments
// (segment_snapshots.hpp).
//
// Threads: the context of sessions and feed; the making on a thread of its own, one at a time.
// Limits:  snapshot_every and snapshots_kept of the configuration.
// Cost:    while one is made, the memory of a second venue, and the processor time to load a snapshot, replay what came
//          after it, and save; `corro_snapshot_seconds` says how long that took.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>

#include "io/loop/context.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// What came of a snapshot.
struct snapshot_outcome {
    std::uint64_t commands = 0;  ///< in it
    bool is_new = false;         ///< false: nothing had happened since, or `problem` says why
    std::string problem;         ///< a sentence; empty when nothing went wrong
};

enum class moment_state : std::uint8_t {
    ready,
    coming,  ///< a journal does not have all of it yet
    never,   ///< a journal has failed before it had all of it
};

/// What snapshots are made of.
class snapshot_source {
 public:
    snapshot_source() = default;
    virtual ~snapshot_source() = default;
    snapshot_source(const snapshot_source&) = delete;
    snapshot_source& operator=(const snapshot_source&) = delete;

    /// Commands that are durable, in all journals together.
    [[nodiscard]] virtual std::uint64_t durable_count() const noexcept = 0;
    /// Those of them that are in the newest snapshot.
    [[nodiscard]] virtual std::uint64_t saved_count() const noexcept = 0;

    /// Chooses the moment of which the next snapshot is made: everything that is durable now is in it.
    virtual void choose_moment() = 0;
    /// Whether the journals have it where it can be read.
    [[nodiscard]] virtual moment_state look_at_moment() = 0;
    /// Makes it and saves it. On the maker's thread; what the other functions change does not change meanwhile.
    /// @throws std::exception when it cannot be made.
    [[nodiscard]] virtual snapshot_outcome make(const std::atomic<bool>& stopping) = 0;
    /// What the last `make` has made is there: tells the journals, so that they know what they need no more.
    virtual void note_made() = 0;
    /// Adds a sentence for the operator.
    virtual void note(const std::string& notice) = 0;
};

struct snapshot_statistics {
    std::uint64_t made = 0;
    std::uint64_t failed = 0;
    std::chrono::nanoseconds last_duration{};  ///< from the wish to the name on the disk
};

class snapshot_maker {
 public:
    /// @param source  Of journals that are recovered before `run`; whatever it needs outlives the maker.
    /// @param every   Commands between two snapshots; 0: only when asked.
    /// @param log     Of the edge's thread, outlives the maker; nullptr: no log.
    snapshot_maker(io::context& edge, std::unique_ptr<snapshot_source> source, std::uint64_t every,
                   telemetry::producer* log);
    ~snapshot_maker();
    snapshot_maker(const snapshot_maker&) = delete;
    snapshot_maker& operator=(const snapshot_maker&) = delete;

    /// Makes snapshots as configured until it is stopped; one that is under way then is given up.
    [[nodiscard]] io::task<void> run();

    /// Has one made soon of the commands that are durable then, whatever is configured.
    void ask() noexcept { asked_ = true; }

    /// Whether one is being made, or will be as soon as the maker looks.
    [[nodiscard]] bool is_under_way() const noexcept { return asked_ || making_; }
    /// Whether the newest snapshot has everything that is durable.
    [[nodiscard]] bool has_everything() const noexcept { return source_->durable_count() == source_->saved_count(); }

    [[nodiscard]] const snapshot_statistics& statistics() const noexcept { return statistics_; }

 private:
    [[nodiscard]] bool is_due() const noexcept;
    io::task<bool> make_one();
    io::task<bool> moment_is_there();
    void work() noexcept;
    void take_outcome(std::chrono::nanoseconds duration);
    void say(telemetry::log_record_kind what, std::uint64_t number) const;
    void stop() noexcept;

    std::unique_ptr<snapshot_source> source_;
    std::uint64_t every_;
    const io::context& edge_;
    telemetry::producer* log_;
    std::uint64_t last_count_ = 0;  ///< of durable commands when one was made, or tried
    bool asked_ = false;
    bool making_ = false;
    snapshot_statistics statistics_;

    // The thread and what it leaves behind: written by it before it rings, read after.
    std::thread thread_;
    snapshot_outcome outcome_;
    io::remote_event bell_;
    std::atomic<bool> stopping_{false};  ///< false -> true by `stop`
};

}  // namespace corro::node
