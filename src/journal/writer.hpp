// SPDX-License-Identifier: Apache-2.0
// Writes the journal: the commit log (commit_log.hpp) of a host on a disk.
//
//     auto lock = co_await directory_lock::take(&files, "data/journal");
//     ... a reader reads to the end, and gives every command to the facility ...
//     auto log = co_await writer::open(std::move(*lock), (*journal)->end(), options);
//     scope.spawn((*log)->run());
//     ... the host appends to it ...
//
// What `durable_sequence` promises depends on the mode:
//
//   none   nothing; it is the last command appended. Written commands usually survive the end of the process.
//   async  the system has it: it survives the end of the process, but not of the machine. A sync follows within about
//          async_sync_interval.
//   group  the disk has it. All commands that arrive while the disk is busy share the next sync.
//   each   the disk has it, and every command has a sync of its own.
//
// In every mode a segment is synced before the next one begins. The first write or sync that fails ends the journal:
// `error` has the reason, nothing is acknowledged any more, and nothing is retried, because a second sync that succeeds
// proves nothing. A full disk is not such a failure: segments are preallocated before they are needed, and `room`
// returns how much space is left.
//
// Layout:  journal/segment_format.hpp.
// Limits:  buffer_commands wait for the disk, and as many again are being written.
// Threads: one context; `durable_sequence` and `written_sequence` any thread.
// Cost:    `append` copies 128 bytes; no allocation. Per block one write; in `group` one sync for all waiting commands.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/sync/event.hpp"
#include "io/task/task.hpp"
#include "journal/commit_log.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/limits.hpp"
#include "journal/partition_board.hpp"
#include "journal/peer_marks.hpp"
#include "journal/reader.hpp"
#include "journal/segment_files.hpp"
#include "journal/segment_format.hpp"
#include "journal/storage.hpp"
#include "journal/sync_meter.hpp"

namespace corro::journal {

enum class durability : std::uint8_t { none, async, group, each };

[[nodiscard]] std::string_view name_of(durability mode) noexcept;
/// The mode of that name; nothing for other names.
[[nodiscard]] std::optional<durability> durability_of(std::string_view name) noexcept;

struct writer_options {
    identity venue;
    durability mode = durability::group;
    /// Must be larger than any earlier one in this journal; 0 for the last one plus 1.
    std::uint64_t epoch = 0;
    std::uint64_t segment_bytes = segment_bytes_default;  ///< a multiple of sector_bytes
    /// Disk space that only cancels may use, and the last quarter of it only operators; a segment must be larger.
    std::uint64_t reserve_bytes = segment_bytes_default / 4;
    std::uint32_t buffer_commands = buffer_commands_default;  ///< at least block_commands_max
    // Retention: `forget_before` removes the oldest segments while more than either of these would remain after the
    // snapshot. By default all are kept, because history queries read the journal.
    std::uint64_t kept_segments_max = ~std::uint64_t{0};
    std::uint64_t kept_bytes_max = ~std::uint64_t{0};
    /// For the header of a new journal; an existing one keeps its own. `id` and `hash_key` are random.
    venue_identity birth;
    /// In a venue with several partitions, the progress of all journals, which is written to headers and blocks.
    std::shared_ptr<partition_board> board;
    /// Time of day for the headers of segments, in nanoseconds; null for the context's.
    std::int64_t (*wall_clock_ns)() = nullptr;
};

struct writer_statistics {
    std::uint64_t blocks_count = 0;
    std::uint64_t syncs_count = 0;
    std::uint64_t bytes = 0;  ///< written, with headers and without padding
    std::uint64_t segments_begun_count = 0;
    std::uint64_t segments_removed_count = 0;
};

class writer final : public commit_log {
 public:
    /// Begins a new segment after the end of the journal, and preallocates the next. On a full disk the segment is
    /// shorter than in the options, and `room` is correspondingly small.
    ///
    /// @param end  Of a reader that was opened under this lock and has reached the end.
    /// @error stale_epoch, disk_full, those of find_manifest and check_end; the system's errors.
    /// @pre   The options are within their bounds (asserted).
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<writer>, problem>> open(directory_lock lock,
                                                                                        journal_end end,
                                                                                        writer_options options);
    /// Without `close`, leaves the journal as after a crash. @pre `run` has ended (asserted).
    ~writer();

