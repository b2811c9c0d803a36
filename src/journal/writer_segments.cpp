// The writer's segments: preallocation, the change from one to the next, and the removal of old ones.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "journal/writer.hpp"

namespace corro::journal {
namespace {

bool is_disk_full(std::error_code error) noexcept {
    return error == std::errc::no_space_on_device || error == std::error_code(EDQUOT, std::generic_category()) ||
           error == journal_errc::disk_full;
}

/// The process has too many open files. That is temporary, and nothing has been written or synced.
bool is_temporary(std::error_code error) noexcept {
    return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
}

problem system_error_text(std::error_code error, const std::string& path, const char* what) {
    return {error, fmt::format("{}: {}: {}", path, what, error.message()), path};
}

/// Writes the first `count` bytes of a file again: after a failed sync the system may regard them as written although
/// the disk does not have them, and a later sync would succeed without them.
io::task<std::error_code> write_again(stored_file* file, std::uint64_t count) {
    std::vector<std::byte> part(static_cast<std::size_t>(std::min<std::uint64_t>(count, 1U << 20U)));
    std::error_code error;
    for (std::uint64_t done = 0; done < count && !error;) {
        const std::span<std::byte> piece = std::span(part).first(std::min<std::uint64_t>(count - done, part.size()));
        io::io_result moved = co_await file->read_at(done, piece);
        if (moved.ok()) moved = co_await file->write_at(done, piece);
        error = moved.error;
        done += piece.size();
    }
    co_return error;
}

}  // namespace

io::task<std::expected<std::unique_ptr<writer>, problem>> writer::open(directory_lock lock, journal_end end,
                                                                       writer_options options) {
    const std::uint64_t last_epoch = end.segments.empty() ? 0 : end.segments.back().header.epoch;
    if (options.epoch == 0) options.epoch = last_epoch + 1;
    if (options.epoch <= last_epoch) {
        co_return std::unexpected(
            problem(journal_errc::stale_epoch,
                    fmt::format("{}: epoch {} has already written this journal; epoch {} is stale", lock.path(),
                                last_epoch, options.epoch),
                    lock.path()));
    }
    const std::uint64_t torn_bytes = end.torn_bytes;
    const bool is_sealed = end.tail == tail_state::sealed;
    std::unique_ptr<writer> made(new writer(std::move(lock), end, std::move(options)));
    outcome done = co_await made->take_manifest(std::move(end));
    if (done) done = co_await made->tidy_up(torn_bytes, is_sealed);
    if (done) done = co_await made->make_first_spare();
    if (done) done = co_await made->begin_segment();
    // Only now, because the existing bytes may not have been synced, and a journal has begun only when it has a
    // segment.
    if (done && made->options_.shards != nullptr) {
        made->options_.shards->note(made->options_.venue.shard, made->synced_sequence_);
    }
    if (done) {
        // The spare is optional: without it the journal works, and soon reports that space is short.
        done = co_await made->make_spare();
        if (!done && (is_disk_full(done.error().code) || is_temporary(done.error().code))) done = outcome();
    }
    if (!done) co_return std::unexpected(std::move(done.error()));
    co_return made;
}

/// Releases the last writer's space behind its last block, and its spare. Syncs the last segment again: its writer may
/// have been killed between a write and its sync, or its sync may have failed, and everything from now on depends on
/// what the reader found there.
io::task<writer::outcome> writer::tidy_up(std::uint64_t torn_bytes, bool is_sealed) {
    std::error_code error = co_await files_->remove(path_of(spare_name));
    if (error && error != std::errc::no_such_file_or_directory) {
        co_return std::unexpected(system_error_text(error, path_of(spare_name), "cannot be removed"));
    }
    if (segments_.empty()) co_return outcome();
    segment_summary& last = segments_.back();
    const std::string path = path_of(segment_name(last.header.number));
    auto file = co_await files_->open(path, io::file_mode::write);
    error = file ? std::error_code() : file.error();
    bool is_kept = torn_bytes == 0;
    if (is_kept && last.bytes < last.header.segment_bytes && last.used_bytes == last.bytes && !is_sealed) {
        notices_.push_back(
            fmt::format("{}: the file has {} bytes, but {} were preallocated: it was cut off after sequence number "
                        "{}, either by a "
                        "start that did not finish or by another program",
                        path, last.bytes, last.header.segment_bytes, last.last_sequence));
    }
    if (!error && !is_kept) {
        error = co_await keep_torn_bytes(file->get(), torn_bytes);
        is_kept = !error;
        // Without space for a copy they stay in place: nothing reads them, and nothing overwrites them.
        if (is_disk_full(error)) error.clear();
        notices_.push_back(
            fmt::format("{}: offset {}: {} bytes after sequence number {} are not a complete block; {}. In the modes "
                        "`group` and `each` "
                        "none of them was acknowledged, unless the disk has damaged confirmed bytes",
                        path, last.used_bytes, torn_bytes, last.last_sequence,
                        is_kept ? "they are kept in " + path_of(torn_name(last.header.number)) : "they stay in place"));
    }
    if (!error && is_kept && last.used_bytes < last.bytes) error = co_await (*file)->truncate(last.used_bytes);
    if (error) co_return std::unexpected(system_error_text(error, path, "cannot be cut off after its last command"));
    if (!manifest_.is_closed) error = co_await write_again(file->get(), last.used_bytes);
    if (!error) error = co_await (*file)->sync_data();
    if (error) co_return std::unexpected(system_error_text(error, path, "cannot be rewritten and synced"));
    if (is_kept) last.bytes = std::min(last.bytes, last.used_bytes);
    co_return outcome();
}

/// Copies the bytes behind the last complete block to a file of their own.
io::task<std::error_code> writer::keep_torn_bytes(stored_file* from, std::uint64_t count) {
    const segment_summary& last = segments_.back();
    std::vector<std::byte> part(static_cast<std::size_t>(std::min<std::uint64_t>(count, 1U << 20U)));
    const std::string path = path_of(torn_name(last.header.number));
    auto into = co_await files_->open(path, io::file_mode::overwrite);
    if (!into) co_return into.error();
    std::error_code error;
    for (std::uint64_t done = 0; done < count && !error;) {
        const std::span<std::byte> piece = std::span(part).first(std::min<std::uint64_t>(count - done, part.size()));
        io::io_result moved = co_await from->read_at(last.used_bytes + done, piece);
        if (moved.ok()) moved = co_await (*into)->write_at(done, piece);
        error = moved.error;
        done += piece.size();
    }
    if (!error) error = co_await (*into)->sync_data();
    into->reset();
    if (!error) error = co_await files_->sync_directory(lock_.path());
    if (error) static_cast<void>(co_await files_->remove(path));
    co_return error;
}

/// Compares the journal's end with the manifest, and writes the manifest again. The start before this one may have
/// been killed before it wrote the manifest for its segment, or before it synced the manifest, so both are made
/// durable first. The names of files are synced before the manifest, so that the manifest never names a file that a
/// power cut can remove.
io::task<writer::outcome> writer::take_manifest(journal_end end) {
    auto found = co_await find_manifest(files_, lock_.path(), options_.venue, options_.birth);
    if (!found) co_return std::unexpected(std::move(found.error()));
    manifest_ = *found;
    outcome done = check_end(manifest_, end, lock_.path());
    if (!done) co_return done;
    const bool has_manifest = manifest_.writes_count != 0;
    if (!end.segments.empty()) {
        const segment_header& newest = end.segments.back().header;
        if (newest.number != manifest_.newest_segment || !has_manifest) {
            manifest_.newest_segment = newest.number;
            manifest_.newest_checksum = newest.checksum;
            manifest_.is_closed = false;
            manifest_.epoch = newest.epoch;
            manifest_.next_sequence = end.next_sequence;
        }
        // Of version 1.
        if (!has_manifest) manifest_.oldest_segment = end.segments.front().header.number;
    }
    const std::error_code error = co_await sync_names();
    if (error) co_return std::unexpected(system_error_text(error, lock_.path(), "the directory cannot be synced"));
    done = co_await write_manifest(files_, lock_.path(), &manifest_);
    co_return done;
}

/// Writes the manifest. Waits for a free file descriptor if necessary.
io::task<writer::outcome> writer::save_manifest() {
    outcome done = co_await write_manifest(files_, lock_.path(), &manifest_);
    while (!done && is_temporary(done.error().code)) {
        const std::error_code stopped = co_await io::sleep_for(full_disk_retry);
        if (stopped) co_return std::unexpected(system_error_text(stopped, lock_.path(), "was stopped"));
        done = co_await write_manifest(files_, lock_.path(), &manifest_);
    }
    co_return done;
}

/// Records the current segment as the newest, before any command is written to it.
io::task<writer::outcome> writer::record_newest() {
    const auto guard = co_await manifest_lock_.scoped_lock();
    if (!guard) co_return std::unexpected(system_error_text(guard.error(), lock_.path(), "was stopped"));
    manifest_.newest_segment = header_.number;
    manifest_.newest_checksum = header_.checksum;
    manifest_.is_closed = false;
    manifest_.next_sequence = header_.first_sequence;
    manifest_.epoch = header_.epoch;
    outcome done = co_await save_manifest();
    co_return done;
}

/// Records that the journal is closed in order.
io::task<writer::outcome> writer::record_end() {
    const auto guard = co_await manifest_lock_.scoped_lock();
    if (!guard) co_return std::unexpected(system_error_text(guard.error(), lock_.path(), "was stopped"));
    manifest_.is_closed = true;
    manifest_.next_sequence = next_sequence_;
    outcome done = co_await save_manifest();
    co_return done;
}

/// Records that segments before this one are removed.
io::task<writer::outcome> writer::record_oldest(std::uint64_t number) {
    const auto guard = co_await manifest_lock_.scoped_lock();
    if (!guard) co_return std::unexpected(system_error_text(guard.error(), lock_.path(), "was stopped"));
    manifest_.oldest_segment = number;
    outcome done = co_await save_manifest();
    co_return done;
}

/// Preallocates the next segment.
io::task<writer::outcome> writer::make_spare() {
    outcome done = co_await make_spare_of(options_.segment_bytes);
    co_return done;
}

/// Preallocates the first segment of this run. On a full disk it is smaller: operators can close orders with the
/// remaining space, and the journal continues when there is space again.
io::task<writer::outcome> writer::make_first_spare() {
    std::uint64_t bytes = options_.segment_bytes;
    outcome done = co_await make_spare_of(bytes);
    while (!done && done.error().code == journal_errc::disk_full && bytes > segment_bytes_min) {
        bytes = std::max(segment_bytes_min, bytes / 2 / sector_bytes * sector_bytes);
        done = co_await make_spare_of(bytes);
    }
    if (!done || bytes == options_.segment_bytes) co_return done;
    disk_is_full_ = true;
    notices_.push_back(
        fmt::format("{}: the disk is full: the journal starts with a segment of {} bytes instead of {}. Orders are "
                    "rejected when only the reserve is left; free some space, and the venue continues by itself",
                    lock_.path(), bytes, options_.segment_bytes));
    co_return done;
}

io::task<writer::outcome> writer::make_spare_of(std::uint64_t bytes) {
    const std::string path = path_of(spare_name);
    auto file = co_await files_->open(path, io::file_mode::overwrite);
    std::error_code error = file ? std::error_code() : file.error();
    if (!error) error = co_await (*file)->preallocate(bytes);
    if (!error) error = co_await (*file)->sync_data();
    disk_is_full_ = is_disk_full(error);
    if (disk_is_full_) {
        // A part of the space may have been reserved: release it.
        if (file) file->reset();
        error = co_await files_->remove(path);
        co_return std::unexpected(problem(
            journal_errc::disk_full,
            fmt::format("{}: the disk has no space for a segment of {} bytes, the smallest; free some space, then "
                        "start again",
                        lock_.path(), bytes),
            path));
    }
    if (error) co_return std::unexpected(system_error_text(error, path, "the space for a segment cannot be reserved"));
    spare_ = std::move(*file);
    spare_bytes_ = bytes;
    co_return outcome();
}

/// Makes the spare the current segment. It is renamed when its header is durable, and its first command is written when
/// its name is durable.
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
    next.segment_bytes = spare_bytes_;
    next.birth = manifest_.birth;
    if (!segments_.empty()) {
        const segment_summary& before = segments_.back();
        next.previous_checksum = before.header.checksum;
        next.previous_digest = before.digest;
    }
    next.marks = header_.marks;
    for (std::uint32_t shard = 0; options_.shards != nullptr && shard < shards_max; ++shard) {
        const std::uint64_t mark = options_.shards->packed(shard);
        if (mark == 0 || shard == options_.venue.shard) continue;
        next.marks[shard] = recorded_[shard] = mark;
    }
    std::array<std::byte, segment_header_bytes> bytes;
    encode(next, bytes);
    const std::string path = path_of(segment_name(next.number));
    if (!lock_.is_in_place()) {
        co_return std::unexpected(problem(
            journal_errc::in_use,
            fmt::format("{}: the directory that this process has locked was replaced by another one", lock_.path()),
            lock_.path()));
    }
    const io::io_result written = co_await spare_->write_at(0, bytes);
    std::error_code error = written.error;
    if (!error) error = co_await spare_->sync_data();
    if (!error) error = co_await files_->rename_new(path_of(spare_name), path);
    if (error == std::errc::file_exists) {
        co_return std::unexpected(problem(
            journal_errc::in_use,
            fmt::format(
                "{}: another process has made this file; it is left unchanged, and the venue accepts no more requests",
                path),
            path));
    }
    if (!error) error = co_await sync_names();
    // A background sync may have begun; the file stays open for it.
    while (sync_under_way_ && !error) error = co_await sync_ended_.wait();
    if (error) co_return std::unexpected(system_error_text(error, path, "the segment cannot be started"));
    header_ = next;
    file_ = std::move(spare_);
    offset_ = segment_header_bytes;
    digest_ = 0;
    ++statistics_.segments_begun_count;
    outcome recorded = co_await record_newest();
    co_return recorded;
}

