// SPDX-License-Identifier: Apache-2.0
// `corro journal backup`: copies the journals of a venue, which may be running.

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>

#include "commands.hpp"
#include "history/journal_to_read.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/storage.hpp"
#include "node/configuration/configuration.hpp"
#include "node/recovery/venue_backup.hpp"
#include "process.hpp"

namespace corro::app {
namespace {

struct backup_options {
    std::string source;
    std::string to;
};

/// Shows the progress of a long copy: in place on a terminal, otherwise in a line every ten seconds.
class copied_line {
 public:
    void operator()(std::uint64_t bytes) {
        const auto now = std::chrono::steady_clock::now();
        if (now < due_) return;
        due_ = now + (is_watched_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10'000));
        fmt::print(stderr, "{}{} MiB copied{}", is_watched_ ? "\r" : "", bytes >> 20U, is_watched_ ? " " : "\n");
        is_shown_ = is_watched_;
    }
    ~copied_line() {
        if (is_shown_) fmt::print(stderr, "\r{:30}\r", "");
    }
    copied_line() = default;
    copied_line(const copied_line&) = delete;
    copied_line& operator=(const copied_line&) = delete;

 private:
    bool is_watched_ = ::isatty(STDERR_FILENO) != 0;
    bool is_shown_ = false;
    std::chrono::steady_clock::time_point due_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

/// Returns the journals' directory: `source` itself, or the one in the configuration `source`.
std::string directory_of(const std::string& source) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(source, error)) return source;
    const node::configuration c = node::load_configuration(source);
    if (c.journal_directory.empty())
        throw std::runtime_error(source + ": this venue has no journal ([facility] journal)");
    return c.partitions.empty() ? history::journal_to_read(c.journal_directory, source) : c.journal_directory;
}

std::string time_of(std::chrono::system_clock::time_point when) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count() % 1'000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(std::chrono::system_clock::to_time_t(when)), ms);
}

int run(const backup_options& options) {
    keep_files_from_others();
    const std::string directory = directory_of(options.source);
    io::context context;
    journal::disk_storage files(context);
    const auto report = [&] {
        copied_line progress;
        const node::backup_progress each = [&progress](std::uint64_t bytes) { progress(bytes); };
        return io::block_on(context, node::back_up(&files, directory, options.to, &each));
    }();
    if (!report) {
        fmt::print(stderr, "corro journal: {}\n", journal::with_advice(report.error()));
        return 1;
    }
    for (const node::backed_up_journal& each : report->journals) {
        const std::string name = each.folder.empty() ? "" : each.folder + ": ";
        fmt::print("{}commands up to {} in {} segments", name, each.last_sequence, each.segments_count);
        if (each.snapshot_sequence != 0) fmt::print(", newest snapshot after {}", each.snapshot_sequence);
        fmt::print("\n");
    }
    fmt::print("{}: a copy of {} with everything acknowledged until {}; {:.1f} MiB\n", options.to, directory,
               time_of(report->moment), static_cast<double>(report->bytes) / 1'048'576);
    return 0;
}

}  // namespace

void add_journal_backup_command(command_line& line) {
    const auto options = std::make_shared<backup_options>();
    const subcommand journal = line.subcommand_named("journal", "Maintain a journal").requires_subcommand();
    const subcommand command = journal.add_subcommand("backup", "Copy the journals of a venue, which may be running");
    command.add_option("source", options->source, "The venue's configuration, or the directory of [facility] journal")
        .required();
    command.add_option("to", options->to, "Path of the copy; must not exist").required();
    command.footer(
        "The copy is consistent at one moment, also for several partitions. It has the newest snapshots, and `corro "
        "serve` "
        "starts from\n"
        "it. A copy is the same venue again: start it only if the original is stopped for good, or if none of "
        "its clients\n"
        "and gateways can reach it. Until the copy is complete its name is TO.unfinished.\n"
        "Exit code: 0 if the copy is complete, 1 otherwise.");
    command.runs([options] { return run(*options); });
}

}  // namespace corro::app
