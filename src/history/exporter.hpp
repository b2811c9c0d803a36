// SPDX-License-Identifier: Apache-2.0
// The base of the exporters, which write files from a venue's commands and events.
//
// An exporter receives commands and events in order, from `begin` on, and writes files into a directory. `consume`
// cannot fail, so errors are kept; check `problem` regularly.
//
// Layout: docs/spec/export.md. Threads: none of their own. Cost: allocates.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "domain/instrument.hpp"
#include "facility/facility.hpp"
#include "history/recorded_times.hpp"
#include "history/timeline.hpp"

namespace corro::history {

class exporter : public facility::event_consumer, public command_listener {
 public:
    exporter() = default;
    exporter(const exporter&) = delete;
    exporter& operator=(const exporter&) = delete;
    virtual ~exporter() = default;

    void consume(std::span<const domain::event> events) noexcept final;
    void executing(const domain::command& command) noexcept final;
    /// Uses recorded times from now on: an event has the time of its command, or of the last command with one, instead
    /// of the venue's. `times` outlives the exporter.
    void take_times_from(const recorded_times& times) noexcept {
        times_ = &times;
        recorded_ = times.first();
    }
    /// Sets the state before the first event. @throws std::system_error
    virtual void begin(const facility::facility& state) = 0;
    /// Ends all files. @throws std::system_error
    virtual void finish() = 0;

    /// Why it has stopped writing, as a sentence; empty while it has not.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
    [[nodiscard]] virtual std::uint64_t lines_count() const noexcept = 0;

 protected:
    virtual void write(const domain::event& event) = 0;
    /// The running command; its sequence number is 0 before the first.
    [[nodiscard]] const domain::command& command() const noexcept { return command_; }

 private:
    std::string problem_;
    domain::command command_;
    const recorded_times* times_ = nullptr;
    domain::time_ns recorded_{};
};

/// The files that an exporter writes.
struct export_choice {
    bool orders = false;
    bool trades = false;
    bool levels = false;
};

/// orders.csv, trades.csv and levels.csv, as chosen.
/// @param only  Only lines of this instrument; 0 for all.
/// @throws std::system_error when a file cannot be made.
[[nodiscard]] std::unique_ptr<exporter> make_csv_exporter(const std::filesystem::path& directory,
                                                          std::span<const domain::instrument> instruments,
                                                          domain::instrument_id only, export_choice what);

/// A message file and an orderbook file per instrument and day, of `depth` levels (wire/recorded/lobster.hpp).
/// @param only  As above.
[[nodiscard]] std::unique_ptr<exporter> make_lobster_exporter(const std::filesystem::path& directory,
                                                              std::span<const domain::instrument> instruments,
                                                              domain::instrument_id only, std::uint32_t depth);

}  // namespace corro::history
