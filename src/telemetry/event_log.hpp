// SPDX-License-Identifier: Apache-2.0
// The event log: the events and log records of all components, for people and tools, written by a thread of its own.
//
// A producer copies an event into a ring: it takes no lock, wakes no thread and never waits. When the ring is full the
// event is counted as lost, and the log records the loss at that position. The writer polls every few milliseconds.
//
// Layout:  two series of files in one directory. `events.N.csv` has a line per event of the facility, private and
// public,
//          with a heading; `records.N.jsonl` has a JSON object per line for each log record, the first of which has
//          the version of the format. N counts from 1; the
//          oldest files are removed when there are more than files_max. docs/spec/event_log.md.
// Limits:  telemetry/limits.hpp.
// Threads: each `producer` belongs to one thread; the log writes on its own.
// Cost:    a producer pays a copy of 64 bytes per event and one release store per call. No allocation after
// construction
//          on its side.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "base/spsc_ring.hpp"
#include "domain/event.hpp"
#include "domain/instrument.hpp"
#include "io/loop/platform.hpp"
#include "io/task/task.hpp"
#include "telemetry/limits.hpp"
#include "telemetry/log_record.hpp"

namespace corro::telemetry {

/// One thread's end of the log.
class producer {
 public:
    producer(std::size_t events_capacity, std::size_t log_records_capacity)
        : events_(events_capacity), log_records_(log_records_capacity) {}

    /// Records the events of a batch, in order. Events that do not fit are lost and counted.
    void note(std::span<const domain::event> events) noexcept {
        const std::size_t taken = events_.try_push(events);
        if (taken != events.size()) [[unlikely]]
            lose(events.size() - taken);
    }
    void note(const log_record& what) noexcept {
        if (!log_records_.try_push(what)) [[unlikely]]
            lose(1);
        else
            ++log_records_added_;
    }

    /// Whether a log record is not in the file yet. The producer's thread.
    [[nodiscard]] bool log_records_waiting() const noexcept {
        return log_records_written_.load(std::memory_order_acquire) != log_records_added_;
    }

    /// Events and log records lost so far. Any thread.
    [[nodiscard]] std::uint64_t lost_count() const noexcept { return lost_.load(std::memory_order_relaxed); }

 private:
    friend class event_log;
    void lose(std::size_t count) noexcept {
        lost_.store(lost_.load(std::memory_order_relaxed) + count, std::memory_order_relaxed);
    }

    base::spsc_ring<domain::event> events_;
    base::spsc_ring<log_record> log_records_;
    std::uint64_t log_records_added_ = 0;
    std::atomic<std::uint64_t> log_records_written_{0};  ///< by the writer
    std::atomic<std::uint64_t> lost_{0};                 ///< written by the producer alone
    std::uint64_t lost_reported_ = 0;                    ///< the writer's
};

struct event_log_options {
    event_log_options() noexcept {}

    std::string directory;  ///< made if it does not exist
    std::uint64_t file_bytes_max = telemetry::file_bytes_max;
    std::uint32_t files_max = telemetry::files_max;
    std::size_t events_waiting_max = telemetry::events_waiting_max;  ///< a power of two
    std::chrono::milliseconds look_interval = telemetry::look_interval;
};

/// Counts since the log was opened.
struct event_log_statistics {
    std::uint64_t events = 0;
    std::uint64_t log_records = 0;
    std::uint64_t lost = 0;
    std::uint64_t bytes = 0;
};

class event_log {
 public:
    /// Opens nothing yet: producers may record, and their records wait for `start`.
    /// @param on           Its worker writes.
    /// @param instruments  For names and decimal prices; copied.
    /// @throws std::system_error if the platform has no worker
    event_log(io::platform& on, const event_log_options& options, std::span<const domain::instrument> instruments);
    /// Writes the waiting records and ends, if it was started. Producers must not record any more.
    ~event_log();
    event_log(const event_log&) = delete;
    event_log& operator=(const event_log&) = delete;

    /// Makes the directory, continues the numbers of its files, and starts to write. Once.
    /// Fails with std::system_error when the directory or the first files cannot be made, or when a newer program has
    /// written files of a later format there.
    /// @cancel  The call still waits for the worker, and blocks this context meanwhile.
    [[nodiscard]] io::task<void> start();

    /// A new producer for one thread, valid as long as the log. To be called before that thread starts.
    [[nodiscard]] producer& add_producer();

    /// Adds an instrument. For set-up, before any producer records its first event.
    void list(const domain::instrument& i);

    /// Any thread.
    [[nodiscard]] event_log_statistics statistics() const noexcept;
    /// The first error of writing; from then on everything is lost, and counted. Any thread.
    [[nodiscard]] std::error_code error() const noexcept;

 private:
    class writer;
    std::unique_ptr<writer> writer_;
};

}  // namespace corro::telemetry
