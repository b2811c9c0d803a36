// SPDX-License-Identifier: Apache-2.0
// The venue at any moment of its journal.
//
//     auto past = co_await timeline::open(&files, "data/journal", venue);
//     auto there = co_await (*past)->go_to(*parse_moment("2026-11-22T09:30:00"));
//     (*past)->state().visit_book(instrument, printer);
//     co_await (*past)->advance(latest(), &exporter);    // all later events
//
// Going to a moment loads the nearest snapshot of the index that is not later, and executes the commands after it. It
// computes the state of all instruments, because a command may depend on any other instrument by limits and positions.
//
// Limits: history/limits.hpp for the index.
// Threads: one context.
// Cost: a facility in memory; going to a moment costs a snapshot and at most the commands up to the next one.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "domain/command.hpp"
#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "history/limits.hpp"
#include "history/moment.hpp"
#include "history/snapshot_index.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/reader.hpp"
#include "journal/storage.hpp"

namespace corro::history {

/// The configuration of the venue when it wrote the journal.
struct venue_setup {
    facility::facility_options options;
    std::vector<domain::instrument> instruments;
    journal::identity who;
};

/// The progress of a long run.
struct progress {
    domain::sequence_number sequence{};  ///< of the last command executed
    std::uint64_t bytes_done = 0;        ///< of the journal
    std::uint64_t bytes_total = 0;
};

/// Receives each command before its events.
struct command_listener {
    virtual void executing(const domain::command& command) noexcept = 0;

 protected:
    ~command_listener() = default;
};

class timeline final : private facility::event_consumer {
 public:
    using outcome = std::expected<void, journal::problem>;

    /// Opens a timeline before the first command.
    /// @param files  Outlives the timeline.
    /// @error As journal::reader::open; foreign_file if the directory has no segment.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<timeline>, journal::problem>> open(
        journal::storage* files, std::string directory, venue_setup venue);

    /// Goes to a moment. A moment beyond the journal's end is an error by sequence number, but not by time.
    /// @error  The reader's; out_of_reach when there is no such command. Skips snapshots that cannot be loaded.
    [[nodiscard]] io::task<outcome> go_to(moment at);
    /// Executes the commands from here up to a moment, or to the end of the journal; behind an end that was reached
    /// before, those that were written since. `heard` and `listener` receive the
    /// events and the commands, unless they are null.
    [[nodiscard]] io::task<outcome> advance(moment until, facility::event_consumer* heard = nullptr,
                                            command_listener* commands = nullptr);

    /// From now on a call of `advance` or `go_to` executes at most this many commands, then it returns early.
    void limit_work(std::uint64_t commands) noexcept { commands_max_ = commands; }
    /// Whether the last call has returned early, because of the limit.
    [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }

    /// The state after the command that `facility::position` names.
    [[nodiscard]] const facility::facility& state() const noexcept { return facility_; }
    [[nodiscard]] snapshot_index& index() noexcept { return index_; }
    /// Whether `advance` has reached the end of the journal.
    [[nodiscard]] bool at_end() const noexcept { return at_end_; }
    /// The snapshot that `go_to` loaded, and the number of commands executed after it.
    [[nodiscard]] std::uint64_t loaded_sequence() const noexcept { return loaded_sequence_; }
    [[nodiscard]] std::uint64_t executed_count() const noexcept { return executed_count_; }

    /// Sets a listener that is called every few thousand commands.
    void report_to(std::function<void(const progress&)> listener) { listener_ = std::move(listener); }

 private:
    timeline(journal::storage* files, std::string directory, venue_setup venue);

    void consume(std::span<const domain::event> events) noexcept override;
    io::task<outcome> open_reader(std::uint64_t from);
    /// Loads the latest loadable one of the first `count` snapshots, of those after a command.
    io::task<std::expected<bool, journal::problem>> load_nearest(std::size_t count, std::uint64_t behind);
    io::task<outcome> check_snapshot();

    journal::storage* files_;
    std::string directory_;
    journal::identity who_;
    facility::facility facility_;
    facility::event_consumer* heard_ = nullptr;
    snapshot_index index_;
    std::unique_ptr<journal::reader> reader_;
    std::span<const domain::command> left_;  ///< read but not executed
    bool at_end_ = false;
    bool is_cut_ = false;
    std::uint64_t commands_max_ = std::numeric_limits<std::uint64_t>::max();
    std::uint64_t loaded_sequence_ = 0;
    std::uint64_t executed_count_ = 0;
    std::function<void(const progress&)> listener_;
};

/// The result of making an index.
struct index_report {
    std::uint64_t snapshots_written = 0;
    std::uint64_t bytes_written = 0;
    domain::sequence_number last{};  ///< the last command of the journal
};

/// Adds the missing snapshots after the last one: one every `interval` commands, unless it would be larger than the
/// commands since the one before. So the index never exceeds the journal's size.
/// @param past  At any moment; at the end of the journal afterwards.
[[nodiscard]] io::task<std::expected<index_report, journal::problem>> make_index(timeline* past,
                                                                                 std::uint64_t interval);

}  // namespace corro::history
