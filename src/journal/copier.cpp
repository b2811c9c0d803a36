// SPDX-License-Identifier: Apache-2.0
#include "journal/copier.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"

namespace corro::journal {
namespace {

/// More than the size of the longest small file.
constexpr std::uint64_t small_file_bytes_max = std::uint64_t{16} << 20;

bool is_gone(std::error_code error) noexcept {
    return error == std::errc::no_such_file_or_directory;
}

}  // namespace

copier::copier(storage* from, std::string directory, storage* to, std::string copy)
    : from_(from),
      to_(to),
      directory_(std::move(directory)),
      copy_(std::move(copy)),
      buffer_(read_buffer_bytes, base::page_touch::no) {}

const segment_header& copier::header() const noexcept {
    CORRO_ASSERT(has_segments());
    return copied_.back().header;
}

std::uint64_t copier::first_sequence() const noexcept {
    CORRO_ASSERT(has_segments());
    return copied_.front().header.first_sequence;
}

std::uint64_t copier::last_sequence() const noexcept {
    CORRO_ASSERT(has_segments());
    return copied_.back().next_sequence - 1;
}

std::expected<std::vector<std::uint64_t>, problem> copier::numbers() const {
    const auto names = from_->list(directory_);
    if (!names)
        return std::unexpected(system_problem(names.error(), directory_, "the journal's directory cannot be read"));
    std::vector<std::uint64_t> found;
    for (const std::string& name : *names) {
        if (const auto number = segment_number(name)) found.push_back(*number);
    }
    std::ranges::sort(found);
    return found;
}

io::task<copier::outcome> copier::catch_up() {
    outcome done;
    if (!has_begun_) done = co_await begin();
    while (done) {
        if (source_ == nullptr) {
            const answer opened = co_await open_next();
            if (!opened) co_return std::unexpected(opened.error());
            if (!*opened) co_return done;
        }
        done = co_await copy_blocks();
        if (!done) co_return done;
        if (copied_.back().is_sealed) {
            done = co_await finish_segment();
            continue;
        }
        const auto there = numbers();
        if (!there) co_return std::unexpected(there.error());
        if (!there->empty() && there->back() > copied_.back().header.number) {
            // This segment was complete before the next one got its name.
            done = co_await copy_blocks();
            if (done) done = co_await finish_segment();
            continue;
        }
        const std::uint64_t before = copied_.back().end;
        const answer follows = co_await durable_block_follows();
        if (!follows) co_return std::unexpected(follows.error());
        if (!*follows) co_return done;
        // A later block exists, so this offset was written before it was read: its bytes are final.
        done = co_await copy_blocks();
        if (done && copied_.back().end == before && !copied_.back().is_sealed) {
            const std::string path = path_of(copied_.back().header.number);
            co_return std::unexpected(
                problem(journal_errc::damaged,
                        fmt::format("{}: offset {}: no complete block, although a later block records it as durable; "
                                    "expected the block that begins with sequence number {}",
                                    path, before, copied_.back().next_sequence),
                        path, before));
        }
    }
    co_return done;
}

/// Reads the manifest before any segment: the venue can only add segments later.
io::task<copier::outcome> copier::begin() {
    has_begun_ = true;
    const auto found = co_await read_manifest(from_, directory_);
    if (!found) co_return std::unexpected(found.error());
    manifest_ = *found;
    co_return outcome();
}

/// Begins the segment after the last one. False when there is none yet.
io::task<copier::answer> copier::open_next() {
    for (;;) {
        const auto there = numbers();
        if (!there) co_return std::unexpected(there.error());
        const std::uint64_t last = copied_.empty() ? 0 : copied_.back().header.number;
        const auto next = std::ranges::upper_bound(*there, last);
        if (next == there->end()) co_return answer(false);
        if (last != 0 && *next != last + 1) {
            // The venue records the removal of segments before it removes them.
            const auto now = co_await read_manifest(from_, directory_);
            if (!now) co_return std::unexpected(now.error());
            if (!*now || (*now)->oldest_segment <= last + 1) {
                const std::string missing = path_of(last + 1);
                co_return std::unexpected(problem(journal_errc::missing_segment,
                                                  fmt::format("{}: the segment is missing", missing), missing));
            }
            const outcome forgotten = co_await forget_all();
            if (!forgotten) co_return std::unexpected(forgotten.error());
        }
        const answer begun = co_await begin_segment(*next);
        // It may have been removed since it was listed.
        if (!begun || *begun) co_return begun;
    }
}

/// The venue has removed segments between the copied ones and the existing ones.
io::task<copier::outcome> copier::forget_all() {
    for (const copied_segment& each : copied_) {
        const std::string path = copy_of(each.header.number);
        const std::error_code error = co_await to_->remove(path);
        if (error) co_return std::unexpected(system_problem(error, path, "cannot be removed"));
    }
    copied_.clear();
    settled_marks_ = {};
    places_.clear();
    marks_.clear();
    co_return outcome();
}

io::task<copier::answer> copier::begin_segment(std::uint64_t number) {
    const std::string path = path_of(number);
    auto file = co_await from_->open(path, io::file_mode::read);
    if (!file && is_gone(file.error())) co_return answer(false);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened"));
    std::vector<std::byte> bytes(segment_header_bytes);
    const io::io_result got = co_await (*file)->read_at(0, bytes);
    if (!got && got.error != io::condition::end_of_stream)
        co_return std::unexpected(system_problem(got.error, path, "cannot be read"));
    const auto header = decode_segment_header(bytes);
    if (!header) {
        const std::error_code code = header.error();
        co_return std::unexpected(problem(
            code, fmt::format("{}: offset 0: {}; expected the header of segment {}", path, code.message(), number),
            path));
    }
    outcome done = check_chain(*header);
    if (done && header->number != number) {
        done = std::unexpected(problem(
            journal_errc::missing_segment,
            fmt::format("{}: offset 16: segment {}; expected segment {}", path, header->number, number), path, 16));
    }
    if (done && header->version != 1 && !manifest_) {
        done = std::unexpected(problem(journal_errc::missing_manifest,
                                       fmt::format("{}: the manifest is missing or damaged", directory_), directory_));
    }
    if (done) done = co_await make_target(*header, std::move(bytes));
    if (!done) co_return std::unexpected(std::move(done.error()));
    source_ = std::move(*file);
    co_return answer(true);
}

io::task<copier::outcome> copier::make_target(segment_header header, std::vector<std::byte> bytes) {
    const std::string path = copy_of(header.number);
    auto file = co_await to_->open(path, io::file_mode::create_new);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be made"));
    const io::io_result written = co_await (*file)->write_at(0, bytes);
    if (!written) co_return std::unexpected(system_problem(written.error, path, "cannot be written"));
    place here;
    here.number = header.number;
    here.next_sequence = header.first_sequence;
    note(here, header.marks);
    copied_segment made;
    made.header = header;
    made.next_sequence = header.first_sequence;
    copied_.push_back(made);
    newest_made_ = header.number;
    bytes_copied_ += bytes.size();
    target_ = std::move(*file);
    co_return outcome();
}

/// Whether the segment follows the last one.
copier::outcome copier::check_chain(const segment_header& next) const {
    if (copied_.empty()) return {};
    const copied_segment& last = copied_.back();
    const std::string path = path_of(next.number);
    if (next.first_sequence != last.next_sequence) {
        return std::unexpected(problem(journal_errc::sequence_gap,
                                       fmt::format("{}: offset 24: it begins with sequence number {}; expected {}",
                                                   path, next.first_sequence, last.next_sequence),
                                       path, 24));
    }
    const bool is_behind =
        next.version == 1 || (next.previous_checksum == last.header.checksum && next.previous_digest == last.digest);
    if (!is_behind) {
        return std::unexpected(problem(journal_errc::broken_chain,
                                       fmt::format("{}: it does not follow {}; one of them is from another copy "
                                                   "of the journal",
                                                   path, path_of(last.header.number)),
                                       path, 128));
    }
    if (next.venue != last.header.venue || (last.header.version != 1 && next.birth != last.header.birth)) {
        return std::unexpected(problem(journal_errc::foreign_venue,
                                       fmt::format("{}: it belongs to {}; the segment before it to {}", path,
                                                   describe(next.venue), describe(last.header.venue)),
                                       path, 48));
    }
    return {};
}

/// Copies complete blocks, up to the seal or to the first offset without a block.
io::task<copier::outcome> copier::copy_blocks() {
    for (;;) {
        const std::uint64_t offset = copied_.back().end;
        const std::span<std::byte> window(buffer_.data(), buffer_.size());
        const io::io_result got = co_await source_->read_at(offset, window);
        if (!got && got.error != io::condition::end_of_stream) {
            co_return std::unexpected(
                system_problem(got.error, path_of(copied_.back().header.number), "cannot be read"));
        }
        std::size_t available = got.bytes;
        if (!got) {
            // The zeros after the last block of a file may be cut off.
            available = std::min<std::size_t>(padded(got.bytes), window.size());
            std::memset(window.data() + got.bytes, 0, available - got.bytes);
        }
        const std::size_t taken = take_blocks(available);
        if (taken == 0) co_return outcome();
        const io::io_result written = co_await target_->write_at(offset, window.first(taken));
        if (!written) {
            co_return std::unexpected(
                system_problem(written.error, copy_of(copied_.back().header.number), "cannot be written"));
        }
        bytes_copied_ += taken;
        if (on_progress_) on_progress_();
        if (copied_.back().is_sealed) co_return outcome();
    }
}

/// Records the complete blocks at the buffer's beginning. @return Their bytes.
std::size_t copier::take_blocks(std::size_t available) {
    copied_segment& here = copied_.back();
    std::size_t at = 0;
    while (!here.is_sealed) {
        std::size_t size = 0;
        const auto block = block_at({buffer_.data() + at, available - at}, &size);
        if (!block) break;
        place where;
        where.number = here.header.number;
        where.offset = here.end;
        where.next_sequence = here.next_sequence;
        note(where, block->marks);
        here.digest = digest_after(here.digest, *block);
        here.next_sequence = block->next_sequence();
        here.end += size;
        here.is_sealed = block->is_seal;
        at += size;
    }
    return at;
}

/// The block at the beginning of `here`, if it is complete, valid and the next in sequence. @param size Its size with
///                                                                                          padding.
std::optional<block_header> copier::block_at(std::span<const std::byte> here, std::size_t* size) const {
    const copied_segment& segment = copied_.back();
    const std::size_t header_bytes = block_header_bytes_in(segment.header);
    if (here.size() < header_bytes) return std::nullopt;
    const auto claimed = claimed_bytes(segment.header, here.first(header_bytes));
    if (!claimed || here.size() < padded(*claimed)) return std::nullopt;
    const auto block = decode_block(segment.header, here.first(*claimed));
    if (!block || block->first_sequence != segment.next_sequence) return std::nullopt;
    if (!all_zero(here.subspan(*claimed, padded(*claimed) - *claimed))) return std::nullopt;
    *size = padded(*claimed);
    return block;
}

/// Whether a later block records that the block missing here was durable.
io::task<copier::answer> copier::durable_block_follows() {
    const copied_segment& segment = copied_.back();
    const std::size_t header_bytes = block_header_bytes_in(segment.header);
    for (std::uint64_t at = segment.end + sector_bytes;;) {
        const std::span<std::byte> window(buffer_.data(), buffer_.size());
        const io::io_result got = co_await source_->read_at(at, window);
        if (!got && got.error != io::condition::end_of_stream) {
            co_return std::unexpected(system_problem(got.error, path_of(segment.header.number), "cannot be read"));
        }
        const std::span<const std::byte> there = window.first(got.bytes);
        std::size_t next = 0;
        for (; next + header_bytes <= there.size(); next += sector_bytes) {
            const auto claimed = claimed_bytes(segment.header, there.subspan(next, header_bytes));
            if (!claimed) continue;
            if (next + *claimed > there.size() && got.ok() && next != 0) break;  // from the window's beginning
            if (next + *claimed > there.size()) continue;
            const auto block = decode_block(segment.header, there.subspan(next, *claimed));
            if (block && block->durable_sequence >= segment.next_sequence) co_return answer(true);
        }
        if (!got || next == 0) co_return answer(false);
        at += next;
    }
}

/// Finishes the segment: the venue writes no more to it.
io::task<copier::outcome> copier::finish_segment() {
    const std::error_code error = co_await target_->sync_data();
    if (error)
        co_return std::unexpected(system_problem(error, copy_of(copied_.back().header.number), "cannot be written"));
    target_.reset();
    source_.reset();
    co_return outcome();
}

void copier::note(const place& where, std::span<const std::uint64_t> marks) {
    const std::size_t begin = marks_.size();
    for (const std::uint64_t packed : marks) {
        const partition_mark mark = unpack_mark(packed);
        if (mark.sequence == 0 || mark.partition >= partitions_max) continue;
        if (is_cuttable_) {
            marks_.push_back(mark);
        } else {
            settled_marks_[mark.partition] = std::max(settled_marks_[mark.partition], mark.sequence);
        }
    }
    if (!is_cuttable_) return;
    place kept = where;
    kept.marks_begin = begin;
    kept.marks_count = marks_.size() - begin;
    places_.push_back(kept);
}

bool copier::cut(std::span<const std::uint64_t> last_sequences) {
    const auto exceeds = [last_sequences](const partition_mark& mark) {
        return mark.partition < last_sequences.size() && mark.sequence > last_sequences[mark.partition];
    };
    const auto at = std::ranges::find_if(places_, [&](const place& each) {
        return std::ranges::any_of(std::span(marks_).subspan(each.marks_begin, each.marks_count), exceeds);
    });
    if (at == places_.end()) return false;
    const place where = *at;
    places_.erase(at, places_.end());
    marks_.resize(where.marks_begin);
    while (copied_.back().header.number > where.number) copied_.pop_back();
    if (where.offset == 0) {
        copied_.pop_back();
        CORRO_ASSERT(has_segments(), "blocks before the moment must stay");
        return true;
    }
    copied_.back().end = where.offset;
    copied_.back().next_sequence = where.next_sequence;
    copied_.back().is_sealed = false;
    return true;
}

copier::outcome copier::check_settled(std::span<const std::uint64_t> last_sequences) const {
    std::array<std::uint64_t, partitions_max> marks = settled_marks_;
    for (const partition_mark& mark : marks_) marks[mark.partition] = std::max(marks[mark.partition], mark.sequence);
    for (std::uint32_t partition = 0; partition < marks.size(); ++partition) {
        const std::uint64_t last = partition < last_sequences.size() ? last_sequences[partition] : 0;
        if (marks[partition] <= last) continue;
        const std::string text =
            partition < last_sequences.size()
                ? fmt::format(
                      "{}: it records that the journal of partition {} of the venue had reached {}, but that "
                      "journal ends with sequence number {}",
                      directory_, partition + 1, marks[partition], last)
                : fmt::format("{}: the journal of one partition of a venue that has several; copy all of them together",
                              directory_);
        return std::unexpected(problem(journal_errc::different_moments, text, directory_));
    }
    return {};
}

io::task<copier::outcome> copier::finish(std::span<const std::uint64_t> last_sequences) {
    CORRO_ASSERT(has_segments());
    outcome done = check_settled(last_sequences);
    if (!done) co_return done;
    if (target_ != nullptr) done = co_await finish_segment();
    for (std::uint64_t number = newest_made_; done && number > header().number; --number) {
        const std::error_code error = co_await to_->remove(copy_of(number));
        if (error) done = std::unexpected(system_problem(error, copy_of(number), "cannot be removed"));
    }
    if (done && !copied_.back().is_sealed) done = co_await seal(last_sequences);
    if (done) done = co_await write_copys_manifest();
    if (!done) co_return done;
    const std::error_code error = co_await to_->sync_directory(copy_);
    if (error) co_return std::unexpected(system_problem(error, copy_, "cannot be written"));
    co_return outcome();
}

/// Writes the seal of the copy, with the ends of the other copies.
io::task<copier::outcome> copier::seal(std::span<const std::uint64_t> last_sequences) {
    copied_segment& last = copied_.back();
    const std::string path = copy_of(last.header.number);
    auto file = co_await to_->open(path, io::file_mode::write);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened"));
    std::array<std::uint64_t, block_marks_max> marks{};
    std::size_t count = 0;
    for (std::uint32_t partition = 0; partition < last_sequences.size() && count < marks.size(); ++partition) {
        if (partition == last.header.venue.partition || last_sequences[partition] == 0) continue;
        partition_mark mark;
        mark.partition = partition;
        mark.sequence = last_sequences[partition];
        marks[count++] = pack(mark);
    }
    std::array<std::byte, block_header_bytes> bytes{};
    const std::size_t size = block_header_bytes_in(last.header);
    encode_seal(last.header, last.next_sequence, last.next_sequence - 1, std::span(bytes).first(size),
                std::span(marks).first(count));
    std::error_code error = co_await (*file)->truncate(last.end);
    if (!error) error = co_await (*file)->truncate(last.end + padded(size));
    if (!error) {
        const io::io_result written = co_await (*file)->write_at(last.end, std::span(bytes).first(size));
        error = written.error;
    }
    if (!error) error = co_await (*file)->sync_data();
    if (error) co_return std::unexpected(system_problem(error, path, "cannot be written"));
    last.end += padded(size);
    last.is_sealed = true;
    co_return outcome();
}

io::task<copier::outcome> copier::write_copys_manifest() {
    if (!manifest_) co_return outcome();  // of version 1
    const copied_segment& last = copied_.back();
    if (last.header.number < manifest_->newest_segment || last.next_sequence < manifest_->next_sequence) {
        co_return std::unexpected(
            problem(journal_errc::missing_end,
                    fmt::format("{}: the journal ends with sequence number {} in segment {}; it had reached {} and "
                                "segment {}",
                                directory_, last.next_sequence - 1, last.header.number, manifest_->next_sequence - 1,
                                manifest_->newest_segment),
                    directory_));
    }
    const auto now = co_await read_manifest(from_, directory_);
    if (!now) co_return std::unexpected(now.error());
    const std::uint64_t first = copied_.front().header.number;
    manifest made;
    made.newest_segment = last.header.number;
    made.newest_checksum = last.header.checksum;
    made.is_closed = true;
    // Segments that were missing before are still missing.
    made.oldest_segment = std::min(first, *now ? (*now)->oldest_segment : manifest_->oldest_segment);
    made.next_sequence = last.next_sequence;
    made.epoch = last.header.epoch;
    made.venue = last.header.venue;
    made.birth = last.header.version == 1 ? manifest_->birth : last.header.birth;
    outcome done = co_await write_manifest(to_, copy_, &made);
    co_return done;
}

io::task<std::expected<bool, problem>> copier::copy_file(std::string_view name) {
    const std::string path = fmt::format("{}/{}", directory_, name);
    auto file = co_await from_->open(path, io::file_mode::read);
    if (!file && is_gone(file.error())) co_return answer(false);
    if (!file) co_return std::unexpected(system_problem(file.error(), path, "cannot be opened"));
    const auto size = (*file)->size();
    if (!size) co_return std::unexpected(system_problem(size.error(), path, "its size cannot be read"));
    if (*size > small_file_bytes_max) {
        co_return std::unexpected(
            system_problem(std::make_error_code(std::errc::file_too_large), path, "cannot be copied"));
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(*size));
    const io::io_result got = co_await (*file)->read_at(0, bytes);
    if (!got) co_return std::unexpected(system_problem(got.error, path, "cannot be read"));
    const std::string copy = fmt::format("{}/{}", copy_, name);
    auto into = co_await to_->open(copy, io::file_mode::create_new);
    std::error_code error = into ? std::error_code() : into.error();
    if (!error) {
        const io::io_result written = co_await (*into)->write_at(0, bytes);
        error = written.error;
    }
    if (!error) error = co_await (*into)->sync_data();
    if (error) co_return std::unexpected(system_problem(error, copy, "cannot be written"));
    co_return answer(true);
}

}  // namespace corro::journal
