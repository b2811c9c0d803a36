// SPDX-License-Identifier: Apache-2.0
// Suite `api`: what the first pictures of a journal of ten million commands take, and its books at any moment.
//
// The commands are those of the suite `venue`. The journal has an index as `corro journal index` makes it. The
// questions are those of the dashboard, asked of the reader that answers them, without HTTP.

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/frame_writer.hpp"
#include "api/history_query.hpp"
#include "api/history_reader.hpp"
#include "base/random.hpp"
#include "base/test_folder.hpp"
#include "history/timeline.hpp"
#include "io/loop/context.hpp"
#include "io/task/block_on.hpp"
#include "lab/suites/venue_suite.hpp"
#include "node/venue/venue.hpp"

namespace corro::lab {
namespace {

constexpr std::uint64_t commands_count_full = 10'000'000;
/// A run that is to measure for a shorter time has fewer commands in proportion.
constexpr double seconds_full = 0.3;
/// Of a minute, if the commands are those of a day of six and a half hours.
constexpr std::uint64_t commands_of_minute_full = commands_count_full / 390;
constexpr int first_screens_count = 5;
constexpr int books_count = 50;
constexpr std::size_t pictures_max = 100;

api::history_source source_of(const node::configuration& c) {
    api::history_source s;
    s.directory = c.journal_directory;
    s.venue.options = node::facility_options_of(c, io::default_platform());
    s.venue.options.touch = base::page_touch::no;
    s.venue.instruments = c.instruments;
    s.venue.who = journal::identity(c.venue_name, journal::fingerprint_of(c.instruments), c.partition_index);
    return s;
}

/// As `corro journal index`. @param hash  Of the state at the journal's end. @return Snapshots of the index.
std::size_t make_index(io::context& on, journal::storage* files, const api::history_source& from, std::uint64_t hash) {
    auto past = io::block_on(on, history::timeline::open(files, from.directory, from.venue));
    verify(past.has_value(), "the journal can be opened");
    const auto made = io::block_on(on, history::make_index(past->get(), history::index_interval_default));
    verify(made.has_value(), "the index can be written");
    verify_equal((*past)->state().state_hash(), hash, "the hash of the state at the journal's end");
    return (*past)->index().indexed_count();
}

struct asked_past {
    api::history_answer answer;
    double taken_ns = 0;
};

/// Asks, as the dashboard does for the first instrument.
asked_past ask(io::context& on, api::history_reader& past, const std::string& instrument, std::string_view table,
               const std::string& query) {
    const auto asked = api::parse_history_query(table, "instrument=" + instrument + query, "");
    verify(asked.has_value(), "the question is sound");
    const std::uint64_t before = clock().now_ticks();
    auto answer = io::block_on(on, past.answer(&*asked));
    asked_past got;
    got.taken_ns = static_cast<double>(clock().between_ns(before, clock().now_ticks()));
    verify(answer.has_value(), "the past has an answer");
    got.answer = std::move(*answer);
    return got;
}

double number_at(const std::string& frame, std::size_t index) {
    double value = 0;
    verify(frame.size() >= (index + 1) * sizeof value, "the frame is whole");
    std::memcpy(&value, frame.data() + index * sizeof value, sizeof value);
    return value;
}

double median_of(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

measurement run_history(const run_parameters& how) {
    const double part = std::min(how.seconds / seconds_full, 1.0);
    const auto count = static_cast<std::uint64_t>(part * commands_count_full);
    const auto of_minute = static_cast<std::uint64_t>(part * commands_of_minute_full);
    const base::test_folder folder;
    node::configuration c = venue_configuration();
    c.journal_directory = folder.path();
    c.durability = journal::durability::none;
    const std::uint64_t hash = write_journal(c, count);
    io::context on;
    const std::unique_ptr<journal::storage> files = on.runs_on().make_storage(on, nullptr);
    const api::history_source source = source_of(c);
    const std::size_t snapshots_count = make_index(on, files.get(), source, hash);
    const std::string instrument(c.instruments.front().name.view());

    // Each first screen is the first question to a reader.
    std::vector<double> minutes;
    for (int k = 0; k < first_screens_count; ++k) {
        api::history_reader past(files.get(), source);
        const asked_past minute =
            ask(on, past, instrument, "columns", "&column=100&from=" + std::to_string(count - of_minute));
        verify_equal(minute.answer.sequence, count, "the last command of the first screen");
        minutes.push_back(minute.taken_ns);
        // Its first column is the book at its begin.
        const asked_past book =
            ask(on, past, instrument, "book", "&format=csv&depth=10000&at=" + std::to_string(count - of_minute));
        const double levels = number_at(minute.answer.body, api::frame_layout::head_count + 8) +
                              number_at(minute.answer.body, api::frame_layout::head_count + 9);
        verify_equal(static_cast<std::uint64_t>(levels) + 1,
                     static_cast<std::uint64_t>(std::ranges::count(book.answer.body, '\n')), "lines of the book");
    }
    api::history_reader past(files.get(), source);
    const asked_past day = ask(on, past, instrument, "columns", "&pictures=" + std::to_string(pictures_max));
    const auto pictures = static_cast<std::uint64_t>(number_at(day.answer.body, api::frame_layout::columns_count_at));
    verify_equal(pictures, std::min(pictures_max, snapshots_count), "pictures of the day");

    std::vector<double> books;
    base::prng random(7);
    for (int k = 0; k < books_count; ++k) {
        const std::uint64_t at = 1 + random.below(count);
        const asked_past book = ask(on, past, instrument, "book", "&at=" + std::to_string(at));
        verify_equal(book.answer.sequence, at, "the moment of the book");
        books.push_back(book.taken_ns);
    }
    measurement made;
    made.values = {median_of(minutes), day.taken_ns, median_of(books), *std::ranges::max_element(books)};
    return made;
}

}  // namespace

void declare_api_history(registry& into) {
    into.declare("api",
                 {{"history_first_screen", "ns", better::lower,
                   "the heatmap of the last minute of a journal of ten million commands, if they are those of a day of "
                   "six and a half hours, as the first question to a reader; from fewer commands in proportion when "
                   "the run is to be shorter than 0.3 s"},
                  {"history_whole_day", "ns", better::lower, "a hundred pictures, spread over the whole journal"},
                  {"history_book_p50", "ns", better::lower, "the book at any moment of it: the median of fifty"},
                  {"history_book_max", "ns", better::lower, "the same: the longest"}},
                 1, 1, 1);
}

void implement_api_history(registry& into) {
    into.implement("api", "history_first_screen", "corro_epoll", &run_history);
}

}  // namespace corro::lab
