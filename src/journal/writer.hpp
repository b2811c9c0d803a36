// Writes the journal: commands in their sequence, to the disk before anybody is told of them.
//
//     auto lock = co_await directory_lock::take(&files, "data/journal");
//     ... a reader reads to the end, and gives every command to the facility ...
//     auto log = co_await writer::open(std::move(*lock), (*journal)->end(), options);
//     scope.spawn((*log)->run());
//     ...
//     if (!log.append(command)) ...             // not now, or never again: error() tells
//     facility.apply(command);                  // at once; its events wait
//     ... when durable_sequence() >= command.sequence, the events may leave; progressed() tells when to look ...
//
// What `durable_sequence` promises depends on the mode:
//
//   none   nothing; it is the last command appended. What the process has written survives its end, mostly.
//   async  the system has it: it survives the end of the process, not that of the machine. A sync follows within
//          async_sync_interval or so.
//   group  the disk has it. All that came while the disk was busy shares the next sync.
//   each   the disk has it, and every command had a sync of its own.
//
// In every mode a segment is synced before the next one begins. The first write or sync that fails ends the journal for
// good: `error` says why, nothing is acknowledged any more, and nothing is tried again, because a second sync that
// succeeds proves nothing. A full disk is no such failure: room is made for segments before they are needed, and
// `room` says how much of it is left.
//
// Layout:  journal/segment_format.hpp.
// Limits:  buffer_commands wait for the disk, as many again are on their way there.
// Threads: one context; `durable_sequence` and `written_sequence` any thread.
// Cost:    `append` copies 128 bytes; no allocation. Per block one write; in `group` one sync for all that was there.
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
/// The mode of that name; nothing for other words.
[[nodiscard]] std::optional<durability> durability_of(std::string_view name) noexcept;

/// What the disk has room for.
enum class journal_room : std::uint8_t {
    everything,
    cancels_only,    ///< the reserve is being used: only what closes orders may still be accepted
    operators_only,  ///< only the operators' part of the reserve is left: their kill switches, cancels and halts
    none,            ///< also after an error
};

struct writer_options {
    identity venue;
    durability mode = durability::group;
    /// Larger than any before in this journal; 0 for the last one plus 1.
    std::uint64_t epoch = 0;
    std::uint64_t segment_bytes = segment_bytes_default;  ///< a multiple of sector_bytes
    /// Room on the disk that only cancels may use, the last quarter of it only operators; a segment has room for more
    /// than that.
    std::uint64_t reserve_bytes = segment_bytes_default / 4;
    std::uint32_t buffer_commands = buffer_commands_default;  ///< at least block_commands_max
    // Retention: `forget_before` removes the oldest segments while more than either of these would remain behind the
    // snapshot. By default all are kept, because history is a query on the journal.
    std::uint64_t kept_segments_max = ~std::uint64_t{0};
    std::uint64_t kept_bytes_max = ~std::uint64_t{0};
    /// For the header of a journal that begins; one that goes on keeps what it has. Random: `id` and `hash_key`.
    venue_identity birth;
    /// In a venue of several shards, what the journals of all have on the disk: written to the headers and blocks.
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

/// How long the journal waits for the disk.
struct sync_statistics {
    std::uint64_t count = 0;
    std::chrono::nanoseconds total{0};
    std::chrono::nanoseconds longest{0};
};

class writer {
 public:
    /// Begins a new segment behind the end of the journal, and makes room for the next. On a full disk the segment is
    /// shorter than the options say, and `room` is as little as there is.
    ///
    /// @param end  Of a reader that was opened under this lock and came to the end.
    /// @error stale_epoch, disk_full, and what find_manifest and check_end say; what the system reports.
    /// @pre   The options are within their bounds (asserted).
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<writer>, problem>> open(directory_lock lock,
                                                                                        journal_end end,
                                                                                        writer_options options);
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    /// Leaves the journal as a crash would, if `close` was not called. @pre `run` has ended (asserted).
    ~writer();

    /// Takes a command to be written. Never suspends.
    /// @return False if the buffer is full, if there is no room on the disk, after an error and after `close`; the
    ///         command is then not in the journal, and the same sequence number is still the next.
    /// @pre    `command.sequence` is `next_sequence()` (asserted).
    [[nodiscard]] bool append(const domain::command& command) noexcept;

    /// Whether the buffer has room for a command; it has again when the disk has taken some.
    [[nodiscard]] bool has_buffer() const noexcept { return buffers_[filling_].count < options_.buffer_commands; }

    /// Writes what is appended until `close`, then seals the journal; ends early after an error.
    /// @suspend Most of the time.
    /// @overlap Once in the life of a writer (asserted).
    /// @cancel  Ends soon and leaves the journal as a crash would; `error` is operation_canceled then.
    [[nodiscard]] io::task<void> run();

