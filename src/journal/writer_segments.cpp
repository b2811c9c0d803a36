// The writer's segments: room for them ahead of need, the step from one to the next, and the removal of old ones.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "base/assert.hpp"
#include "io/context.hpp"
#include "io/timer.hpp"
#include "journal/writer.hpp"

namespace corro::journal {
namespace {

bool means_full(std::error_code error) noexcept {
    return error == std::errc::no_space_on_device || error == std::error_code(EDQUOT, std::generic_category()) ||
           error == journal_errc::disk_full;
}

/// The process has too many files open: some connection will end, and nothing has been written or synced.
bool means_later(std::error_code error) noexcept {
    return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
}

problem system_said(std::error_code error, const std::string& path, const char* what) {
    return {error, fmt::format("{}: {}: {}", path, what, error.message()), path};
}

}  // namespace

io::task<std::expected<std::unique_ptr<writer>, problem>> writer::open(directory_lock lock, journal_end end,
                                                                       writer_options options) {
    const std::uint64_t last_epoch = end.segments.empty() ? 0 : end.segments.back().header.epoch;
    if (options.epoch == 0) options.epoch = last_epoch + 1;
    if (options.epoch <= last_epoch) {
        co_return std::unexpected(problem(journal_errc::stale_epoch,
                                          fmt::format("{}: epoch {} has written here; epoch {} may not any more",
                                                      lock.path(), last_epoch, options.epoch),
                                          lock.path()));
    }
    std::unique_ptr<writer> made(new writer(std::move(lock), std::move(end), std::move(options)));
    outcome done = co_await made->tidy_up();
    // Only now: what was there may have been written and not synced.
    if (done && made->options_.shards != nullptr) {
        made->options_.shards->note(made->options_.venue.shard, made->synced_sequence_);
    }
    if (done) done = co_await made->make_spare();
    if (done) done = co_await made->begin_segment();
    if (done) {
        // The second one is a comfort: without it the journal runs, and soon says that room is short.
        done = co_await made->make_spare();
        if (!done && (means_full(done.error().code) || means_later(done.error().code))) done = outcome();
    }
    if (!done) co_return std::unexpected(std::move(done.error()));
    co_return made;
}

/// Gives back what the last writer held when it went away: the room behind its last block, and its spare. Makes sure
/// that the last segment is on the disk: its writer may have been killed between a write and its sync, and what the
/// reader found there is the ground on which everything from now on stands.
io::task<writer::outcome> writer::tidy_up() {
    std::error_code error = co_await files_->remove(path_of(spare_name));
    if (error && error != std::errc::no_such_file_or_directory) {
        co_return std::unexpected(system_said(error, path_of(spare_name), "cannot be removed"));
    }
    if (segments_.empty()) co_return outcome();
    segment_summary& last = segments_.back();
    const std::string path = path_of(segment_name(last.header.number));
    auto file = co_await files_->open(path, io::file_mode::write);
    error = file ? std::error_code() : file.error();
    if (!error && last.used_bytes < last.bytes) error = co_await (*file)->truncate(last.used_bytes);
    if (!error) error = co_await (*file)->sync_data();
    if (error) co_return std::unexpected(system_said(error, path, "cannot be cut off behind its last command"));
    last.bytes = std::min(last.bytes, last.used_bytes);
    co_return outcome();
}

/// Room for a segment, on the disk.
io::task<writer::outcome> writer::make_spare() {
    const std::string path = path_of(spare_name);
    auto file = co_await files_->open(path, io::file_mode::overwrite);
    std::error_code error = file ? std::error_code() : file.error();
    if (!error) error = co_await (*file)->preallocate(options_.segment_bytes);
    if (!error) error = co_await (*file)->sync_data();
    disk_is_full_ = means_full(error);
    if (disk_is_full_) {
        // A part of the room may have been given; nobody has any use for it.
        if (file) file->reset();
        error = co_await files_->remove(path);
        co_return std::unexpected(
            problem(journal_errc::disk_full,
                    fmt::format("{}: the disk has no room for a segment of {} bytes; make room, the journal goes on by "
                                "itself",
                                lock_.path(), options_.segment_bytes),
                    path));
    }
    if (error) co_return std::unexpected(system_said(error, path, "no room can be made for a segment"));
    spare_ = std::move(*file);
    co_return outcome();
}

/// Makes the spare the current segment. Its name appears when its header is on the disk, and its first command is
/// written when its name is.
io::task<writer::outcome> writer::begin_segment() {
    CORRO_ASSERT(spare_ != nullptr);
    segment_header next;
    next.venue = options_.venue;
    next.number = segments_.empty() ? 1 : segments_.back().header.number + 1;
    next.first_sequence = written_sequence() + 1;
    next.epoch = options_.epoch;
    if (options_.wall_clock_ns != nullptr) {
        next.created_ns = options_.wall_clock_ns();
    } else {
        io::context& on = co_await io::this_context();
        next.created_ns =
            std::chrono::duration_cast<std::chrono::nanoseconds>(on.wall_now().time_since_epoch()).count();
    }
    next.segment_bytes = options_.segment_bytes;
    next.birth = options_.birth;
    if (!segments_.empty()) {
        const segment_summary& before = segments_.back();
        next.previous_checksum = before.header.checksum;
        next.previous_digest = before.digest;
        if (before.header.version != 1) next.birth = before.header.birth;
    }
    next.marks = header_.marks;
    for (std::uint32_t shard = 0; options_.shards != nullptr && shard < shards_max; ++shard) {
        const std::uint64_t mark = options_.shards->packed(shard);
        if (mark != 0 && shard != options_.venue.shard) next.marks[shard] = mark;
    }
    std::array<std::byte, segment_header_bytes> bytes;
    encode(next, bytes);
    const std::string path = path_of(segment_name(next.number));
    if (!lock_.is_in_place()) {
        co_return std::unexpected(
            problem(journal_errc::in_use,
                    fmt::format("{}: another directory was put in the place of the one that this process has locked",
                                lock_.path()),
                    lock_.path()));
    }
    const io::io_result written = co_await spare_->write_at(0, bytes);
    std::error_code error = written.error;
    if (!error) error = co_await spare_->sync_data();
    if (!error) error = co_await files_->rename_new(path_of(spare_name), path);
    if (error == std::errc::file_exists) {
        co_return std::unexpected(problem(
            journal_errc::in_use,
            fmt::format("{}: another process has made this file; it is left as it is, and nothing is accepted any more",
                        path),
            path));
    }
    if (!error) error = co_await sync_names();
    // A sync in the background may have begun meanwhile; the file stays open for it.
    while (sync_under_way_ && !error) error = co_await sync_ended_.wait();
    if (error) co_return std::unexpected(system_said(error, path, "the segment cannot be begun"));
    header_ = next;
    file_ = std::move(spare_);
    offset_ = segment_header_bytes;
    digest_ = 0;
    ++statistics_.segments_begun_count;
    co_return outcome();
}

/// Waits until the disk has the names of the files. It needs a descriptor for a moment, and waits for one.
io::task<std::error_code> writer::sync_names() {
    std::error_code error = co_await files_->sync_directory(lock_.path());
    while (means_later(error)) {
        const std::error_code stopped = co_await io::sleep_for(full_disk_retry);
        if (stopped) co_return stopped;
        error = co_await files_->sync_directory(lock_.path());
    }
    co_return error;
}

/// From a segment that is full to the next.
io::task<bool> writer::next_segment() {
    const std::string path = path_of(segment_name(header_.number));
    std::array<std::byte, block_header_bytes> seal;
    // It may reach the disk before what was written last; the next segment's header will not.
    encode_seal(header_, written_sequence() + 1, synced_sequence_, seal, marks_now());
    const io::io_result written = co_await file_->write_at(offset_, seal);
    if (!written) {
        fail(written.error, "writing the seal failed", path);
        co_return false;
    }
    const bool synced = co_await sync();
    if (!synced) co_return false;
    if (options_.mode == durability::group) acknowledge(synced_sequence_);
    while (spare_ == nullptr && !failed_) {
        wanted_.set();
        const std::error_code stopped = co_await spare_made_.wait();
        if (stopped) fail(stopped, "was stopped", path);
    }
    if (failed_) co_return false;
    segment_summary full;
    full.header = header_;
    full.bytes = options_.segment_bytes;
    full.used_bytes = offset_ + seal_bytes;
    full.last_sequence = written_sequence();
    full.digest = digest_;
    segments_.push_back(full);
    outcome done = co_await begin_segment();
    if (!done) {
        fail(std::move(done.error()));
        co_return false;
    }
    wanted_.set();
    co_return true;
}

/// Beside the writing: has a spare made when there is none, again and again on a full disk, and removes old segments.
io::task<void> writer::look_after_segments() {
    while (!failed_) {
        co_await remove_old_segments();
        if (spare_ == nullptr && !failed_) {
            outcome done = co_await make_spare();
            // There is room, or the disk is full: who waits for the one shall hear of the other too.
            progressed_.set();
            if (done) {
                spare_made_.set();
                continue;
            }
            if (done.error().code == io::condition::canceled) co_return;
            if (!means_full(done.error().code) && !means_later(done.error().code)) {
                fail(std::move(done.error()));
                co_return;
            }
            const std::error_code stopped = co_await io::sleep_for(full_disk_retry);
            if (stopped) co_return;
            continue;
        }
        const std::error_code stopped = co_await wanted_.wait();
        if (stopped) co_return;
    }
}

void writer::forget_before(std::uint64_t sequence) noexcept {
    snapshot_sequence_ = std::max(snapshot_sequence_, sequence);
    wanted_.set();
}

bool writer::oldest_may_go() const noexcept {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    for (const segment_summary& each : segments_) {
        if (each.last_sequence > snapshot_sequence_) break;
        ++count;
        bytes += each.bytes;
    }
    return count > options_.kept_segments_max || (count != 0 && bytes > options_.kept_bytes_max);
}

io::task<void> writer::remove_old_segments() {
    while (oldest_may_go() && !failed_) {
        // Oldest first, each on the disk before the next: a crash in between leaves no gap.
        const std::string path = path_of(segment_name(segments_.front().header.number));
        std::error_code error = co_await files_->remove(path);
        if (!error) error = co_await sync_names();
        if (error == io::condition::canceled) co_return;
        if (error) {
            fail(system_said(error, path, "the segment cannot be removed"));
            co_return;
        }
        segments_.erase(segments_.begin());
        ++statistics_.segments_removed_count;
    }
}

std::uint64_t writer::room_in_segment() const noexcept {
    const std::uint64_t until = options_.segment_bytes - seal_bytes;
    return offset_ < until ? until - offset_ : 0;
}

/// What so many commands take up at most, with what is lost at the border between two segments.
std::uint64_t writer::bytes_needed(std::uint64_t commands_count) const noexcept {
    if (options_.mode == durability::each) return (commands_count + 1) * block_bytes(1);
    // Two buffers, each in full blocks and a rest, and one block that a border divides.
    const std::uint64_t blocks = commands_count / block_commands_max + 4;
    return commands_count * command_bytes + blocks * (block_header_bytes + sector_bytes);
}

std::uint64_t writer::bytes_left() const noexcept {
    const std::uint64_t spare = spare_ == nullptr ? 0 : options_.segment_bytes - segment_header_bytes - seal_bytes;
    const std::uint64_t room = room_in_segment() + spare;
    const std::uint64_t needed = bytes_needed(leaving_count_ + buffers_[filling_].count + 1);
    return room > needed ? room - needed : 0;
}

journal_room writer::room() const noexcept {
    if (failed_) return journal_room::none;
    const std::uint64_t left = bytes_left();
    if (left > options_.reserve_bytes) return journal_room::everything;
    if (left > options_.reserve_bytes / 4) return journal_room::cancels_only;
    return left != 0 ? journal_room::operators_only : journal_room::none;
}

std::string writer::path_of(std::string_view name) const {
    return fmt::format("{}/{}", lock_.path(), name);
}

}  // namespace corro::journal
