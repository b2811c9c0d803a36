// SPDX-License-Identifier: Apache-2.0
// Watches the disks of a venue's journals from a thread of its own: a write or a sync that does not return blocks every
// answer, and possibly the thread that waits for it.
//
// A call that takes longer than `disk_notice_after` is reported: in the event log (`journal_stalled`), on the standard
// error output, and by `host_journal::stalled` to metrics and readiness; so is its end (`journal_resumed`). After the
// configured patience the disk is given up. A venue that ends with its journal then ends the process with exit code 1,
// without waiting for any thread, because one that hangs in the kernel cannot be joined; the log record is written
// before. Otherwise the journal fails and the venue rejects requests. When such a venue is closed while the call still
// hangs, the process ends in the same way.
//
// The journal only counts its calls. The watch measures the time on the clock of its own context, and counts at most
// two intervals between two checks, so that a process that was stopped is not mistaken for a hanging disk.
//
// Limits:  node/configuration/limits.hpp.
// Threads: the venue's; its own between `start`, before the journals run, and `stop`, after they have ended.
// Cost:    a check every disk_look_interval; for the journal two stores per call.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/loop/backend.hpp"
#include "io/loop/context.hpp"
#include "io/loop/platform.hpp"
#include "io/sync/remote_event.hpp"
#include "io/task/task.hpp"
#include "journal/storage.hpp"
#include "node/configuration/configuration.hpp"
#include "node/configuration/limits.hpp"
#include "node/recovery/host_journal.hpp"
#include "telemetry/event_log.hpp"

namespace corro::node {

/// Measures how long the calls of one journal take.
class stall_meter {
 public:
    /// @return  The time of the longest call in progress; 0 when all calls are new.
    [[nodiscard]] std::chrono::nanoseconds look(const journal::disk_calls& calls, io::steady_time now) noexcept;

 private:
    struct place {
        std::uint64_t count = 0;
        std::chrono::nanoseconds seen{0};
    };
    std::array<place, journal::disk_calls::places> places_{};
    io::steady_time last_look_{};
};

/// Why a venue with this journal is not ready. @pre `stalled` is not 0.
[[nodiscard]] std::string stall_message(const host_journal& journal);

class journal_watch {
 public:
    /// @param beside   The venue's context.
    /// @param c        Uses `disk_patience`, and `ends_with_journal` or the partitions.
    /// @param log      nullptr for none. Outlives the watch, like the journals.
    journal_watch(const io::context& beside, const configuration& c, std::vector<host_journal*> journals,
                  telemetry::event_log* log);
    ~journal_watch() { stop(); }
    journal_watch(const journal_watch&) = delete;
    journal_watch& operator=(const journal_watch&) = delete;

    void start();
    void stop() noexcept;

    /// The venue is being closed: a hanging call of a journal then ends the process.
    void leave() noexcept { leaving_.store(true, std::memory_order_release); }

 private:
    struct watched {
        explicit watched(host_journal* which) noexcept : journal(which) {}
        host_journal* journal;
        stall_meter meter;
        bool is_reported = false;
        bool is_given_up = false;
    };

    io::task<void> watch();
    io::task<void> look(watched* at);
    io::task<void> end_process(const watched* at, std::chrono::seconds stalled);
    void note(telemetry::log_record_kind what, const watched& at, std::chrono::seconds stalled);

    std::unique_ptr<io::worker> worker_;
    io::remote_event ended_;
    std::chrono::milliseconds patience_;
    bool ends_process_;
    std::vector<watched> journals_;
    telemetry::event_log* log_;
    telemetry::producer* log_end_;
    bool ends_now_ = false;             ///< the process is to end; only a simulated one goes on
    std::atomic<bool> leaving_{false};  // false -> true (`leave`)
};

}  // namespace corro::node
