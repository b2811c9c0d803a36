#include "past.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "io/task/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/identity.hpp"

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
    venue.options.touch = base::page_touch::no;  // a query uses only few of a venue's pages
    venue.instruments = c.instruments;
    venue.who = journal::identity(c.venue_name, journal::fingerprint_of(c.instruments), c.shard);
    return venue;
}

/// Returns the configuration of the journal's writer: the venue, or the partition of the option or of the journal's
/// folder.
node::configuration writer_of(const past_options& options) {
    node::configuration c = node::load_configuration(options.config);
    if (c.partitions.empty()) {
        if (!options.partition.empty()) throw std::runtime_error("--partition: the venue has no partitions");
        return c;
    }
    std::string of_folder;
    if (!options.journal.empty()) {
        const std::filesystem::path folder = std::filesystem::absolute(options.journal).lexically_normal();
        of_folder = (folder.has_filename() ? folder : folder.parent_path()).filename().string();
    }
    const std::string& name = options.partition.empty() ? of_folder : options.partition;
    std::string known;
    for (std::size_t k = 0; k < c.partitions.size(); ++k) {
        if (c.partitions[k].name == name) return node::configuration_of_partition(c, k);
        known += (known.empty() ? "" : ", ") + c.partitions[k].name;
    }
    throw std::runtime_error(
        fmt::format("the venue has partitions, each with its own journal: choose one with --partition: {}", known));
}

void check(const history::timeline::outcome& done) {
    if (!done) throw std::runtime_error(journal::with_advice(done.error()));
}

}  // namespace

void add_past_options(const subcommand& to, past_options& options) {
    to.add_option("--config", options.config, "The configuration of the exchange that wrote the journal")
        .required()
        .existing_file();
    to.add_option("--journal", options.journal, "The directory of the journal (default: the configuration's)")
        .existing_directory();
    to.add_option("--partition", options.partition,
                  "The partition that wrote the journal, in a venue with partitions (default: the name of its folder)");
}

past::past(const past_options& options) : configuration_(writer_of(options)), disk_(context_) {
    const std::string& journal = options.journal.empty() ? configuration_.journal_directory : options.journal;
    if (journal.empty()) {
        throw std::runtime_error(options.config + " keeps no journal (facility.journal); give one with --journal");
    }
    auto opened = io::block_on(context_, history::timeline::open(&disk_, journal, venue_of(configuration_)));
    if (!opened) throw std::runtime_error(journal::with_advice(opened.error()));
    timeline_ = std::move(*opened);
    if (options.ignores_index) timeline_->index().forget();
    timeline_->report_to(progress_lines());
}

const domain::instrument* past::find(const std::string& name) const {
    for (const domain::instrument& i : timeline_->state().instruments()) {
        if (i.name.view() == name) return &i;
    }
    return nullptr;
}

const domain::instrument& past::instrument(const std::string& name) const {
    if (const domain::instrument* found = find(name)) return *found;
    std::string known;
    for (const domain::instrument& i : timeline_->state().instruments()) {
        known += (known.empty() ? "" : ", ") + std::string(i.name.view());
    }
    throw std::runtime_error(fmt::format("no instrument \"{}\"; the venue has: {}", name, known));
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
