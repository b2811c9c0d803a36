// SPDX-License-Identifier: Apache-2.0
// The writer from one segment to the next: its files, and their removal.
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/assert.hpp"
#include "base/defect.hpp"
#include "io/loop/context.hpp"
#include "io/loop/timer.hpp"
#include "journal/writer.hpp"

namespace corro::journal {

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
    segment_files& files = made->files_;
    outcome done = co_await files.take_manifest(std::move(end));
    if (done) done = co_await files.tidy_up(torn_bytes, is_sealed);
    if (done) done = co_await files.make_first_spare();
    if (done) done = co_await made->begin_segment();
    // Only now, because the existing bytes may not have been synced, and a journal has begun only when it has a
    // segment.
    if (done) made->peers_.note_own(made->synced_sequence_);
    if (done) {
        // The spare is optional: without it the journal works, and soon reports that space is short.
        done = co_await files.make_spare();
        if (!done && (is_disk_full(done.error().code) || is_temporary(done.error().code))) done = outcome();
    }
    if (!done) co_return std::unexpected(std::move(done.error()));
    made->note_space();
    co_return made;
}

/// Makes the spare the current segment.
io::task<writer::outcome> writer::begin_segment() {
    segment_header next;
    next.first_sequence = written_sequence() + 1;
    if (options_.wall_clock_ns != nullptr) {
        next.created_ns = options_.wall_clock_ns();
    } else {
        io::context& on = co_await io::this_context();
        next.created_ns =
            std::chrono::duration_cast<std::chrono::nanoseconds>(on.wall_now().time_since_epoch()).count();
    }
    next.marks = header_.marks;
    peers_.put_in(next.marks);
    outcome done = co_await files_.name_spare(&next);
    if (!done) co_return done;
    // A background sync may have begun; the file stays open for it.
    while (sync_under_way_) {
        const std::error_code stopped = co_await sync_ended_.wait();
        if (!stopped) continue;
        const std::string path = files_.path_of(segment_name(next.number));
        co_return std::unexpected(
            problem(stopped, fmt::format("{}: the segment cannot be started: {}", path, stopped.message()), path));
    }
    header_ = next;
    file_ = files_.take_spare();
    offset_ = segment_header_bytes;
    digest_ = 0;
    note_extent();
    note_space();
    ++statistics_.segments_begun_count;
    done = co_await files_.record_newest(header_);
    co_return done;
}

/// Changes from a full segment to the next.
io::task<bool> writer::next_segment() {
    const std::string path = current_path();
    std::array<std::byte, block_header_bytes> seal;
    // The seal may reach the disk before the last commands; the next segment's header cannot.
    encode_seal(header_, written_sequence() + 1, synced_sequence_, seal, peers_.for_block());
    const io::io_result written = co_await file_->write_at(offset_, seal);
    if (!written) {
        fail(written.error, "writing the seal failed", path);
        co_return false;
    }
    bool synced = true;
    if (!CORRO_DEFECT(full_segment_not_synced)) synced = co_await sync();
    if (!synced) co_return false;
    if (options_.mode == durability::group) acknowledge(synced_sequence_);
    while (!files_.has_spare() && !failed()) {
        wanted_.set();
        const std::error_code stopped = co_await spare_made_.wait();
        if (stopped) fail(stopped, "was stopped", path);
    }
    if (failed()) co_return false;
    segment_summary full;
    full.header = header_;
    full.bytes = header_.segment_bytes;
    full.used_bytes = offset_ + seal_bytes;
    full.last_sequence = written_sequence();
    full.digest = digest_;
    files_.add_full(full);
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
    while (!failed()) {
        co_await remove_old_segments();
        if (!files_.has_spare() && !failed()) {
            outcome done = co_await files_.make_spare();
            note_space();
            // There is space, or the disk is full: both end the wait for space.
            note_progress();
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
    files_.forget_before(sequence);
    wanted_.set();
}

io::task<void> writer::remove_old_segments() {
    while (files_.may_remove_oldest() && !failed()) {
        outcome done = co_await files_.record_removal();
        if (done && failed()) co_return;
        if (done) done = co_await files_.remove_oldest();
        if (!done) {
            if (done.error().code != io::condition::canceled) fail(std::move(done.error()));
            co_return;
        }
        ++statistics_.segments_removed_count;
    }
}

std::uint64_t writer::room_in_segment() const noexcept {
    const std::uint64_t until = header_.segment_bytes - seal_bytes;
    return offset_ < until ? until - offset_ : 0;
}

/// After each change of the current segment and of the spare.
void writer::note_space() noexcept {
    set_space(room_in_segment() + files_.spare_room(), files_.disk_is_full());
}

std::string writer::current_path() const {
    return files_.path_of(segment_name(header_.number));
}

}  // namespace corro::journal
