// SPDX-License-Identifier: Apache-2.0
#include "journal/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/assert.hpp"

namespace corro::journal {
reader::reader(storage* files, std::string directory, reader_options options)
    : files_(files),
      directory_(std::move(directory)),
      options_(std::move(options)),
      buffer_(read_buffer_bytes, base::page_touch::no) {}

io::task<std::expected<std::unique_ptr<reader>, problem>> reader::open(storage* files, std::string directory,
                                                                       reader_options options) {
    std::unique_ptr<reader> made(new reader(files, std::move(directory), std::move(options)));
    outcome done = co_await made->find_segments();
    if (done) done = made->check_neighbours();
    if (done) done = made->skip_segments();
    if (!done) co_return std::unexpected(std::move(done.error()));
    co_return made;
}

const journal_end& reader::end() const noexcept {
    CORRO_ASSERT(at_end_ && !failed_, "the end is known only when it was reached");
    return end_;
}

std::string reader::path_of(std::uint64_t number) const {
    return directory_ + "/" + segment_name(number);
}

io::task<reader::outcome> reader::find_segments() {
    const auto names = files_->list(directory_);
    if (!names)
        co_return std::unexpected(system_problem(names.error(), directory_, "the journal's directory cannot be read"));
    std::vector<std::uint64_t> numbers;
    for (const std::string& name : *names) {
        if (const auto number = segment_number(name)) numbers.push_back(*number);
    }
    std::ranges::sort(numbers);
    for (const std::uint64_t number : numbers) {
        outcome looked = co_await look_at(number);
        if (!looked) co_return looked;
    }
    co_return outcome();
}

io::task<reader::outcome> reader::look_at(std::uint64_t number) {
    const std::string path = path_of(number);
    auto file = co_await files_->open(path, io::file_mode::read);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened"));
    const auto size = (*file)->size();
    if (!size) co_return std::unexpected(system_problem(size.error(), path, "its size cannot be read"));
    std::array<std::byte, segment_header_bytes> bytes{};
    const io::io_result got = co_await (*file)->read_at(0, bytes);
    if (got.error == io::condition::end_of_stream) {
        co_return std::unexpected(
            problem(journal_errc::damaged,
                    fmt::format("{}: the file ends at offset {}; expected a segment header of {} bytes", path,
                                got.bytes, segment_header_bytes),
                    path, got.bytes));
    }
    if (!got) co_return std::unexpected(system_problem(got.error, path, "cannot be read"));
    const auto header = decode_segment_header(bytes);
    if (!header) {
        const std::error_code code = header.error();
        co_return std::unexpected(problem(
            code, fmt::format("{}: offset 0: {}; expected the header of segment {}", path, code.message(), number),
            path));
    }
    if (header->number != number) {
        co_return std::unexpected(problem(
            journal_errc::missing_segment,
            fmt::format("{}: offset 16: segment {}; expected segment {}", path, header->number, number), path, 16));
    }
    if (options_.venue && header->venue != *options_.venue) {
        co_return std::unexpected(problem(journal_errc::foreign_venue,
                                          fmt::format("{}: this journal belongs to {}; expected {}", path,
                                                      describe(header->venue), describe(*options_.venue)),
                                          path, 48));
    }
    segment_summary summary;
    summary.header = *header;
    summary.bytes = *size;
    end_.segments.push_back(std::move(summary));
    bytes_total_ += *size;
    co_return outcome();
}

reader::outcome reader::check_neighbours() const {
    for (std::size_t i = 1; i < end_.segments.size(); ++i) {
        const segment_header& a = end_.segments[i - 1].header;
        const segment_header& b = end_.segments[i].header;
        const std::string path = path_of(b.number);
        if (b.number != a.number + 1) {
            const std::string missing = path_of(a.number + 1);
            return std::unexpected(problem(
                journal_errc::missing_segment,
                fmt::format("{}: the segment is missing; {} follows segment {}", missing, path, a.number), missing));
        }
        if (b.first_sequence < a.first_sequence) {
            return std::unexpected(
                problem(journal_errc::sequence_gap,
                        fmt::format("{}: offset 24: it begins with sequence number {}; expected {} or a later one",
                                    path, b.first_sequence, a.first_sequence),
                        path, 24));
        }
        if (b.epoch < a.epoch) {
            return std::unexpected(problem(
                journal_errc::stale_epoch,
                fmt::format("{}: offset 32: epoch {}; expected {} or a later one", path, b.epoch, a.epoch), path, 32));
        }
        if (b.version != 1 && b.previous_checksum != a.checksum) {
            return std::unexpected(problem(journal_errc::broken_chain,
                                           fmt::format("{}: offset 128: it does not follow {}; one of them is "
                                                       "from another copy of the journal",
                                                       path, path_of(a.number)),
                                           path, 128));
        }
        if (b.venue != a.venue || (a.version != 1 && b.birth != a.birth)) {
            return std::unexpected(problem(journal_errc::foreign_venue,
                                           fmt::format("{}: it belongs to {}; the segment before it to {}", path,
                                                       describe(b.venue), describe(a.venue)),
                                           path, 48));
        }
    }
    return {};
}

reader::outcome reader::skip_segments() {
    std::vector<segment_summary>& all = end_.segments;
    if (all.empty()) {
        if (options_.from_sequence <= 1) return {};
        return std::unexpected(problem(
            journal_errc::out_of_reach,
            fmt::format("{}: there is no segment; expected sequence number {}", directory_, options_.from_sequence),
            directory_));
    }
    if (options_.from_sequence == 0) options_.from_sequence = all.front().header.first_sequence;
    if (options_.from_sequence < all.front().header.first_sequence) {
        return std::unexpected(problem(
            journal_errc::out_of_reach,
            fmt::format("{}: the journal begins with sequence number {}; expected {}. Earlier segments have been "
                        "removed, so the start needs a snapshot",
                        directory_, all.front().header.first_sequence, options_.from_sequence),
            directory_));
    }
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
        all[i].last_sequence = all[i + 1].header.first_sequence - 1;
        if (all[i + 1].header.first_sequence <= options_.from_sequence) {
            bytes_before_ += all[i].bytes;
            current_ = i + 1;
        }
    }
    expected_ = all[current_].header.first_sequence;
    return {};
}

io::task<std::expected<void, problem>> reader::look_again() {
    if (failed_) co_return std::unexpected(*failed_);
    // Bytes behind the last block may have been read before they were written.
    begin_ = filled_ = 0;
    given_count_ = 0;
    if (!at_end_) co_return outcome();
    CORRO_ASSERT(!end_.segments.empty(), "a journal that is being written has a segment");
    at_end_ = false;
    bytes_before_ -= current().bytes;
    offset_ = current().used_bytes;
    if (end_.tail != tail_state::sealed) co_return outcome();
    outcome done = co_await look_at(current().header.number + 1);
    // A journal that was closed has nothing behind its seal until it is opened again.
    const bool is_closed = !done && done.error().code == std::errc::no_such_file_or_directory;
    if (done) done = check_neighbours();
    if (done || is_closed) done = finish_segment();
    if (!done) failed_ = done.error();
    co_return done;
}

}  // namespace corro::journal
