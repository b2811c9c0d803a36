// SPDX-License-Identifier: Apache-2.0
// `corro journal index`: adds snapshots along a journal, so that queries of its past are fast.

#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "commands.hpp"
#include "io/task/block_on.hpp"
#include "past.hpp"

namespace corro::app {
namespace {

struct index_options {
    past_options past;
    std::uint64_t interval = history::index_interval_default;
};

int run(const index_options& options) {
    const std::vector<journal_source> journals = journals_of(options.past);
    for (const journal_source& journal : journals) {
        past p(journal);
        const auto report = io::block_on(p.context(), history::make_index(&p.timeline(), options.interval));
        if (!report) throw std::runtime_error(report.error().text);
        if (journals.size() > 1) fmt::print("partition {}: ", journal.partition);
        fmt::print("{} snapshots written, {:.1f} MiB; the index has {} up to command {} of {}\n",
                   report->snapshots_written, static_cast<double>(report->bytes_written) / 1'048'576,
                   p.timeline().index().indexed_count(), p.timeline().index().last_indexed(), report->last.value);
    }
    return 0;
}

}  // namespace

void add_journal_index_command(command_line& line) {
    const auto options = std::make_shared<index_options>();
    const subcommand journal = line.subcommand_named("journal", "Maintain a journal").requires_subcommand();
    const subcommand command = journal.add_subcommand(
        "index", "Add snapshots to a journal, so that `corro book` and `corro export` start near any moment");
    add_past_options(command, options->past);
    command.add_option("--every", options->interval, "Number of commands between snapshots")
        .shows_default()
        .in_range(std::uint64_t{100}, std::uint64_t{1'000'000'000});
    command.footer(
        "The snapshots are in the folder `history` of the journal. They can be removed at any time; the command "
        "continues "
        "on\n"
        "after the last one. Together they never need more space than the journal.\n"
        "Exit code: 0 if the index is complete, 1 if the journal cannot be read or a snapshot cannot be written.");
    command.runs([options] { return run(*options); });
}

}  // namespace corro::app
