#include "journal/writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "base/byte_order.hpp"
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

writer::writer(directory_lock lock, journal_end end, writer_options options)
    : lock_(std::move(lock)),
      files_(&lock_.files()),
      options_(std::move(options)),
      segments_(std::move(end.segments)),
      buffers_{buffer(options_.buffer_commands), buffer(options_.buffer_commands)},
      next_sequence_(end.next_sequence),
      synced_sequence_(end.next_sequence - 1),
      written_sequence_(end.next_sequence - 1),
      durable_(end.next_sequence - 1) {
    CORRO_ASSERT(options_.segment_bytes >= segment_bytes_min && options_.segment_bytes <= segment_bytes_max &&
                     options_.segment_bytes % sector_bytes == 0,
                 "the size of a segment must be within its bounds");
    // Otherwise orders would wait forever for space, on a disk that is not full.
    CORRO_ASSERT(options_.reserve_bytes + bytes_needed(1) + segment_header_bytes + seal_bytes < options_.segment_bytes,
                 "a segment must have space for the reserve and an order");
    CORRO_ASSERT(options_.buffer_commands >= block_commands_max, "the buffer holds a block");
    CORRO_ASSERT(options_.shards == nullptr || options_.venue.shard < shards_max, "a partition has a mark");
    header_.marks = end.marks;
}

writer::~writer() {
    CORRO_ASSERT(!running_, "`run` must have ended before the writer is destroyed");
}

bool writer::append(const domain::command& command) noexcept {
    CORRO_ASSERT(command.sequence.value == next_sequence_, "commands must be journaled in sequence");
    buffer& into = buffers_[filling_];
    if (into.count == options_.buffer_commands || closing_ || room() == journal_room::none) return false;
    std::memcpy(into.bytes.data() + block_header_bytes + std::size_t{into.count} * command_bytes, &command,
                command_bytes);
    ++next_sequence_;
    if (into.count++ == 0) appended_.set();
    if (options_.mode == durability::none) durable_.store(next_sequence_ - 1, std::memory_order_release);
    return true;
}

std::uint64_t writer::write_marks() noexcept {
    ++marks_wanted_;
    appended_.set();
    return marks_wanted_;
}

void writer::close() noexcept {
    closing_ = true;
    appended_.set();
}

io::task<void> writer::run() {
    CORRO_ASSERT(!started_, "`run` can be called only once");
    started_ = running_ = true;
    io::task_scope helpers(co_await io::this_context());
    helpers.spawn(maintain_segments());
    if (options_.mode == durability::async) helpers.spawn(sync_in_background());
    if (options_.shards != nullptr) helpers.spawn(maintain_progress());
    co_await work();
    // No command waits for their work.
    helpers.request_stop();
    co_await helpers.join();
    if (!failed_) co_await seal_and_close();
    spare_.reset();
    file_.reset();
    running_ = false;
    progressed_.set();
}

io::task<void> writer::work() {
    while (!failed_) {
        buffer& ready = buffers_[filling_];
        if (ready.count != 0) {
            leaving_count_ = ready.count;
            filling_ ^= 1U;
            co_await write_out(&ready);
            ready.count = 0;
            // In the other modes `synced` sets it.
            if (options_.mode == durability::none) progressed_.set();
            continue;
        }
        if (marks_on_disk_ != marks_wanted_) {
            const bool done = co_await write_marks_alone();
            if (done) progressed_.set();
            continue;
        }
        if (closing_) co_return;
        const std::error_code stopped = co_await appended_.wait();
        if (stopped) fail(stopped, "was stopped", lock_.path());
    }
}

