// SPDX-License-Identifier: Apache-2.0
#include "native/journal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "history/journal_to_read.hpp"
#include "history/limits.hpp"
#include "history/moment.hpp"
#include "history/timeline.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "journal/advice.hpp"
#include "journal/segment_files.hpp"
#include "journal/storage.hpp"
#include "native/book.hpp"
#include "native/row_frames.hpp"
#include "node/configuration/configuration.hpp"

namespace corro::python {
namespace {

history::moment moment_of(when at) {
    switch (at.what) {
        case when::kind::sequence: return history::moment{domain::sequence_number{static_cast<std::uint64_t>(at.value)}};
        case when::kind::time: return history::moment{domain::time_ns{at.value}};
        case when::kind::end: break;
    }
    return history::latest();
}

/// The moment just before the first command of a range.
history::moment before(when from) {
    if (from.what == when::kind::sequence && from.value > 0) --from.value;
    if (from.what == when::kind::time && from.value > std::numeric_limits<std::int64_t>::min()) --from.value;
    return moment_of(from);
}

/// Whether the directory itself has the files of a journal.
bool has_segments(const std::string& directory) {
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
        if (corro::journal::segment_number(entry.path().filename().string())) return true;
    }
    return false;
}

node::configuration load(const std::string& file) {
    try {
        return node::load_configuration(file);
    } catch (const node::configuration_error& e) {
        throw setup_error(e.what());
    }
}

/// The configuration of one journal: the venue's, or that of the chosen partition.
node::configuration choose(const node::configuration& venue, const journal_place& place) {
    if (venue.partitions.empty()) {
        if (place.partition.empty()) return venue;
        throw argument_error(fmt::format("partition=\"{}\": the venue of {} has no partitions; leave it out",
                                         place.partition, place.config));
    }
    std::string names;
    for (std::size_t k = 0; k < venue.partitions.size(); ++k) {
        if (venue.partitions[k].name == place.partition) return node::configuration_of_partition(venue, k);
        names += (k == 0 ? "" : ", ") + venue.partitions[k].name;
    }
    throw argument_error(place.partition.empty()
                             ? fmt::format("the venue of {} has partitions, each with a journal; choose one with "
                                           "partition=, of: {}",
                                           place.config, names)
                             : fmt::format("no partition \"{}\"; the venue of {} has: {}", place.partition,
                                           place.config, names));
}

std::string found_journal(const node::configuration& chosen, const journal_place& place) {
    if (!place.partition.empty()) return chosen.journal_directory;
    try {
        return history::journal_to_read(chosen.journal_directory, place.config);
    } catch (const std::runtime_error& e) {
        throw setup_error(e.what());
    }
}

std::string directory_of(const node::configuration& chosen, const journal_place& place) {
    if (place.directory.empty()) {
        if (!chosen.journal_directory.empty()) return found_journal(chosen, place);
        throw argument_error(fmt::format(
            "{} keeps no journal (facility.journal); name the journal's folder and give the file as config=",
            place.config));
    }
    const std::string below = place.directory + "/" + place.partition;
    return !place.partition.empty() && has_segments(below) ? below : place.directory;
}

void check(const history::timeline::outcome& done) {
    if (!done) throw data_error(corro::journal::with_advice(done.error()));
}

/// Collects events until memory ends.
struct collecting final : facility::event_consumer {
    collecting(history::exporter& writer, quote_recorder* recorder) : to(writer), quotes(recorder) {}
    void consume(std::span<const domain::event> events) noexcept override {
        to.consume(events);
        if (quotes == nullptr || is_out_of_memory) return;
        try {
            quotes->consume(events);
        } catch (const std::bad_alloc&) {
            is_out_of_memory = true;
        }
    }
    history::exporter& to;
    quote_recorder* quotes;
    bool is_out_of_memory = false;
};

}  // namespace

struct journal::state {
    explicit state(journal_place where)
        : place(std::move(where)),
          configuration(choose(load(place.config), place)),
          directory(directory_of(configuration, place)) {
        if (!has_segments(directory)) {
            throw data_error(fmt::format(
                "{}: holds no journal; name the folder with its segment files, or a run's folder", directory));
        }
        for (const domain::instrument& each : configuration.instruments) instruments.push_back(facts_of(each));
        open();  // refuses another venue's journal now
    }

