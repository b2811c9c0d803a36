// SPDX-License-Identifier: Apache-2.0
#include "past.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "history/journal_to_read.hpp"
#include "io/task/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/identity.hpp"
#include "journal/segment_format.hpp"

namespace corro::app {
namespace {

/// Prints one line per second on standard error, after the first second.
class progress_lines {
 public:
    void operator()(const history::progress& now) {
        const auto time = std::chrono::steady_clock::now();
        if (time < next_) return;
        next_ = time + std::chrono::seconds(1);
        fmt::print(stderr, "command {:>12}  {:>8.1f} of {:.1f} MiB of the journal\n", now.sequence.value,
                   static_cast<double>(now.bytes_done) / 1'048'576, static_cast<double>(now.bytes_total) / 1'048'576);
    }

 private:
    std::chrono::steady_clock::time_point next_ = std::chrono::steady_clock::now() + std::chrono::seconds(1);
};

history::venue_setup venue_of(const node::configuration& c) {
    history::venue_setup venue;
    venue.options = node::facility_options_of(c, io::default_platform());
    venue.options.touch = base::page_touch::small_pages;  // a query uses only few of a venue's pages
    venue.instruments = c.instruments;
    venue.who = journal::identity(c.venue_name, journal::fingerprint_of(c.instruments), c.partition_index);
    return venue;
}

/// Whether the directory itself has the files of a journal.
bool has_segments(const std::string& directory) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        if (journal::segment_number(entry.path().filename().string())) return true;
    }
    return false;
}

std::string name_of_folder(const std::string& directory) {
    const std::filesystem::path folder = std::filesystem::absolute(directory).lexically_normal();
    return (folder.has_filename() ? folder : folder.parent_path()).filename().string();
}

std::string names_of(const std::vector<journal_source>& journals) {
    std::string names;
    for (const journal_source& each : journals) names += (names.empty() ? "" : ", ") + each.partition;
    return names;
}

/// Returns the journals of all partitions: those of the configuration, or those in the directory of the options.
std::vector<journal_source> journals_of_partitions(const node::configuration& venue, const past_options& options) {
    std::vector<journal_source> all;
    for (std::size_t k = 0; k < venue.partitions.size(); ++k) {
        const std::string& name = venue.partitions[k].name;
        journal_source one{name, node::configuration_of_partition(venue, k), "", options.ignores_index};
        one.directory = options.journal.empty() ? one.configuration.journal_directory : options.journal + "/" + name;
        all.push_back(std::move(one));
    }
    return all;
}

void check(const history::timeline::outcome& done) {
    if (!done) throw std::runtime_error(journal::with_advice(done.error()));
}

}  // namespace

void add_past_options(const subcommand& to, past_options& options) {
    to.add_option("--config", options.config, "The configuration of the exchange that wrote the journal")
        .required()
        .existing_file();
    to.add_option("--journal", options.journal,
                  "The directory of the journal, or of all partitions' journals (default: the configuration's)")
        .existing_directory();
    to.add_option("--partition", options.partition,
                  "In a venue with partitions: use only the journal of this one (default: the name of the journal's\n"
                  "folder; all partitions, if --journal is the folder of all)");
}

std::vector<journal_source> journals_of(const past_options& options, const std::string& instrument) {
    const node::configuration venue = node::load_configuration(options.config);
    if (options.journal.empty() && venue.journal_directory.empty()) {
        throw std::runtime_error(options.config + " keeps no journal (facility.journal); give one with --journal");
    }
    if (venue.partitions.empty()) {
        if (!options.partition.empty()) throw std::runtime_error("--partition: the venue has no partitions");
        const std::string directory = options.journal.empty()
                                          ? history::journal_to_read(venue.journal_directory, options.config)
                                          : options.journal;
        return {{"", venue, directory, options.ignores_index}};
    }
    std::vector<journal_source> all = journals_of_partitions(venue, options);
    const bool is_one_journal = !options.journal.empty() && has_segments(options.journal);
    std::string wanted = options.partition;
    if (wanted.empty() && is_one_journal) wanted = name_of_folder(options.journal);
    if (wanted.empty()) {
        const auto configured =
            std::ranges::find(venue.instruments, instrument, [](const domain::instrument& i) { return i.name.view(); });
        if (configured == venue.instruments.end()) return all;
        return {all[node::partition_of(venue, *configured)]};
    }
    const auto found = std::ranges::find(all, wanted, &journal_source::partition);
    if (found == all.end()) {
        throw std::runtime_error(
            fmt::format("no partition \"{}\"; choose one with --partition: {}", wanted, names_of(all)));
    }
    if (is_one_journal) found->directory = options.journal;
    return {*found};
}

void require_one(const std::vector<journal_source>& journals, const std::string& option) {
    if (journals.size() == 1) return;
    throw std::runtime_error(fmt::format("{}: each partition counts its own commands; choose one with --partition: {}",
                                         option, names_of(journals)));
}

past::past(const journal_source& source) : disk_(context_) {
    if (!has_segments(source.directory)) {
        throw std::runtime_error(fmt::format("{}: holds no journal", source.directory));
    }
    auto opened =
        io::block_on(context_, history::timeline::open(&disk_, source.directory, venue_of(source.configuration)));
    if (!opened) throw std::runtime_error(journal::with_advice(opened.error()));
    timeline_ = std::move(*opened);
    if (source.ignores_index) timeline_->index().forget();
    timeline_->report_to(progress_lines());
}

const domain::instrument* past::find(const std::string& name) const {
    for (const domain::instrument& i : timeline_->state().instruments()) {
        if (i.name.view() == name) return &i;
    }
    return nullptr;
}

unknown_instrument::unknown_instrument(std::string name, const std::vector<journal_source>& journals)
    : name_(std::move(name)) {
    const bool is_partition = journals.size() == 1 && !journals.front().partition.empty();
    place_ = is_partition ? "partition " + journals.front().partition : "the venue";
}

void unknown_instrument::add_known(const past& journal) {
    for (const domain::instrument& i : journal.timeline().state().instruments()) {
        known_ += (known_.empty() ? "" : ", ") + std::string(i.name.view());
    }
}

void unknown_instrument::report() const {
    throw std::runtime_error(fmt::format("no instrument \"{}\"; {} has: {}", name_, place_, known_));
}

void past::go_to(history::moment at) {
    check(io::block_on(context_, timeline_->go_to(at)));
}

void past::advance(history::moment until, facility::event_consumer& heard, history::command_listener* commands) {
    check(io::block_on(context_, timeline_->advance(until, &heard, commands)));
}

history::moment moment_of(const std::string& option, const std::string& text) {
    const auto read = history::parse_moment(text);
    if (!read) throw std::runtime_error(fmt::format("{}: {}", option, read.error()));
    return *read;
}

}  // namespace corro::app
