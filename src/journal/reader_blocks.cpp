// SPDX-License-Identifier: Apache-2.0
// The reader within a segment: its blocks, and the conclusions from a missing one.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.hpp"
#include "journal/reader.hpp"

namespace corro::journal {

io::task<std::expected<std::span<const domain::command>, problem>> reader::next() {
    given_count_ = 0;
    while (!failed_ && !at_end_ && given_count_ == 0) {
        outcome done = co_await advance();
        if (!done) failed_ = std::move(done.error());
    }
    if (failed_) co_return std::unexpected(*failed_);
    preallocate_more();
    co_return std::span(reinterpret_cast<const domain::command*>(given_), given_count_);
}

/// Reads one block, or the bytes in its place.
io::task<reader::outcome> reader::advance() {
    if (end_.segments.empty()) {
        at_end_ = true;
        co_return outcome();
    }
    outcome done;
    if (file_ == nullptr) {
        done = co_await begin_segment();
        if (!done) co_return done;
    }
    const std::size_t header_bytes = block_header_bytes_in(current().header);
    answer enough = co_await load(header_bytes);
    if (!enough) co_return std::unexpected(std::move(enough.error()));
    if (!*enough) {
        done = co_await is_not_a_block("the file ends");
        co_return done;
    }
    const auto claimed = claimed_bytes(current().header, window().first(header_bytes));
    if (!claimed) {
        done = co_await is_not_a_block("no block begins");
        co_return done;
    }
    // The zeros after a block may be cut off; the block is complete without them.
    enough = co_await load(padded(*claimed));
    if (!enough) co_return std::unexpected(std::move(enough.error()));
    std::size_t size = 0;
    const auto header = block_in_window(&size);
    if (!header) {
        done = co_await is_not_a_block("the block is damaged");
        co_return done;
    }
    done = co_await after_block(*header, size);
    co_return done;
}

/// Takes a valid block from the window's beginning.
io::task<reader::outcome> reader::after_block(block_header header, std::size_t size) {
    const bool is_seal = header.is_seal;
    if (!is_last() && header.next_sequence() > end_.segments[current_ + 1].header.first_sequence) {
        co_return damage(journal_errc::sequence_gap,
                         fmt::format("it continues to sequence number {}, which the next segment "
                                     "has as well",
                                     header.next_sequence() - 1));
    }
    take(window().first(size), header);
    outcome done;
    if (!is_seal) co_return done;
    const auto used = co_await used_until(offset_);
    if (!used) co_return std::unexpected(used.error());
    if (*used != offset_) co_return damage(journal_errc::damaged, "there are bytes after the segment's end");
    end_.tail = tail_state::sealed;
    done = finish_segment();
    co_return done;
}

/// No valid block begins here. A segment whose writer did not close it ends like that. Whether it is the end follows
/// from the next segment, or, in the last segment, from the bytes behind this offset.
io::task<reader::outcome> reader::is_not_a_block(std::string found) {
    outcome done;
    if (!is_last()) {
        if (expected_ != end_.segments[current_ + 1].header.first_sequence) {
            co_return damage(journal_errc::damaged, std::move(found));
        }
        done = finish_segment();
        co_return done;
    }
    const std::uint64_t here = offset_;
    const auto used = co_await used_until(here);
    if (!used) co_return std::unexpected(used.error());
    if (*used != here) {
        const auto follows = co_await durable_block_follows();
        if (!follows) co_return std::unexpected(follows.error());
        if (*follows) {
            co_return damage(journal_errc::damaged, found + ", although a later block records it as durable");
        }
    }
    const bool is_cut = current().bytes < current().header.segment_bytes;
    end_.torn_bytes = *used - here;
    end_.tail = end_.torn_bytes != 0 || is_cut ? tail_state::torn : tail_state::open;
    done = finish_segment();
    co_return done;
}

/// Whether a later block records that the block missing here was durable.
io::task<reader::answer> reader::durable_block_follows() {
    const std::uint64_t here = offset_;
    answer found = false;
    for (std::uint64_t at = here + sector_bytes; !*found; at += sector_bytes) {
        seek(at);
        const std::size_t header_bytes = block_header_bytes_in(current().header);
        answer enough = co_await load(header_bytes);
        if (!enough) co_return enough;
        if (!*enough) break;
        const auto claimed = claimed_bytes(current().header, window().first(header_bytes));
        if (!claimed) continue;
        enough = co_await load(*claimed);
        if (!enough) co_return enough;
        if (!*enough) continue;
        const auto header = decode_block(current().header, window().first(*claimed));
        found = header && header->durable_sequence >= expected_;
    }
    seek(here);
    co_return found;
}

/// The offset behind the last byte from `from` on that is not zero; `from` if there is none. Leaves `offset_`
/// unchanged.
io::task<std::expected<std::uint64_t, problem>> reader::used_until(std::uint64_t from) {
    std::uint64_t used = from;
    for (;;) {
        const answer more = co_await load(1);
        if (!more) co_return std::unexpected(more.error());
        if (!*more) break;
        std::span<const std::byte> part = window();
        if (!all_zero(part)) {
            while (part.back() == std::byte{}) part = part.first(part.size() - 1);
            used = offset_ + part.size();
        }
        step(window().size());
    }
    seek(from);
    co_return used;
}

io::task<reader::outcome> reader::begin_segment() {
    const std::string path = path_of(current().header.number);
    auto file = co_await files_->open(path, io::file_mode::read);
    if (!file) {
        co_return std::unexpected(
            problem(file.error(), fmt::format("{}: cannot be opened: {}", path, file.error().message()), path));
    }
    file_ = std::move(*file);
    begin_ = filled_ = 0;
    // After `look_again` it continues behind the last block.
    if (offset_ != 0) co_return outcome();
    offset_ = segment_header_bytes;
    current().used_bytes = offset_;
    current().digest = 0;
    take_marks(current().header.marks);
    co_return outcome();
}

/// Reads until the window has at least `wanted` bytes. @return Whether the file has them.
io::task<reader::answer> reader::load(std::size_t wanted) {
    if (filled_ - begin_ >= wanted) co_return true;
    const std::uint64_t known_until = offset_ + (filled_ - begin_);
    if (known_until >= current().bytes) co_return false;
    const std::size_t missing = std::max(read_bytes_at_once, wanted - (filled_ - begin_));
    if (begin_ == filled_ || buffer_.size() - filled_ < missing) {
        std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
        filled_ -= begin_;
        begin_ = 0;
    }
    const std::size_t part =
        std::min<std::uint64_t>(std::min(buffer_.size() - filled_, missing), current().bytes - known_until);
    const io::io_result got = co_await file_->read_at(known_until, std::span(buffer_.data() + filled_, part));
    filled_ += got.bytes;
    if (got.error && got.error != io::condition::end_of_stream) {
        const std::string path = path_of(current().header.number);
        co_return std::unexpected(problem(
            got.error,
            fmt::format("{}: offset {}: cannot be read: {}", path, known_until + got.bytes, got.error.message()), path,
            known_until + got.bytes));
    }
    co_return filled_ - begin_ >= wanted;
}

/// The block at the window's beginning, if it is complete, valid and the next in sequence.
std::optional<block_header> reader::block_in_window(std::size_t* size) const noexcept {
    const std::span<const std::byte> here = window();
    const std::size_t header_bytes = block_header_bytes_in(current().header);
    if (here.size() < header_bytes) return {};
    const auto claimed = claimed_bytes(current().header, here.first(header_bytes));
    if (!claimed || here.size() < *claimed) return {};
    const auto header = decode_block(current().header, here.first(*claimed));
    if (!header || header->first_sequence != expected_) return {};
    const std::size_t whole = std::min<std::size_t>(padded(*claimed), here.size());
    if (!all_zero(here.subspan(*claimed, whole - *claimed))) return {};
    *size = *claimed;
    return header;
}

/// Takes the valid block at the window's beginning and moves behind it.
void reader::take(std::span<const std::byte> block, const block_header& header) noexcept {
    give(block, header);
    take_marks(header.marks);
    expected_ = header.next_sequence();
    segment_summary& here = current();
    here.digest = digest_after(here.digest, header);
    step(block.size());
    here.used_bytes = offset_;
}

void reader::take_marks(std::span<const std::uint64_t> marks) noexcept {
    for (const std::uint64_t mark : marks) {
        const std::uint32_t partition = unpack_mark(mark).partition;
        if (mark != 0 && partition < end_.marks.size()) end_.marks[partition] = mark;
    }
}

/// Appends the commands of a block to those for the caller, from the requested sequence number on.
void reader::give(std::span<const std::byte> block, const block_header& header) noexcept {
    const std::uint64_t skipped = std::min<std::uint64_t>(
        header.commands_count,
        options_.from_sequence > header.first_sequence ? options_.from_sequence - header.first_sequence : 0);
    const std::size_t count = header.commands_count - static_cast<std::uint32_t>(skipped);
    std::byte* const from = buffer_.data() + (block.data() - buffer_.data()) + header.bytes + skipped * command_bytes;
    if (count == 0) return;
    if (given_count_ == 0) {
        given_ = from;
    } else {
        std::memmove(given_ + given_count_ * command_bytes, from, count * command_bytes);
    }
    given_count_ += count;
}

/// Returns small blocks that have been read already together: at a low rate of orders each has only one command.
void reader::preallocate_more() noexcept {
    if (given_count_ == 0 || file_ == nullptr) return;
    for (;;) {
        std::size_t size = 0;
        const auto header = block_in_window(&size);
        // Special cases are left to the next call.
        if (!header || header->is_seal || window().size() < padded(size) ||
            given_count_ + header->commands_count > block_commands_max ||
            (!is_last() && header->next_sequence() > end_.segments[current_ + 1].header.first_sequence)) {
            return;
        }
        take(window().first(size), *header);
    }
}

/// Moves behind a block of `bytes` and its padding.
void reader::step(std::size_t bytes) noexcept {
    const std::size_t whole = std::min<std::size_t>(padded(bytes), filled_ - begin_);
    begin_ += whole;
    offset_ += whole;
}

/// Moves to another offset of the segment.
void reader::seek(std::uint64_t offset) noexcept {
    if (offset >= offset_ && offset - offset_ <= filled_ - begin_) {
        begin_ += offset - offset_;
    } else {
        begin_ = filled_ = 0;
    }
    offset_ = offset;
}

reader::outcome reader::finish_segment() {
    segment_summary& done = current();
    done.last_sequence = expected_ - 1;
    const std::uint64_t digest = done.digest;
    file_.reset();
    offset_ = 0;
    bytes_before_ += done.bytes;
    if (!is_last()) {
        ++current_;
        const segment_header& next = current().header;
        const std::string path = path_of(next.number);
        if (next.first_sequence == expected_ && next.version != 1 && next.previous_digest != digest) {
            return std::unexpected(problem(journal_errc::broken_chain,
                                           fmt::format("{}: offset 136: it does not follow the present {}; "
                                                       "one of them is from another copy of the journal",
                                                       path, path_of(next.number - 1)),
                                           path, 136));
        }
        if (next.first_sequence == expected_) return {};
        return std::unexpected(problem(journal_errc::sequence_gap,
                                       fmt::format("{}: offset 24: it begins with sequence number {}; expected {}",
                                                   path, next.first_sequence, expected_),
                                       path, 24));
    }
    end_.next_sequence = expected_;
    if (expected_ < options_.from_sequence) {
        return std::unexpected(
            problem(journal_errc::out_of_reach,
                    fmt::format("{}: the journal ends with sequence number {}; expected it to reach {}", directory_,
                                expected_ - 1, options_.from_sequence - 1),
                    directory_));
    }
    at_end_ = true;
    return {};
}

std::unexpected<problem> reader::damage(journal_errc code, std::string found) const {
    const std::string path = path_of(current().header.number);
    return std::unexpected(problem(code,
                                   fmt::format("{}: offset {}: {}; expected the block that begins with sequence "
                                               "number {}",
                                               path, offset_, found, expected_),
                                   path, offset_));
}

std::span<std::byte> reader::window() noexcept {
    return {buffer_.data() + begin_, filled_ - begin_};
}

std::span<const std::byte> reader::window() const noexcept {
    return const_cast<reader*>(this)->window();  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

}  // namespace corro::journal