    /// Writes appended commands until `close`, then seals the journal; ends early after an error.
    /// @suspend Most of the time.
    /// @overlap Only one call per writer (asserted).
    /// @cancel  Ends soon and leaves the journal as after a crash; `error` is then operation_canceled.
    [[nodiscard]] io::task<void> run();

    /// Makes `run` write its commands, seal the journal and end.
    void close() noexcept;

    /// Gives up the disk: nothing is acknowledged any more, whatever the result of a call in progress. Any thread;
    /// `apply_write_result` or the end of the call makes the writer fail.
    void give_up() noexcept { given_up_.store(true, std::memory_order_release); }
    /// Fails with timed_out if the disk was given up; `run` still waits for a call in progress.
    void apply_write_result();

    /// Makes `run` write the marks of the other partitions soon, with or without commands, and sync them.
    /// @return  A ticket; the marks are durable when `durable_progress` has reached it. `progressed` is then set.
    std::uint64_t write_marks() noexcept;
    [[nodiscard]] std::uint64_t durable_progress() const noexcept { return marks_on_disk_; }

    /// There is a snapshot of the state after command `sequence`, so older segments may be removed according to the
    /// options. `run` does that soon.
    void forget_before(std::uint64_t sequence) noexcept;

    [[nodiscard]] durability mode() const noexcept { return options_.mode; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return header_.epoch; }
    /// Notices for the operator about the journal's end, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return files_.notices(); }
    /// The random numbers of the venue.
    [[nodiscard]] const venue_identity& birth() const noexcept { return header_.birth; }
    /// Any thread.
    [[nodiscard]] sync_statistics syncs() const noexcept { return syncs_.statistics(); }
    [[nodiscard]] const writer_statistics& statistics() const noexcept { return statistics_; }

 private:
    using outcome = segment_files::outcome;

    writer(directory_lock lock, journal_end end, writer_options options);

    // Writing commands (writer.cpp).
    io::task<void> work();
    io::task<void> write_out(batch* from);
    io::task<bool> write_block(batch* from, std::uint32_t index, std::uint32_t count);
    io::task<bool> write_marks_alone();
    io::task<bool> put(std::span<const std::byte> block);
    io::task<bool> sync();
    io::task<std::error_code> timed_sync();
    void synced(std::uint64_t sequence) noexcept;
    io::task<void> maintain_progress();
    io::task<void> sync_in_background();
    io::task<void> seal_and_close();
    [[nodiscard]] bool still_good();
    void fail(std::error_code code, std::string_view what, std::string path);
    void fail(problem what);

    // From one segment to the next (writer_segments.cpp).
    io::task<outcome> begin_segment();
    io::task<bool> next_segment();
    io::task<void> maintain_segments();
    io::task<void> remove_old_segments();
    [[nodiscard]] std::uint64_t room_in_segment() const noexcept;
    void note_space() noexcept;
    [[nodiscard]] std::string current_path() const;

    writer_options options_;
    segment_files files_;
    peer_marks peers_;

    // The current segment.
    segment_header header_;
    std::unique_ptr<stored_file> file_;
    std::uint64_t offset_ = 0;
    std::uint64_t digest_ = 0;  // of its commands

    std::uint64_t synced_sequence_;    // the last synced one
    std::uint64_t marks_wanted_ = 0;   // the last ticket
    std::uint64_t marks_on_disk_ = 0;  // the last ticket that is done

    io::auto_event wanted_;      // a spare, or the removal of segments, or the end
    io::auto_event spare_made_;  // or the writer has failed
    io::auto_event written_;     // for the syncs in the background
    io::auto_event sync_ended_;
    bool sync_under_way_ = false;
    bool started_ = false;
    bool running_ = false;
    std::atomic<bool> given_up_{false};  // false -> true (`give_up`)
    writer_statistics statistics_;
    sync_meter syncs_;
};

}  // namespace corro::journal