    history::venue_setup venue() const {
        history::venue_setup made;
        made.options = node::facility_options_of(configuration, io::default_platform());
        made.options.touch = base::page_touch::small_pages;  // a query uses only few of a venue's pages
        made.instruments = configuration.instruments;
        made.who = corro::journal::identity(configuration.venue_name,
                                            corro::journal::fingerprint_of(configuration.instruments),
                                            configuration.partition_index);
        return made;
    }
    void open() {
        auto opened = io::block_on(context, history::timeline::open(&disk, directory, venue()));
        if (!opened) throw data_error(corro::journal::with_advice(opened.error()));
        timeline = std::move(*opened);
        if (place.ignores_index) timeline->index().forget();
    }
    /// Work on the timeline. When it fails the timeline is made again: its state is anywhere then.
    template <class Work>
    auto with(const interruption& interrupted, Work&& work) {
        const std::lock_guard hold(one_at_a_time);
        if (timeline == nullptr) open();
        timeline->report_to([&](const history::progress&) { interrupted(); });
        try {
            auto made = work(*timeline);
            timeline->report_to({});
            return made;
        } catch (...) {
            timeline.reset();
            throw;
        }
    }
    void go_to(history::timeline& past, history::moment at) { check(io::block_on(context, past.go_to(at))); }
    /// Goes to just before a range. @return The instrument's id; 0 for an empty name. @throws argument_error
    domain::instrument_id begin(history::timeline& past, when from, when to, const std::string& instrument) {
        go_to(past, before(from));
        if (instrument.empty()) return {};
        if (const domain::instrument* const found = find_instrument(past.state(), instrument)) return found->id;
        // It may have been defined later.
        go_to(past, moment_of(to));
        const domain::instrument_id id = instrument_of(past.state(), instrument).id;
        go_to(past, before(from));
        return id;
    }

    journal_place place;
    node::configuration configuration;
    std::string directory;
    std::vector<instrument_facts> instruments;
    std::mutex one_at_a_time;
    io::context context;
    corro::journal::disk_storage disk{context};
    std::unique_ptr<history::timeline> timeline;
};

journal::journal(journal_place place) : state_(std::make_unique<state>(std::move(place))) {}
journal::~journal() = default;

const std::string& journal::directory() const noexcept {
    return state_->directory;
}

const std::vector<instrument_facts>& journal::instruments() const noexcept {
    return state_->instruments;
}

journal_frames journal::read(const journal_choice& what, const interruption& interrupted) {
    return state_->with(interrupted, [&](history::timeline& past) {
        const domain::instrument_id only = state_->begin(past, what.from, what.to, what.instrument);
        frame_exporter rows(past.state().instruments(), only,
                            {.orders = what.orders, .trades = what.trades, .levels = what.levels});
        rows.begin(past.state());
        quote_recorder quotes(only);
        collecting events(rows, what.quotes ? &quotes : nullptr);
        check(io::block_on(state_->context, past.advance(moment_of(what.to), &events, &rows)));
        if (!rows.problem().empty()) throw data_error(rows.problem());
        if (events.is_out_of_memory) throw std::bad_alloc();
        row_frames made = rows.take();
        return journal_frames{std::move(made.orders), std::move(made.trades), std::move(made.levels),
                              what.quotes ? quotes.copy(past.state().instruments()) : nullptr};
    });
}

book_facts journal::book_at(when at, const std::string& instrument, std::uint32_t depth, bool with_orders,
                            const interruption& interrupted) {
    return state_->with(interrupted, [&](history::timeline& past) {
        state_->go_to(past, moment_of(at));
        return book_of(past.state(), instrument_of(past.state(), instrument), depth, with_orders);
    });
}

std::uint64_t journal::to_lobster(const std::string& to_directory, const std::string& instrument, std::uint32_t depth, when from,
                                  when to, const interruption& interrupted) {
    return state_->with(interrupted, [&](history::timeline& past) {
        try {
            const domain::instrument_id only = state_->begin(past, from, to, instrument);
            std::filesystem::create_directories(to_directory);
            const auto files = history::make_lobster_exporter(to_directory, past.state().instruments(), only, depth);
            files->begin(past.state());
            check(io::block_on(state_->context, past.advance(moment_of(to), files.get(), files.get())));
            if (!files->problem().empty()) throw data_error(files->problem());
            files->finish();
            return files->lines_count();
        } catch (const std::system_error& e) {
            throw data_error(e.what());
        }
    });
}

index_facts journal::make_index(std::uint64_t interval, const interruption& interrupted) {
    if (interval < 100) throw argument_error(fmt::format("every={}: a snapshot needs at least 100 commands", interval));
    return state_->with(interrupted, [&](history::timeline& past) {
        const auto report = io::block_on(state_->context, history::make_index(&past, interval));
        if (!report) throw data_error(report.error().text);
        return index_facts{report->snapshots_written, past.index().indexed_count(), report->bytes_written,
                           report->last.value};
    });
}

}  // namespace corro::python
