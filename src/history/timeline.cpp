// SPDX-License-Identifier: Apache-2.0
#include "history/timeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/byte_stream.hpp"

namespace corro::history {

timeline::timeline(journal::storage* files, std::string directory, venue_setup venue)
    : files_(files),
      directory_(std::move(directory)),
      who_(venue.who),
      facility_(venue.options, venue.instruments, *this),
      index_(files, directory_, who_) {}

io::task<std::expected<std::unique_ptr<timeline>, journal::problem>> timeline::open(journal::storage* files,
                                                                                    std::string directory,
                                                                                    venue_setup venue) {
    std::unique_ptr<timeline> made(new timeline(files, std::move(directory), std::move(venue)));
    outcome done = made->index_.look();
    // Checks the journal's owner now; its beginning is checked when it is read.
    if (done) done = co_await made->open_reader(0);
    if (done && made->reader_->segments().empty()) {
        done = std::unexpected(journal::problem(
            journal::journal_errc::foreign_file,
            fmt::format(
                "{}: there is no segment; is this the directory of a journal? A venue with partitions has one in "
                "each folder with a partition's name.",
                made->directory_),
            made->directory_));
    }
    made->reader_.reset();
    if (!done) co_return std::unexpected(std::move(done.error()));
    co_return made;
}

void timeline::consume(std::span<const domain::event> events) noexcept {
    if (heard_ != nullptr) heard_->consume(events);
}

io::task<timeline::outcome> timeline::open_reader(std::uint64_t from) {
    left_ = {};
    at_end_ = false;
    reader_.reset();
    journal::reader_options options;
    options.venue = who_;
    options.from_sequence = from;
    auto opened = co_await journal::reader::open(files_, directory_, options);
    if (!opened) co_return std::unexpected(std::move(opened.error()));
    reader_ = std::move(*opened);
    co_return outcome();
}

io::task<std::expected<bool, journal::problem>> timeline::load_nearest(std::size_t count, std::uint64_t behind) {
    for (std::size_t i = count; i > 0 && index_.sequences()[i - 1] > behind; --i) {
        const std::uint64_t sequence = index_.sequences()[i - 1];
        const auto bytes = co_await index_.read(sequence);
        if (!bytes) co_return std::unexpected(bytes.error());
        base::memory_source source(*bytes);
        if (bytes->empty() || facility_.load(source)) continue;
        if (facility_.position().sequence.value != sequence) continue;
        loaded_sequence_ = sequence;
        co_return true;
    }
    co_return false;
}

/// A snapshot has the time of its last command; the journal must have the same time, otherwise they do not belong
/// together.
io::task<timeline::outcome> timeline::check_snapshot() {
    const facility::snapshot_position here = facility_.position();
    outcome done = co_await open_reader(here.sequence.value);
    if (!done && done.error().code == journal::journal_errc::out_of_reach) {
        // The command itself may have been removed with its segment.
        done = co_await open_reader(here.sequence.value + 1);
        co_return done;
    }
    if (!done) co_return done;
    auto commands = co_await reader_->next();
    if (!commands) co_return std::unexpected(std::move(commands.error()));
    left_ = *commands;
    const bool agrees = !left_.empty() && left_.front().sequence == here.sequence && left_.front().time == here.time;
    if (!agrees) {
        co_return std::unexpected(journal::problem(
            journal::journal_errc::foreign_venue,
            fmt::format(
                "{0}: the index does not belong to this journal, because command {1} differs; remove {0}/history "
                "and make the index again",
                directory_, here.sequence.value),
            directory_));
    }
    left_ = left_.subspan(1);
    co_return done;
}

io::task<timeline::outcome> timeline::go_to(moment at) {
    const facility::snapshot_position here = facility_.position();
    executed_count_ = 0;
    loaded_sequence_ = 0;
    // Continuing from the present state may be less work than loading a snapshot.
    const bool may_continue_inline = here.sequence.value != 0 && at.includes(here.sequence, here.time);
    const std::size_t count = co_await index_.count_until(at);
    const auto loaded = co_await load_nearest(count, may_continue_inline ? here.sequence.value : 0);
    if (!loaded) co_return std::unexpected(loaded.error());
    outcome done;
    if (*loaded) {
        done = co_await check_snapshot();
    } else if (!may_continue_inline || facility_.position().sequence != here.sequence) {
        reader_.reset();
        facility_.clear();
    }
    if (done) done = co_await advance(at);
    if (!done) co_return done;
    const std::uint64_t last = facility_.position().sequence.value;
    if (!is_cut_ && !at.is_time && at != latest() && last < at.sequence.value) {
        co_return std::unexpected(
            journal::problem(journal::journal_errc::out_of_reach,
                             fmt::format("{}: the journal ends with sequence number {}; expected {}", directory_, last,
                                         at.sequence.value),
                             directory_));
    }
    co_return done;
}

io::task<timeline::outcome> timeline::advance(moment until, facility::event_consumer* heard,
                                              command_listener* commands) {
    outcome done;
    if (reader_ == nullptr) {
        done = co_await open_reader(facility_.position().sequence.value + 1);
        if (!done) co_return done;
    } else if (at_end_) {
        done = co_await reader_->look_again();
        if (!done) co_return done;
    }
    heard_ = heard;
    at_end_ = false;
    is_cut_ = false;
    std::uint64_t room = commands_max_;
    for (;;) {
        std::size_t executed = 0;
        while (executed < left_.size() && executed < room &&
               until.includes(left_[executed].sequence, left_[executed].time)) {
            if (commands != nullptr) commands->executing(left_[executed]);
            facility_.apply(left_[executed++]);
        }
        executed_count_ += executed;
        room -= executed;
        left_ = left_.subspan(executed);
        if (executed != 0 && listener_) {
            listener_({facility_.position().sequence, reader_->bytes_done(), reader_->bytes_total()});
        }
        if (!left_.empty()) {
            is_cut_ = until.includes(left_.front().sequence, left_.front().time);
            break;
        }
        auto read = co_await reader_->next();
        if (!read) {
            done = std::unexpected(std::move(read.error()));
            break;
        }
        left_ = *read;
        at_end_ = left_.empty();
        if (at_end_) break;
    }
    heard_ = nullptr;
    co_return done;
}

io::task<std::expected<index_report, journal::problem>> make_index(timeline* past, std::uint64_t interval) {
    index_report report;
    snapshot_index& index = past->index();
    std::uint64_t last = index.last_indexed();
    moment at{domain::sequence_number{last}};
    timeline::outcome done = co_await past->go_to(at);
    std::vector<std::byte> bytes;
    while (done && !past->at_end()) {
        const std::uint64_t here = past->state().position().sequence.value;
        at = moment{domain::sequence_number{(here / interval + 1) * interval}};
        done = co_await past->advance(at);
        if (!done || past->state().position().sequence != at.sequence) break;
        bytes.clear();
        base::memory_sink sink(bytes);
        static_cast<void>(past->state().save(sink));  // a memory sink cannot fail
        if (bytes.size() > (at.sequence.value - last) * sizeof(domain::command)) continue;
        last = at.sequence.value;
        journal::snapshot_header about;
        about.sequence = last;
        about.created_ns = past->state().position().time.value;
        about.state_hash = past->state().state_hash();
        done = co_await index.write(about, bytes);
        ++report.snapshots_written;
        report.bytes_written += bytes.size();
    }
    if (!done) co_return std::unexpected(std::move(done.error()));
    report.last = past->state().position().sequence;
    co_return report;
}

}  // namespace corro::history
