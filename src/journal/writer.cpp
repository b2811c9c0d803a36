// SPDX-License-Identifier: Apache-2.0
#include "journal/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
#include "base/defect.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "io/task/scope.hpp"

namespace corro::journal {

std::string_view name_of(durability mode) noexcept {
    switch (mode) {
        case durability::none: return "none";
        case durability::async: return "async";
        case durability::group: return "group";
        case durability::each: return "each";
    }
    return "";
}

std::optional<durability> durability_of(std::string_view name) noexcept {
    for (const durability mode : {durability::none, durability::async, durability::group, durability::each}) {
        if (name == name_of(mode)) return mode;
    }
    return std::nullopt;
}

namespace {

segment_files_options files_options_of(const writer_options& from) {
    segment_files_options options;
    options.venue = from.venue;
    options.birth = from.birth;
    options.epoch = from.epoch;
    options.segment_bytes = from.segment_bytes;
    options.kept_segments_max = from.kept_segments_max;
    options.kept_bytes_max = from.kept_bytes_max;
    return options;
}

}  // namespace

writer::writer(directory_lock lock, journal_end end, writer_options options)
    : commit_log(end.next_sequence, options.buffer_commands, options.mode == durability::none,
                 log_space(options.reserve_bytes, options.mode == durability::each)),
      options_(std::move(options)),
      files_(std::move(lock), std::move(end.segments), files_options_of(options_)),
      peers_(options_.board, options_.venue.partition),
      synced_sequence_(end.next_sequence - 1) {
    CORRO_ASSERT(options_.segment_bytes >= segment_bytes_min && options_.segment_bytes <= segment_bytes_max &&
                     options_.segment_bytes % sector_bytes == 0,
                 "the size of a segment must be within its bounds");
    // Otherwise orders would wait forever for space, on a disk that is not full.
    CORRO_ASSERT(
        options_.reserve_bytes + space().bytes_needed(1) + segment_header_bytes + seal_bytes < options_.segment_bytes,
        "a segment must have space for the reserve and an order");
    header_.marks = end.marks;
}

writer::~writer() {
    CORRO_ASSERT(!running_, "`run` must have ended before the writer is destroyed");
}

std::uint64_t writer::write_marks() noexcept {
    ++marks_wanted_;
    appended().set();
    return marks_wanted_;
}

void writer::close() noexcept {
    begin_close();
}

io::task<void> writer::run() {
    CORRO_ASSERT(!started_, "`run` can be called only once");
    started_ = running_ = true;
    io::task_scope helpers(co_await io::this_context());
    helpers.spawn(maintain_segments());
    if (options_.mode == durability::async) helpers.spawn(sync_in_background());
    if (peers_.has_peers()) helpers.spawn(maintain_progress());
    co_await work();
    // No command waits for their work.
    helpers.request_stop();
    co_await helpers.join();
    if (!failed()) co_await seal_and_close();
    files_.close_spare();
    file_.reset();
    running_ = false;
    note_end();
}

io::task<void> writer::work() {
    while (!failed()) {
        batch* const ready = take_batch();
        if (ready != nullptr) {
            co_await write_out(ready);
            release(*ready);
            // In the other modes `acknowledge` wakes the host.
            if (options_.mode == durability::none) note_progress();
            continue;
        }
        if (marks_on_disk_ != marks_wanted_) {
            const bool done = co_await write_marks_alone();
            if (done) note_progress();
            continue;
        }
        if (is_closing()) co_return;
        const std::error_code stopped = co_await appended().wait();
        if (stopped) fail(stopped, "was stopped", files_.directory());
    }
}

/// Writes all commands of a batch, in as many blocks as necessary.
io::task<void> writer::write_out(batch* from) {
    const bool one_by_one = options_.mode == durability::each;
    std::uint32_t index = 0;
    while (index < from->count && !failed()) {
        const std::uint64_t room = room_in_segment();
        const std::uint64_t fitting = room < block_bytes(1) ? 0 : (room - block_header_bytes) / command_bytes;
        const std::uint32_t most = one_by_one ? 1 : std::min(from->count - index, block_commands_max);
        const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(most, fitting));
        bool done = false;
        if (count == 0) {
            done = co_await next_segment();
            if (!done) co_return;
            continue;
        }
        done = co_await write_block(from, index, count);
        if (!done) co_return;
        index += count;
        if (CORRO_DEFECT(written_counts_as_durable)) acknowledge(written_sequence());
        const bool is_last = index == from->count;
        if (one_by_one || (is_last && options_.mode == durability::group)) {
            done = co_await sync();
            if (!done) co_return;
            acknowledge(synced_sequence_);
        } else if (options_.mode == durability::async) {
            acknowledge(written_sequence());
            written_.set();
        }
    }
}

io::task<bool> writer::write_block(batch* from, std::uint32_t index, std::uint32_t count) {
    // The header overwrites the end of the command before it, which has been written already.
    const std::span<std::byte> block = from->block(index, count);
    encode_block(header_, written_sequence() + 1, synced_sequence_, block, peers_.for_block());
    const bool is_put = co_await put(block);
    if (!is_put || !still_good()) co_return false;
    offset_ += padded(block.size());
    block_header about;
    about.first_sequence = written_sequence() + 1;
    about.commands_count = count;
    about.checksum = base::load_le<std::uint32_t>(block.data() + 4);
    digest_ = digest_after(digest_, about);
    note_written(count);
    note_space();
    ++statistics_.blocks_count;
    statistics_.bytes += block.size();
    co_return true;
}

