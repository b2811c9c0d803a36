// Writes the journal: commands in sequence, durable before their events leave.
//
//     auto lock = co_await directory_lock::take(&files, "data/journal");
//     ... a reader reads to the end, and gives every command to the facility ...
//     auto log = co_await writer::open(std::move(*lock), (*journal)->end(), options);
//     scope.spawn((*log)->run());
//     ...
//     if (!log.append(command)) ...             // not now, or after an error: see error() facility.apply(command); //
//     at once; the events wait ... when durable_sequence() >= command.sequence, the events may leave; wait for
//     progressed() ...
//
// What `durable_sequence` promises depends on the mode:
//
//   none   nothing; it is the last command appended. Written commands usually survive the end of the process. async the
//   system has it: it survives the end of the process, but not of the machine. A sync follows within about
//   async_sync_interval.
//   group  the disk has it. All commands that arrive while the disk is busy share the next sync. each the disk has it,
//   and every command has a sync of its own.
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

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_array.hpp"
#include "domain/command.hpp"
#include "io/sync/event.hpp"
#include "io/sync/mutex.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/limits.hpp"
#include "journal/manifest.hpp"
#include "journal/reader.hpp"
#include "journal/segment_format.hpp"
#include "journal/shard_board.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

enum class durability : std::uint8_t { none, async, group, each };

[[nodiscard]] std::string_view name_of(durability mode) noexcept;
/// The mode of that name; nothing for other names.
[[nodiscard]] std::optional<durability> durability_of(std::string_view name) noexcept;

/// The commands that the disk has space for.
enum class journal_room : std::uint8_t {
    everything,
    cancels_only,    ///< the reserve is in use: only requests that close orders may be accepted
    operators_only,  ///< only the operators' part of the reserve is left: their kill switches, cancels and halts
    none,            ///< also after an error
};

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
    std::shared_ptr<shard_board> shards;
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

/// The time that the journal waits for the disk.
struct sync_statistics {
    std::uint64_t count = 0;
    std::chrono::nanoseconds total{0};
    std::chrono::nanoseconds longest{0};
};

class writer {
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
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    /// Without `close`, leaves the journal as after a crash. @pre `run` has ended (asserted).
    ~writer();

    /// Takes a command to be written. Never suspends.
    /// @return False if the buffer or the disk is full, after an error and after `close`; the command is then not
    ///         in the journal, and its sequence number is still the next one.
    /// @pre    `command.sequence` is `next_sequence()` (asserted).
    [[nodiscard]] bool append(const domain::command& command) noexcept;

    /// Whether the buffer has space for a command; it gets space when commands have been written.
    [[nodiscard]] bool has_buffer() const noexcept { return buffers_[filling_].count < options_.buffer_commands; }

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

    /// The highest sequence number for which the mode's promise holds.
    [[nodiscard]] std::uint64_t durable_sequence() const noexcept { return durable_.load(std::memory_order_acquire); }
    /// The last command that a reader of the files finds. Any thread. In mode `none` it is behind durable_sequence().
    [[nodiscard]] std::uint64_t written_sequence() const noexcept {
        return written_sequence_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }
    /// Set when `durable_sequence` has moved (in mode `none`: when a batch was written), so a full buffer has space
    /// again; when the next segment is preallocated, or the disk is found to be full; and when the writer has failed.
    /// For one waiter.
    [[nodiscard]] io::auto_event& progressed() noexcept { return progressed_; }

    /// The commands that still have disk space. Becomes `cancels_only` before the disk is full, so check it before
    /// accepting an order.
    [[nodiscard]] journal_room room() const noexcept;
    /// Whether `room` is limited only temporarily, because the next segment is being preallocated or commands are being
    /// written. After a wait for `progressed` there is space, or the disk is full.
    [[nodiscard]] bool space_is_being_made() const noexcept {
        return !disk_is_full_ && !failed_ && !closing_ && room() != journal_room::everything;
    }
    /// Whether the last preallocation found a full disk.
    [[nodiscard]] bool disk_is_full() const noexcept { return disk_is_full_; }

    /// The error that ended the journal; no code if there is none.
    [[nodiscard]] const problem& error() const noexcept { return error_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }

    /// There is a snapshot of the state after command `sequence`, so older segments may be removed according to the
    /// options. `run` does that soon.
    void forget_before(std::uint64_t sequence) noexcept;

    [[nodiscard]] durability mode() const noexcept { return options_.mode; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return header_.epoch; }
    /// Notices for the operator about the journal's end, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }
    /// The random numbers of the venue.
    [[nodiscard]] const venue_identity& birth() const noexcept { return header_.birth; }
    /// Any thread.
    [[nodiscard]] sync_statistics syncs() const noexcept {
        return {syncs_count_.load(std::memory_order_relaxed),
                std::chrono::nanoseconds(syncs_ns_.load(std::memory_order_relaxed)),
                std::chrono::nanoseconds(longest_sync_ns_.load(std::memory_order_relaxed))};
    }
    [[nodiscard]] const writer_statistics& statistics() const noexcept { return statistics_; }

