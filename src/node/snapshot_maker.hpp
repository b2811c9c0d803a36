// Snapshots of a venue that runs: made of its journal, by a second venue on a thread of its own.
//
// The venue that trades does nothing for them and waits for nothing. Now and then, or when asked, a thread loads the
// newest snapshot into a facility, an answer log and a distributor of its own, replays the journal up to the last
// command that is durable, and saves what came out. So a snapshot is by construction what a recovery would have led to,
// and the state hash in it is computed from the journal, not from the memory of the venue.
//
// Threads: the context of sessions and feed; the making on a thread of its own, one at a time.
// Limits:  snapshot_every and snapshots_kept of the configuration.
// Cost:    while one is made, the memory of a second venue, and the processor time to load a snapshot, replay what came
//          after it, and save; `corro_snapshot_seconds` says how long that took.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "io/context.hpp"
#include "io/remote_event.hpp"
#include "io/task.hpp"
#include "node/configuration.hpp"
#include "node/host_journal.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// What came of a snapshot.
struct snapshot_outcome {
    std::uint64_t sequence = 0;         ///< the last command in the newest snapshot that there is now
    std::uint64_t oldest_sequence = 0;  ///< and in the oldest that is kept; 0 when none was made
    bool is_new = false;                ///< false: nothing had happened since, or `problem` says why
    std::string problem;                ///< a sentence; empty when nothing went wrong
};

struct snapshot_statistics {
    std::uint64_t made = 0;
    std::uint64_t failed = 0;
    std::chrono::nanoseconds last_duration{};  ///< from the wish to the name on the disk
};

class snapshot_maker {
 public:
    /// `journal` outlives the maker and is recovered before `run`.
    /// @param log  Of the edge's thread, outlives the maker; nullptr: no log.
    snapshot_maker(io::context& edge, const configuration& configuration, host_journal& journal,
                   telemetry::producer* log);
    ~snapshot_maker();
    snapshot_maker(const snapshot_maker&) = delete;
    snapshot_maker& operator=(const snapshot_maker&) = delete;

    /// Makes snapshots as configured until it is stopped; one that is under way then is given up.
    [[nodiscard]] io::task<void> run();

    /// Has one made soon of the commands that are durable then, whatever is configured.
    void ask() noexcept { asked_ = true; }

    /// Whether one is being made, or will be as soon as the maker looks.
    [[nodiscard]] bool is_under_way() const noexcept { return asked_ || thread_.joinable(); }

    [[nodiscard]] const snapshot_statistics& statistics() const noexcept { return statistics_; }

 private:
    [[nodiscard]] bool is_due() const noexcept;
    io::task<bool> make_one();
    void work(std::uint64_t until) noexcept;
    void say(telemetry::happening_kind what, std::uint64_t number) const;
    void stop() noexcept;

    configuration configuration_;
    host_journal& journal_;
    const io::context& edge_;
    telemetry::producer* log_;
    std::uint64_t last_sequence_ = 0;  ///< that one was made of, or tried
    bool asked_ = false;
    snapshot_statistics statistics_;

    // The thread and what it leaves behind: written by it before it rings, read after.
    std::thread thread_;
    snapshot_outcome outcome_;
    io::remote_event bell_;
    std::atomic<bool> stopping_{false};  ///< false -> true by `stop`
};

}  // namespace corro::node
