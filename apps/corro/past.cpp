#include "past.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "io/block_on.hpp"
#include "journal/identity.hpp"

namespace corro::app {
namespace {

/// One line per second on standard error, from the first second on.
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
    venue.options = node::facility_options_of(c);
    venue.instruments = c.instruments;
    venue.who = journal::identity(c.venue_name, journal::fingerprint_of(c.instruments));
    return venue;
}

void check(const history::timeline::outcome& done) {
    if (!done) throw std::runtime_error(done.error().text);
}

}  // namespace

void add_past_options(CLI::App& command, past_options& options) {
    command.add_option("--config", options.config, "The configuration of the exchange that wrote the journal")
        ->required()
        ->check(CLI::ExistingFile);
    command.add_option("--journal", options.journal, "The directory of the journal")
        ->required()
        ->check(CLI::ExistingDirectory);
}

past::past(const past_options& options) : configuration_(node::load_configuration(options.config)), disk_(context_) {
    auto opened = io::block_on(context_, history::timeline::open(&disk_, options.journal, venue_of(configuration_)));
    if (!opened) throw std::runtime_error(opened.error().text);
    timeline_ = std::move(*opened);
    if (options.ignores_index) timeline_->index().forget();
    timeline_->report_to(progress_lines());
}

const domain::instrument& past::instrument(const std::string& name) const {
    std::string known;
    for (const domain::instrument& i : configuration_.instruments) {
        if (i.name.view() == name) return i;
        known += (known.empty() ? "" : ", ") + std::string(i.name.view());
    }
    throw std::runtime_error(fmt::format("no instrument \"{}\"; the venue has: {}", name, known));
}

void past::go_to(history::moment at) {
    check(io::block_on(context_, timeline_->go_to(at)));
}

void past::advance(history::moment until, facility::event_consumer& heard) {
    check(io::block_on(context_, timeline_->advance(until, &heard)));
}

history::moment moment_of(const std::string& option, const std::string& text) {
    const auto read = history::parse_moment(text);
    if (!read) throw std::runtime_error(fmt::format("{}: {}", option, read.error()));
    return *read;
}

}  // namespace corro::app