 private:
    using outcome = std::expected<void, problem>;

    /// Commands in their written form: space for a block's header, then commands.
    struct buffer {
        explicit buffer(std::uint32_t capacity) : bytes(block_header_bytes + capacity * command_bytes) {}
        base::large_array<std::byte> bytes;
        std::uint32_t count = 0;
    };

    writer(directory_lock lock, journal_end end, writer_options options);

    // Writing commands (writer.cpp).
    io::task<void> work();
    io::task<void> write_out(buffer* from);
    io::task<bool> write_block(buffer* from, std::uint32_t index, std::uint32_t count);
    io::task<bool> write_marks_alone();
    io::task<bool> sync();
    void synced(std::uint64_t sequence) noexcept;
    [[nodiscard]] packed_marks current_progress() noexcept;
    [[nodiscard]] bool marks_are_behind() const noexcept;
    io::task<void> maintain_progress();
    io::task<void> sync_in_background();
    io::task<void> seal_and_close();
    void acknowledge(std::uint64_t sequence) noexcept;
    void note_sync(std::chrono::nanoseconds took) noexcept;
    [[nodiscard]] bool still_good();
    void fail(std::error_code code, std::string_view what, std::string path);
    void fail(problem what);

    // Segments and disk space (writer_segments.cpp).
    io::task<outcome> begin_segment();
    io::task<std::error_code> sync_names();
    io::task<bool> next_segment();
    io::task<outcome> make_spare();
    io::task<outcome> make_first_spare();
    io::task<outcome> make_spare_of(std::uint64_t bytes);
    io::task<outcome> tidy_up(std::uint64_t torn_bytes, bool is_sealed);
    io::task<std::error_code> keep_torn_bytes(stored_file* from, std::uint64_t count);
    io::task<outcome> take_manifest(journal_end end);
    io::task<outcome> save_manifest();
    io::task<outcome> record_newest();
    io::task<outcome> record_end();
    io::task<outcome> record_oldest(std::uint64_t number);
    io::task<void> maintain_segments();
    io::task<void> remove_old_segments();
    [[nodiscard]] bool may_remove_oldest() const noexcept;
    [[nodiscard]] std::uint64_t room_in_segment() const noexcept;
    [[nodiscard]] std::uint64_t bytes_needed(std::uint64_t commands_count) const noexcept;
    [[nodiscard]] std::uint64_t bytes_left() const noexcept;
    [[nodiscard]] std::string path_of(std::string_view name) const;

    directory_lock lock_;
    storage* files_;
    writer_options options_;
    std::vector<segment_summary> segments_;  // older than the current one, oldest first
    segment_header header_;                  // of the current one
    std::unique_ptr<stored_file> file_;
    std::uint64_t offset_ = 0;
    manifest manifest_;        // as last written
    io::mutex manifest_lock_;  // held by the task that writes it
    std::vector<std::string> notices_;
    std::uint64_t digest_ = 0;                            // of the commands in the current one
    std::array<std::uint64_t, block_marks_max> marks_{};  // of the block in progress
    std::array<std::uint64_t, shards_max> recorded_{};    // marks in headers and blocks, by partition
    std::uint32_t next_marked_ = 0;                       // the partition of the next block's first mark
    std::uint64_t marks_wanted_ = 0;                      // the last ticket
    std::uint64_t marks_on_disk_ = 0;                     // the last ticket that is done
    std::unique_ptr<stored_file> spare_;                  // the preallocated next segment, under the name of a spare
    std::uint64_t spare_bytes_ = 0;

    std::array<buffer, 2> buffers_;
    std::uint32_t filling_ = 0;        // index of the buffer that `append` fills
    std::uint32_t leaving_count_ = 0;  // commands of the other one that are not written yet
    std::uint64_t next_sequence_;      // of the next command to append
    std::uint64_t synced_sequence_;    // the last synced one
    // Both only grow; this context writes them with release. The last command that the system has, and the last one for
    // which the mode's promise holds.
    std::atomic<std::uint64_t> written_sequence_;
    std::atomic<std::uint64_t> durable_;

    io::auto_event appended_;
    io::auto_event progressed_;
    io::auto_event wanted_;      // a spare, or the removal of segments, or the end
    io::auto_event spare_made_;  // or the writer has failed
    io::auto_event written_;     // for the syncs in the background
    io::auto_event sync_ended_;
    bool sync_under_way_ = false;
    bool disk_is_full_ = false;
    bool started_ = false;
    bool running_ = false;
    bool closing_ = false;
    bool failed_ = false;
    std::atomic<bool> given_up_{false};  // false -> true (`give_up`)
    std::uint64_t snapshot_sequence_ = 0;
    problem error_;
    writer_statistics statistics_;
    // Written by this context.
    std::atomic<std::uint64_t> syncs_count_{0};
    std::atomic<std::int64_t> syncs_ns_{0};
    std::atomic<std::int64_t> longest_sync_ns_{0};
};

}  // namespace corro::journal