/// Writes all commands of a buffer, in as many blocks as necessary.
io::task<void> writer::write_out(buffer* from) {
    const bool one_by_one = options_.mode == durability::each;
    std::uint32_t index = 0;
    while (index < from->count && !failed_) {
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

io::task<bool> writer::write_block(buffer* from, std::uint32_t index, std::uint32_t count) {
    // The header overwrites the end of the command before it, which has been written already.
    const std::span<std::byte> block(from->bytes.data() + std::size_t{index} * command_bytes,
                                     block_header_bytes + std::size_t{count} * command_bytes);
    encode_block(header_, written_sequence() + 1, synced_sequence_, block, current_progress());
    const io::io_result done = co_await file_->write_at(offset_, block);
    if (!done) {
        fail(done.error, "writing failed", path_of(segment_name(header_.number)));
        co_return false;
    }
    if (!still_good()) co_return false;
    offset_ += padded(block.size());
    block_header about;
    about.first_sequence = written_sequence() + 1;
    about.commands_count = count;
    about.checksum = base::load_le<std::uint32_t>(block.data() + 4);
    digest_ = digest_after(digest_, about);
    written_sequence_.store(written_sequence() + count, std::memory_order_release);
    leaving_count_ -= count;
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
    encode_block(header_, written_sequence() + 1, synced_sequence_, block, current_progress());
    const io::io_result done = co_await file_->write_at(offset_, block);
    if (!done) {
        fail(done.error, "writing failed", path_of(segment_name(header_.number)));
        co_return false;
    }
    offset_ += padded(block.size());
    const bool is_synced = co_await sync();
    if (is_synced) marks_on_disk_ = ticket;
    co_return is_synced;
}

/// The progress of the other partitions for a block's header: as many as fit, in turns.
packed_marks writer::current_progress() noexcept {
    if (options_.shards == nullptr) return {};
    std::size_t count = 0;
    std::uint32_t shard = next_marked_;
    for (std::uint32_t looked_at = 0; looked_at < shards_max && count < marks_.size(); ++looked_at) {
        const std::uint64_t mark = shard == options_.venue.shard ? 0 : options_.shards->packed(shard);
        shard = (shard + 1) % shards_max;
        if (mark == 0) continue;
        marks_[count++] = mark;
        recorded_[unpack_mark(mark).shard] = mark;
    }
    next_marked_ = shard;
    return std::span(marks_).first(count);
}

bool writer::marks_are_behind() const noexcept {
    for (std::uint32_t shard = 0; shard < shards_max; ++shard) {
        const std::uint64_t mark = shard == options_.venue.shard ? 0 : options_.shards->packed(shard);
        if (mark != 0 && mark != recorded_[shard]) return true;
    }
    return false;
}

/// Records the progress of the other partitions, also while no command is appended here. On a disk that is almost full
/// it leaves the space to commands.
io::task<void> writer::maintain_progress() {
    while (!failed_) {
        const std::error_code stopped = co_await io::sleep_for(marks_interval);
        if (stopped) co_return;
        if (!closing_ && room() == journal_room::everything && marks_are_behind()) static_cast<void>(write_marks());
    }
}

/// Everything up to `sequence` is durable.
void writer::synced(std::uint64_t sequence) noexcept {
    if (sequence <= synced_sequence_) return;
    synced_sequence_ = sequence;
    if (options_.shards != nullptr) options_.shards->note(options_.venue.shard, sequence);
}

/// Syncs the earlier writes.
io::task<bool> writer::sync() {
    const std::uint64_t until = written_sequence();
    io::context& on = co_await io::this_context();
    const io::steady_time begin = on.now();
    const std::error_code error = co_await file_->sync_data();
    note_sync(on.now() - begin);
    if (error) {
        fail(error, "syncing failed", path_of(segment_name(header_.number)));
        co_return false;
    }
    if (!still_good()) co_return false;
    synced(until);
    ++statistics_.syncs_count;
    co_return true;
}

/// In mode async: syncs after writes, at most once per interval.
io::task<void> writer::sync_in_background() {
    while (!failed_) {
        std::error_code stopped = co_await written_.wait();
        if (stopped) co_return;
        stopped = co_await io::sleep_for(async_sync_interval);
        if (stopped || failed_) co_return;
        const std::uint64_t until = written_sequence();
        const std::string path = path_of(segment_name(header_.number));
        sync_under_way_ = true;
        io::context& on = co_await io::this_context();
        const io::steady_time begin = on.now();
        const std::error_code error = co_await file_->sync_data();
        note_sync(on.now() - begin);
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
    const std::string path = path_of(segment_name(header_.number));
    std::array<std::byte, block_header_bytes> seal;
    encode_seal(header_, next_sequence_, synced_sequence_, seal, current_progress());
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
    outcome recorded = co_await record_end();
    if (!recorded) {
        fail(std::move(recorded.error()));
        co_return;
    }
    // If this fails, the next writer removes the file.
    error = co_await files_->remove(path_of(spare_name));
}

void writer::note_sync(std::chrono::nanoseconds took) noexcept {
    syncs_count_.fetch_add(1, std::memory_order_relaxed);
    syncs_ns_.fetch_add(took.count(), std::memory_order_relaxed);
    longest_sync_ns_.store(std::max(longest_sync_ns_.load(std::memory_order_relaxed), took.count()),
                           std::memory_order_relaxed);
}

void writer::acknowledge(std::uint64_t sequence) noexcept {
    if (sequence <= durable_.load(std::memory_order_relaxed)) return;
    durable_.store(sequence, std::memory_order_release);
    progressed_.set();
}

/// Called after every write and sync. When the disk has been given up, a late success is neither undone nor
/// acknowledged.
bool writer::still_good() {
    if (given_up_.load(std::memory_order_acquire)) [[unlikely]]
        apply_write_result();
    return !failed_;
}

void writer::apply_write_result() {
    if (!given_up_.load(std::memory_order_acquire)) return;
    fail(std::make_error_code(std::errc::timed_out), "the disk does not respond", lock_.path());
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
    if (failed_) return;
    failed_ = true;
    error_ = std::move(what);
    for (io::auto_event* each : {&appended_, &progressed_, &wanted_, &spare_made_, &written_, &sync_ended_})
        each->set();
}

}  // namespace corro::journal
