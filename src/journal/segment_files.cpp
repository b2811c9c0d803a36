// SPDX-License-Identifier: Apache-2.0
#include "journal/segment_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "io/errors.hpp"
#include "io/loop/timer.hpp"

namespace corro::journal {
namespace {

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

bool is_disk_full(std::error_code error) noexcept {
    return error == std::errc::no_space_on_device || error == std::error_code(EDQUOT, std::generic_category()) ||
           error == journal_errc::disk_full;
}

bool is_temporary(std::error_code error) noexcept {
    return error == std::errc::too_many_files_open || error == std::errc::too_many_files_open_in_system;
}

segment_files::segment_files(directory_lock lock, std::vector<segment_summary> existing, segment_files_options options)
    : lock_(std::move(lock)), files_(&lock_.files()), options_(std::move(options)), full_(std::move(existing)) {}

/// Compares the journal's end with the manifest, and writes the manifest again. The start before this one may have
/// been killed before it wrote the manifest for its segment, or before it synced the manifest, so both are made
/// durable first. The names of files are synced before the manifest, so that the manifest never names a file that a
/// power cut can remove.
io::task<segment_files::outcome> segment_files::take_manifest(journal_end end) {
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
    if (error) co_return std::unexpected(system_problem(error, lock_.path(), "the directory cannot be synced"));
    if (has_manifest && !CORRO_DEFECT(manifest_not_confirmed)) {
        done = co_await confirm_manifest(files_, lock_.path(), manifest_.writes_count);
    }
    if (!done) co_return done;
    done = co_await write_manifest(files_, lock_.path(), &manifest_);
    co_return done;
}

/// Releases the last writer's space behind its last block, and its spare. Syncs the last segment again: its writer may
/// have been killed between a write and its sync, or its sync may have failed, and everything from now on depends on
/// what the reader found there.
io::task<segment_files::outcome> segment_files::tidy_up(std::uint64_t torn_bytes, bool is_sealed) {
    std::error_code error = co_await files_->remove(path_of(spare_name));
    if (error && error != std::errc::no_such_file_or_directory) {
        co_return std::unexpected(system_problem(error, path_of(spare_name), "cannot be removed"));
    }
    if (full_.empty()) co_return outcome();
    segment_summary& last = full_.back();
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
    if (error) co_return std::unexpected(system_problem(error, path, "cannot be cut off after its last command"));
    if (!manifest_.is_closed) error = co_await write_again(file->get(), last.used_bytes);
    if (!error && !CORRO_DEFECT(last_segment_not_synced)) error = co_await (*file)->sync_data();
    if (error) co_return std::unexpected(system_problem(error, path, "cannot be rewritten and synced"));
    if (is_kept) last.bytes = std::min(last.bytes, last.used_bytes);
    co_return outcome();
}

/// Copies the bytes behind the last complete block to a file of their own.
io::task<std::error_code> segment_files::keep_torn_bytes(stored_file* from, std::uint64_t count) {
    const segment_summary& last = full_.back();
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

/// Writes the manifest. Waits for a free file descriptor if necessary.
io::task<segment_files::outcome> segment_files::save_manifest() {
    outcome done = co_await write_manifest(files_, lock_.path(), &manifest_);
    while (!done && is_temporary(done.error().code)) {
        const std::error_code stopped = co_await io::sleep_for(full_disk_retry);
        if (stopped) co_return std::unexpected(system_problem(stopped, lock_.path(), "was stopped"));
        done = co_await write_manifest(files_, lock_.path(), &manifest_);
    }
    co_return done;
}

io::task<segment_files::outcome> segment_files::make_spare() {
    outcome done = co_await make_spare_of(options_.segment_bytes);
    co_return done;
}

/// Preallocates the first segment of this run. On a full disk it is smaller: operators can close orders with the
/// remaining space, and the journal continues when there is space again.
io::task<segment_files::outcome> segment_files::make_first_spare() {
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

io::task<segment_files::outcome> segment_files::make_spare_of(std::uint64_t bytes) {
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
    if (error) co_return std::unexpected(system_problem(error, path, "the space for a segment cannot be reserved"));
    spare_ = std::move(*file);
    spare_bytes_ = bytes;
    co_return outcome();
}

/// The file is renamed when its header is durable, and its first command is written when its name is durable.
io::task<segment_files::outcome> segment_files::name_spare(segment_header* next) {
    CORRO_ASSERT(spare_ != nullptr, "a segment is preallocated before it is used");
    next->venue = options_.venue;
    next->number = full_.empty() ? 1 : full_.back().header.number + 1;
    next->epoch = options_.epoch;
    next->segment_bytes = spare_bytes_;
    next->birth = manifest_.birth;
    if (!full_.empty()) {
        const segment_summary& before = full_.back();
        next->previous_checksum = before.header.checksum;
        next->previous_digest = before.digest;
    }
    std::array<std::byte, segment_header_bytes> bytes;
    encode(*next, bytes);
    const std::string path = path_of(segment_name(next->number));
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
    if (!error && !CORRO_DEFECT(segment_name_not_synced)) error = co_await sync_names();
    if (error) co_return std::unexpected(system_problem(error, path, "the segment cannot be started"));
    co_return outcome();
}

std::unique_ptr<stored_file> segment_files::take_spare() noexcept {
    CORRO_ASSERT(spare_ != nullptr, "a segment is preallocated before it is used");
    return std::move(spare_);
}

io::task<segment_files::outcome> segment_files::record_newest(segment_header newest) {
    const auto guard = co_await manifest_lock_.scoped_lock();
    if (!guard) co_return std::unexpected(system_problem(guard.error(), lock_.path(), "was stopped"));
    manifest_.newest_segment = newest.number;
    manifest_.newest_checksum = newest.checksum;
    manifest_.is_closed = false;
    manifest_.next_sequence = newest.first_sequence;
    manifest_.epoch = newest.epoch;
    outcome done = co_await save_manifest();
    co_return done;
}

void segment_files::add_full(const segment_summary& full) {
    CORRO_ASSERT(full_.empty() || full.header.number == full_.back().header.number + 1,
                 "segments become full in the order of their numbers");
    full_.push_back(full);
}

io::task<segment_files::outcome> segment_files::record_end(std::uint64_t next_sequence) {
    const auto guard = co_await manifest_lock_.scoped_lock();
    if (!guard) co_return std::unexpected(system_problem(guard.error(), lock_.path(), "was stopped"));
    manifest_.is_closed = true;
    manifest_.next_sequence = next_sequence;
    outcome done = co_await save_manifest();
    // If this fails, the next writer removes the file.
    if (done) static_cast<void>(co_await files_->remove(path_of(spare_name)));
    co_return done;
}

/// Syncs the names of the files. Waits for a free file descriptor if necessary.
io::task<std::error_code> segment_files::sync_names() {
    std::error_code error = co_await files_->sync_directory(lock_.path());
    while (is_temporary(error)) {
        const std::error_code stopped = co_await io::sleep_for(full_disk_retry);
        if (stopped) co_return stopped;
        error = co_await files_->sync_directory(lock_.path());
    }
    co_return error;
}

void segment_files::forget_before(std::uint64_t sequence) noexcept {
    snapshot_sequence_ = std::max(snapshot_sequence_, sequence);
}

bool segment_files::may_remove_oldest() const noexcept {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
    for (const segment_summary& each : full_) {
        // The newest segment in the manifest stays, also when it is full: the next one may have no name yet.
        if (each.last_sequence > snapshot_sequence_ || each.header.number >= manifest_.newest_segment) break;
        ++count;
        bytes += each.bytes;
    }
    return count > options_.kept_segments_max || (count != 0 && bytes > options_.kept_bytes_max);
}

io::task<segment_files::outcome> segment_files::record_removal() {
    CORRO_ASSERT(may_remove_oldest(), "a segment that is needed cannot be removed");
    const std::uint64_t number = full_.front().header.number;
    const auto guard = co_await manifest_lock_.scoped_lock();
    if (!guard) co_return std::unexpected(system_problem(guard.error(), lock_.path(), "was stopped"));
    manifest_.oldest_segment = number + 1;
    outcome done = co_await save_manifest();
    co_return done;
}

io::task<segment_files::outcome> segment_files::remove_oldest() {
    CORRO_ASSERT(!full_.empty() && full_.front().header.number < manifest_.oldest_segment,
                 "a removal is recorded before it is done");
    const std::uint64_t number = full_.front().header.number;
    const std::string path = path_of(segment_name(number));
    std::error_code error = co_await files_->remove(path_of(torn_name(number)));
    if (!error || error == std::errc::no_such_file_or_directory) error = co_await files_->remove(path);
    if (!error) error = co_await sync_names();
    if (error) co_return std::unexpected(system_problem(error, path, "the segment cannot be removed"));
    full_.erase(full_.begin());
    co_return outcome();
}

std::string segment_files::path_of(std::string_view name) const {
    return fmt::format("{}/{}", lock_.path(), name);
}

}  // namespace corro::journal