/// Syncs the names of the files. Waits for a free file descriptor if necessary.
io::task<std::error_code> writer::sync_names() {
    std::error_code error = co_await files_->sync_directory(lock_.path());
    while (is_temporary(error)) {
        const std::error_code stopped = co_await io::sleep_for(full_disk_retry);
        if (stopped) co_return stopped;
        error = co_await files_->sync_directory(lock_.path());
    }
    co_return error;
}

/// Changes from a full segment to the next.
io::task<bool> writer::next_segment() {
    const std::string path = path_of(segment_name(header_.number));
    std::array<std::byte, block_header_bytes> seal;
    // The seal may reach the disk before the last commands; the next segment's header cannot.
    encode_seal(header_, written_sequence() + 1, synced_sequence_, seal, current_progress());
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
    full.bytes = header_.segment_bytes;
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

/// Runs beside the writing: makes a spare when there is none, with retries on a full disk, and removes old segments.
io::task<void> writer::maintain_segments() {
    while (!failed_) {
        co_await remove_old_segments();
        if (spare_ == nullptr && !failed_) {
            outcome done = co_await make_spare();
            // There is space, or the disk is full: both end the wait for space.
            progressed_.set();
            if (done) {
                spare_made_.set();
                continue;
            }
            if (done.error().code == io::condition::canceled) co_return;
            if (!is_disk_full(done.error().code) && !is_temporary(done.error().code)) {
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

bool writer::may_remove_oldest() const noexcept {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    for (const segment_summary& each : segments_) {
        // The newest segment in the manifest stays, also when it is full: the next one may have no name yet.
        if (each.last_sequence > snapshot_sequence_ || each.header.number >= manifest_.newest_segment) break;
        ++count;
        bytes += each.bytes;
    }
    return count > options_.kept_segments_max || (count != 0 && bytes > options_.kept_bytes_max);
}

io::task<void> writer::remove_old_segments() {
    while (may_remove_oldest() && !failed_) {
        // Oldest first, and each removal is durable before the next, so that a crash leaves no gap.
        const std::uint64_t number = segments_.front().header.number;
        const std::string path = path_of(segment_name(number));
        outcome recorded = co_await record_oldest(number + 1);
        if (!recorded) {
            if (recorded.error().code != io::condition::canceled) fail(std::move(recorded.error()));
            co_return;
        }
        if (failed_) co_return;
        std::error_code error = co_await files_->remove(path_of(torn_name(number)));
        if (!error || error == std::errc::no_such_file_or_directory) error = co_await files_->remove(path);
        if (!error) error = co_await sync_names();
        if (error == io::condition::canceled) co_return;
        if (error) {
            fail(system_error_text(error, path, "the segment cannot be removed"));
            co_return;
        }
        segments_.erase(segments_.begin());
        ++statistics_.segments_removed_count;
    }
}

std::uint64_t writer::room_in_segment() const noexcept {
    const std::uint64_t until = header_.segment_bytes - seal_bytes;
    return offset_ < until ? until - offset_ : 0;
}

/// The most bytes for this many commands, including the loss at the boundary of two segments.
std::uint64_t writer::bytes_needed(std::uint64_t commands_count) const noexcept {
    if (options_.mode == durability::each) return (commands_count + 1) * block_bytes(1);
    // Two buffers, each in full blocks and a rest, and one block that a segment boundary divides.
    const std::uint64_t blocks = commands_count / block_commands_max + 4;
    return commands_count * command_bytes + blocks * (block_header_bytes + sector_bytes);
}

std::uint64_t writer::bytes_left() const noexcept {
    const std::uint64_t spare = spare_ == nullptr ? 0 : spare_bytes_ - segment_header_bytes - seal_bytes;
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