/// Writes a block without commands, with the progress of the other partitions.
io::task<bool> writer::write_marks_alone() {
    const std::uint64_t ticket = marks_wanted_;
    if (room_in_segment() < block_bytes(0)) {
        // The next segment's header will have the marks.
        const bool begun = co_await next_segment();
        if (begun) marks_on_disk_ = ticket;
        co_return begun;
    }
    std::array<std::byte, block_header_bytes> block;
    encode_block(header_, written_sequence() + 1, synced_sequence_, block, peers_.for_block());
    const bool is_put = co_await put(block);
    if (!is_put) co_return false;
    offset_ += padded(block.size());
    note_space();
    const bool is_synced = co_await sync();
    if (is_synced) marks_on_disk_ = ticket;
    co_return is_synced;
}

/// Writes a block at the end of the current segment. False when that failed.
io::task<bool> writer::put(std::span<const std::byte> block) {
    CORRO_ASSERT(block.size() <= room_in_segment(), "a block fits its segment, in front of the seal");
    const io::io_result done = co_await file_->write_at(offset_, block);
    if (done || (done.bytes != 0 && CORRO_DEFECT(part_of_block_taken_for_whole))) co_return true;
    fail(done.error, "writing failed", current_path());
    co_return false;
}

/// Records the progress of the other partitions, also while no command is appended here. On a disk that is almost full
/// it leaves the space to commands.
io::task<void> writer::maintain_progress() {
    while (!failed()) {
        const std::error_code stopped = co_await io::sleep_for(marks_interval);
        if (stopped) co_return;
        if (!is_closing() && room() == journal_room::everything && peers_.are_behind()) {
            static_cast<void>(write_marks());
        }
    }
}

/// Everything up to `sequence` is durable.
void writer::synced(std::uint64_t sequence) noexcept {
    if (sequence <= synced_sequence_) return;
    synced_sequence_ = sequence;
    peers_.note_own(sequence);
}

/// Syncs the current file, and measures that.
io::task<std::error_code> writer::timed_sync() {
    if (CORRO_DEFECT(sync_left_out)) co_return std::error_code();
    io::context& on = co_await io::this_context();
    const io::steady_time begin = on.now();
    const std::error_code error = co_await file_->sync_data();
    syncs_.note(on.now() - begin);
    co_return error;
}

/// Syncs the earlier writes.
io::task<bool> writer::sync() {
    const std::uint64_t until = written_sequence();
    std::error_code error = co_await timed_sync();
    if (error && CORRO_DEFECT(failed_sync_repeated)) error = co_await timed_sync();
    if (error) {
        fail(error, "syncing failed", current_path());
        co_return false;
    }
    if (!still_good()) co_return false;
    synced(until);
    ++statistics_.syncs_count;
    co_return true;
}

/// In mode async: syncs after writes, at most once per interval.
io::task<void> writer::sync_in_background() {
    while (!failed()) {
        std::error_code stopped = co_await written_.wait();
        if (stopped) co_return;
        stopped = co_await io::sleep_for(async_sync_interval);
        if (stopped || failed()) co_return;
        const std::uint64_t until = written_sequence();
        const std::string path = current_path();
        sync_under_way_ = true;
        const std::error_code error = co_await timed_sync();
        sync_under_way_ = false;
        sync_ended_.set();
        if (error == io::condition::canceled) co_return;
        if (error) {
            fail(error, "syncing failed", path);
            co_return;
        }
        if (!still_good()) co_return;
        synced(until);
        ++statistics_.syncs_count;
    }
}

/// Closes the journal: writes a seal, which marks the end for readers, and releases unused space.
io::task<void> writer::seal_and_close() {
    // The seal promises that everything before it is durable, so that is synced first.
    const bool synced = co_await sync();
    if (!synced) co_return;
    acknowledge(synced_sequence_);
    const std::string path = current_path();
    std::array<std::byte, block_header_bytes> seal;
    encode_seal(header_, next_sequence(), synced_sequence_, seal, peers_.for_block());
    const io::io_result done = co_await file_->write_at(offset_, seal);
    if (!done) {
        fail(done.error, "writing the seal failed", path);
        co_return;
    }
    offset_ += seal_bytes;
    std::error_code error = co_await file_->truncate(offset_);
    if (!error) error = co_await file_->sync_data();
    if (error) {
        fail(error, "sealing failed", path);
        co_return;
    }
    ++statistics_.syncs_count;
    outcome recorded = co_await files_.record_end(next_sequence());
    if (!recorded) fail(std::move(recorded.error()));
}

/// Called after every write and sync. When the disk has been given up, a late success is neither undone nor
/// acknowledged.
bool writer::still_good() {
    if (given_up_.load(std::memory_order_acquire)) [[unlikely]]
        apply_write_result();
    return !failed();
}

void writer::apply_write_result() {
    if (!given_up_.load(std::memory_order_acquire)) return;
    fail(std::make_error_code(std::errc::timed_out), "the disk does not respond", files_.directory());
}

void writer::fail(std::error_code code, std::string_view what, std::string path) {
    // Before `path` is moved: the order of evaluation of arguments is unspecified.
    std::string text = fmt::format(
        "{}: offset {}: {}: {}. The venue accepts no more requests; the journal has all commands up to sequence number "
        "{} "
        "and "
        "continues there after a restart",
        path, offset_, what, code.message(), durable_sequence());
    fail(problem(code, std::move(text), std::move(path), offset_));
}

void writer::fail(problem what) {
    if (!end_with(std::move(what))) return;
    for (io::auto_event* each : {&wanted_, &spare_made_, &written_, &sync_ended_}) each->set();
}

}  // namespace corro::journal
