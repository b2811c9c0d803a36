// SPDX-License-Identifier: Apache-2.0
// `corro export`: writes events of a journal as files for other programs.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "api/market_frames.hpp"
#include "commands.hpp"
#include "history/exporter.hpp"
#include "page_export.hpp"
#include "past.hpp"

namespace corro::app {
namespace {

struct export_options {
    past_options past;
    history::export_choice what;
    std::string format = "csv";
    std::string instrument;
    std::string from;
    std::string to;
    std::uint32_t depth = 10;
    std::string tick = "100";
    std::filesystem::path directory;
    std::string times;
};

/// Writes events until an error occurs.
struct writing final : facility::event_consumer {
    explicit writing(history::exporter& writer) : to(writer) {}
    void consume(std::span<const domain::event> events) noexcept override { to.consume(events); }
    history::exporter& to;
};

/// Returns the moment just before the start of the export.
history::moment before(history::moment from) {
    if (from.is_time) return history::moment{domain::time_ns{from.time.value - 1}};
    const std::uint64_t sequence = from.sequence.value;
    return history::moment{domain::sequence_number{sequence == 0 ? 0 : sequence - 1}};
}

/// Whether the range is empty. False for a number and a time: only the journal can compare them.
bool is_backwards(history::moment from, history::moment to) {
    if (from.is_time != to.is_time) return false;
    return from.is_time ? from.time > to.time : from.sequence > to.sequence;
}

/// Finds the instrument by name; id 0 if there is none. It may have been defined after the start of the export.
domain::instrument_id find_instrument(const std::string& name, past& p, history::moment from, history::moment to) {
    if (p.find(name) == nullptr) p.go_to(to);
    const domain::instrument* const found = p.find(name);
    const domain::instrument_id id = found == nullptr ? domain::instrument_id{} : found->id;
    if (found != nullptr) p.go_to(from);
    return id;
}

std::unique_ptr<history::exporter> exporter_of(const export_options& options, const std::filesystem::path& directory,
                                               domain::instrument_id only, past& p) {
    const auto instruments = p.timeline().state().instruments();
    if (options.format == "lobster") {
        return history::make_lobster_exporter(directory, instruments, only, options.depth);
    }
    history::export_choice what = options.what;
    if (!what.orders && !what.trades && !what.levels) what = {.orders = true, .trades = true, .levels = true};
    return history::make_csv_exporter(directory, instruments, only, what);
}

std::size_t tick_of(const std::string& milliseconds) {
    const auto found = std::ranges::find(api::frame_ticks_ms, std::stoll(milliseconds));
    return static_cast<std::size_t>(found - api::frame_ticks_ms.begin());
}

struct time_range {
    history::moment from;
    history::moment to;
};

/// Writes the files of one journal, which is just before the start of the range.
void write_files(const export_options& options, const std::filesystem::path& directory, const std::string& venue_name,
                 domain::instrument_id only, history::moment to, past& p) {
    std::filesystem::create_directories(directory);
    const std::uint64_t first = p.timeline().state().position().sequence.value + 1;
    if (options.format == "html") {
        page_export page;
        page.directory = directory;
        page.venue_name = venue_name;
        page.only = only;
        page.tick = tick_of(options.tick);
        const std::uint64_t frames = export_page(page, to, p);
        const std::uint64_t last = p.timeline().state().position().sequence.value;
        fmt::print("{} frames of commands {} to {}, and a page that shows them, are in {}\n", frames, first, last,
                   directory.string());
        return;
    }
    const std::unique_ptr<history::exporter> files = exporter_of(options, directory, only, p);
    history::recorded_times times;
    if (!options.times.empty()) {
        times = history::recorded_times::load(options.times);
        files->take_times_from(times);
    }
    files->begin(p.timeline().state());
    p.advance(to, *files, files.get());
    if (!files->problem().empty()) throw std::runtime_error(files->problem());
    files->finish();
    const std::uint64_t last = p.timeline().state().position().sequence.value;
    fmt::print("{} lines about commands {} to {} are in {}\n", files->lines_count(), first, last, directory.string());
}

/// Exports from each journal, or only from the one that has the instrument of the options.
void export_all(const export_options& options, const std::vector<journal_source>& journals, time_range range) {
    unknown_instrument unknown(options.instrument, journals);
    bool is_written = false;
    for (const journal_source& journal : journals) {
        past p(journal);
        p.go_to(before(range.from));
        domain::instrument_id only{};
        std::filesystem::path directory = options.directory;
        if (!options.instrument.empty()) {
            only = find_instrument(options.instrument, p, before(range.from), range.to);
            if (only == domain::instrument_id{}) {
                unknown.add_known(p);
                continue;
            }
        } else if (journals.size() > 1) {
            directory /= journal.partition;
        }
        write_files(options, directory, journal.configuration.venue_name, only, range.to, p);
        is_written = true;
    }
    if (!is_written) unknown.report();
}

int run(const export_options& options) {
    const bool chooses = options.what.orders || options.what.trades || options.what.levels;
    if (options.format != "csv" && chooses) {
        throw std::runtime_error(fmt::format(
            "--format {} writes everything together; leave out --orders, --trades and --levels", options.format));
    }
    if (options.format == "html" && !options.times.empty()) {
        throw std::runtime_error("--format html has the venue's times; leave out --times");
    }
    time_range range{history::moment{domain::sequence_number{0}}, history::latest()};
    if (!options.from.empty()) range.from = moment_of("--from", options.from);
    if (!options.to.empty()) range.to = moment_of("--to", options.to);
    if (is_backwards(range.from, range.to)) {
        throw std::runtime_error(fmt::format("--from {} is later than --to {}", options.from, options.to));
    }
    const std::vector<journal_source> journals = journals_of(options.past, options.instrument);
    if (!options.from.empty() && !range.from.is_time) require_one(journals, "--from " + options.from);
    if (!options.to.empty() && !range.to.is_time) require_one(journals, "--to " + options.to);
    if (!options.times.empty()) require_one(journals, "--times");
    export_all(options, journals, range);
    return 0;
}

}  // namespace

void add_export_command(command_line& line) {
    const auto options = std::make_shared<export_options>();
    const subcommand command = line.add_subcommand(
        "export",
        "Write orders, trades and levels of a journal as CSV, order flow as LOBSTER, or a page that plays it");
    add_past_options(command, options->past);
    command.add_option("directory", options->directory, "Directory of the files; created if missing").required();
    command.add_flag("--orders", options->what.orders, "Write only orders.csv, or with the other two as chosen");
    command.add_flag("--trades", options->what.trades, "Write only trades.csv, or with the other two as chosen");
    command.add_flag("--levels", options->what.levels, "Write only levels.csv, or with the other two as chosen");
    command
        .add_option("--format", options->format,
                    "csv; lobster: a message and an orderbook file per instrument; or html: the dashboard with this\n"
                    "run, for any file server")
        .shows_default()
        .one_of({"csv", "lobster", "html"});
    command
        .add_option("--tick", options->tick, "With html: milliseconds of the venue's time from one picture to the next")
        .shows_default()
        .one_of({"16", "33", "100", "1000"});
    command.add_option("--depth", options->depth, "Number of levels in an orderbook file")
        .shows_default()
        .in_range(1U, 200U);
    command.add_option("--instrument", options->instrument, "Export only this instrument");
    command.add_option("--times", options->times,
                       "Write the recorded times that `corro replay --times` wrote to this file, not the venue's");
    command.add_option("--from", options->from, "First command or time (default: the first command)");
    command.add_option("--to", options->to, "Last command or time, inclusive (default: the end)");
    command.footer(
        "Times are UTC, as 2026-11-22T09:30:00.123456789. The columns are in docs/spec/export.md.\n"
        "Exit code: 0 if all files were written, 1 otherwise.");
    command.runs([options] { return run(*options); });
}

}  // namespace corro::app