    /// Lets `run` write what it has, seal the journal and end.
    void close() noexcept;

    /// The disk is taken for broken: whatever comes of a call that is under way, nothing is acknowledged any more. Any
    /// thread; `apply_write_result` or the end of the call makes the writer fail.
    void give_up() noexcept { given_up_.store(true, std::memory_order_release); }
    /// Fails with timed_out if the disk was given up; a call that is under way stays so, and `run` waits for it.
    void apply_write_result();

    /// Has `run` write the marks of the other shards soon, whether there are commands or not, and sync them.
    /// @return  A ticket; the marks are on the disk when `durable_progress` has reached it. `progressed` is set then.
    std::uint64_t write_marks() noexcept;
    [[nodiscard]] std::uint64_t durable_progress() const noexcept { return marks_on_disk_; }

    /// The highest sequence number for which the mode's promise holds.
    [[nodiscard]] std::uint64_t durable_sequence() const noexcept { return durable_.load(std::memory_order_acquire); }
    /// The last command that a reader of the files finds. Any thread. In mode `none` it is behind durable_sequence().
    [[nodiscard]] std::uint64_t written_sequence() const noexcept {
        return written_sequence_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }
    /// Set when `durable_sequence` has moved (in mode `none`: when a batch was written), so when a full buffer has room
    /// again; when there is room for another segment, or the disk turns out to be full; and when the writer has failed.
    /// For one waiter.
    [[nodiscard]] io::auto_event& progressed() noexcept { return progressed_; }

    /// Whether what one wants to append next has room on the disk. Falls to `cancels_only` before the disk is full, so
    /// ask before accepting an order.
    [[nodiscard]] journal_room room() const noexcept;
    /// Whether `room` is short only for the moment, because the room for the next segment is being made or what was
    /// appended is being written. Who waits for `progressed` instead of refusing finds room then, or a full disk.
    [[nodiscard]] bool space_is_being_made() const noexcept {
        return !disk_is_full_ && !failed_ && !closing_ && room() != journal_room::everything;
    }
    /// Whether the last attempt to make room met a full disk.
    [[nodiscard]] bool disk_is_full() const noexcept { return disk_is_full_; }

    /// What ended the journal; no code if nothing did.
    [[nodiscard]] const problem& error() const noexcept { return error_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }

    /// There is a snapshot of the state after command `sequence`, so older segments may go as the options say. Done by
    /// `run`, soon.
    void forget_before(std::uint64_t sequence) noexcept;

    [[nodiscard]] durability mode() const noexcept { return options_.mode; }
    [[nodiscard]] std::uint64_t epoch() const noexcept { return header_.epoch; }
    /// What the operator should know of the end that was found, in sentences.
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

    /// Commands in the form in which they are written: room for a block's header, then commands.
    struct buffer {
        explicit buffer(std::uint32_t capacity) : bytes(block_header_bytes + capacity * command_bytes) {}
        base::large_array<std::byte> bytes;
        std::uint32_t count = 0;
    };

    writer(directory_lock lock, journal_end end, writer_options options);

    // Commands to the disk (writer.cpp).
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

    // Segments and room (writer_segments.cpp).
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
    std::vector<segment_summary> segments_;  // behind the current one, oldest first
    segment_header header_;                  // of the current one
    std::unique_ptr<stored_file> file_;
    std::uint64_t offset_ = 0;
    manifest manifest_;        // as it is on the disk
    io::mutex manifest_lock_;  // held by the task that writes it
    std::vector<std::string> notices_;
    std::uint64_t digest_ = 0;                            // of the commands in the current one
    std::array<std::uint64_t, block_marks_max> marks_{};  // of the block that is being written
    std::array<std::uint64_t, shards_max> recorded_{};    // marks that a header or a block has, by shard
    std::uint32_t next_marked_ = 0;                       // the shard with whose mark the next block begins
    std::uint64_t marks_wanted_ = 0;                      // tickets that were given
    std::uint64_t marks_on_disk_ = 0;                     // and that are done
    std::unique_ptr<stored_file> spare_;                  // room for the next segment, under the name of a spare
    std::uint64_t spare_bytes_ = 0;

    std::array<buffer, 2> buffers_;
    std::uint32_t filling_ = 0;        // index of the buffer that `append` fills
    std::uint32_t leaving_count_ = 0;  // commands of the other one that are not written yet
    std::uint64_t next_sequence_;      // of what is appended next
    std::uint64_t synced_sequence_;    // the last one that the disk has
    // Both only grow, and are written by this context with release: the last one that the system has, and the last one
    // for which the mode's promise holds.
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
