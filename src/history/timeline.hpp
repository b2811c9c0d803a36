// The venue at any moment of its journal.
//
//     auto past = co_await timeline::open(&files, "data/journal", venue);
//     auto there = co_await (*past)->go_to(*parse_moment("2026-11-22T09:30:00"));
//     (*past)->state().visit_book(instrument, printer);
//     co_await (*past)->advance(latest(), &exporter);    // everything that was said from there on
//
// Going to a moment takes the nearest snapshot of the index that is not later, and executes the commands from there on.
// The state is that of the whole history: a command may depend on any other instrument by limits and positions.
//
// Limits: history/limits.hpp for the index.
// Threads: one context.
// Cost: a facility in memory; going somewhere costs a snapshot and at most the commands up to the next one.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
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

/// Whose past it is: what the venue was configured with when it wrote the journal.
struct venue_setup {
    facility::facility_options options;
    std::vector<domain::instrument> instruments;
    journal::identity who;
};

/// How far a long run has come.
struct progress {
    domain::sequence_number sequence{};  ///< of the last command executed
    std::uint64_t bytes_done = 0;        ///< of the journal
    std::uint64_t bytes_total = 0;
};

/// Hears each command before the events that it causes.
struct command_listener {
    virtual void executing(const domain::command& command) noexcept = 0;

 protected:
    ~command_listener() = default;
};

class timeline final : private facility::event_consumer {
 public:
    using outcome = std::expected<void, journal::problem>;

    /// Stands before the first command.
    /// @param files  Outlives the timeline.
    /// @error What journal::reader::open says.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<timeline>, journal::problem>> open(
        journal::storage* files, std::string directory, venue_setup venue);

    /// Goes to a moment. Behind the end of the journal is no error by time, but one by sequence number.
    /// @error  What the reader says; out_of_reach when there is no such command. Snapshots that cannot be loaded are
    ///         passed over for older ones.
    [[nodiscard]] io::task<outcome> go_to(moment at);
    /// Executes the commands from here up to a moment, or to the end of the journal. What they cause goes to `heard`,
    /// unless that is null; so do the commands themselves.
    [[nodiscard]] io::task<outcome> advance(moment until, facility::event_consumer* heard = nullptr,
                                            command_listener* commands = nullptr);

    /// The state after the command that `facility::position` names.
    [[nodiscard]] const facility::facility& state() const noexcept { return facility_; }
    [[nodiscard]] snapshot_index& index() noexcept { return index_; }
    /// Whether `advance` has met the end of the journal.
    [[nodiscard]] bool at_end() const noexcept { return at_end_; }
    /// The snapshot that `go_to` began with, and how many commands followed.
    [[nodiscard]] std::uint64_t loaded_sequence() const noexcept { return loaded_sequence_; }
    [[nodiscard]] std::uint64_t executed_count() const noexcept { return executed_count_; }

    /// Is told some thousand commands apart.
    void report_to(std::function<void(const progress&)> listener) { listener_ = std::move(listener); }

 private:
    timeline(journal::storage* files, std::string directory, venue_setup venue);

    void consume(std::span<const domain::event> events) noexcept override;
    io::task<outcome> open_reader(std::uint64_t from);
    /// Loads the latest of the first `count` snapshots that can be, of those behind a command.
    io::task<std::expected<bool, journal::problem>> load_nearest(std::size_t count, std::uint64_t behind);
    io::task<outcome> check_snapshot();

    journal::storage* files_;
    std::string directory_;
    journal::identity who_;
    facility::facility facility_;
    facility::event_consumer* heard_ = nullptr;
    snapshot_index index_;
    std::unique_ptr<journal::reader> reader_;
    std::span<const domain::command> left_;  ///< read and not executed
    bool at_end_ = false;
    std::uint64_t loaded_sequence_ = 0;
    std::uint64_t executed_count_ = 0;
    std::function<void(const progress&)> listener_;
};

/// What making an index has done.
struct index_report {
    std::uint64_t snapshots_written = 0;
    std::uint64_t bytes_written = 0;
    domain::sequence_number last{};  ///< the last command of the journal
};

/// Adds the snapshots that are missing behind the last one there is: one every `interval` commands, unless it would be
/// larger than the commands since the one before. So the index never needs more room than the journal.
/// @param past  Anywhere; stands at the end of the journal afterwards.
[[nodiscard]] io::task<std::expected<index_report, journal::problem>> make_index(timeline* past,
                                                                                 std::uint64_t interval);

}  // namespace corro::history
