// SPDX-License-Identifier: Apache-2.0
// The commit log of a host: commands in sequence, which become durable after they are appended.
//
// This is what a host and the followers of a log see. What makes commands durable derives from it: `writer` writes them
// to a disk. The calls for each command are inline and not virtual; an implementation works on whole batches, behind
// them.
//
//     if (!log.append(command)) ...             // not now, or after an error: see error()
//     facility.apply(command);                  // at once; the events wait ...
//     ... when durable_sequence() >= command.sequence, the events may leave; wait for progressed() ...
//
// Threads: one context; `durable_sequence`, `written_sequence` and `committed_sequence` any thread.
// Limits:  buffer_commands wait, and as many again are being made durable.
// Cost:    `append` copies 128 bytes; no allocation, no virtual call. Per batch one event for each follower.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/large_array.hpp"
#include "domain/command.hpp"
#include "io/sync/event.hpp"
#include "journal/errors.hpp"
#include "journal/log_space.hpp"
#include "journal/segment_format.hpp"

namespace corro::journal {

class log_follower;

class commit_log {
 public:
    commit_log(const commit_log&) = delete;
    commit_log& operator=(const commit_log&) = delete;

    /// Takes a command. Never suspends.
    /// @return False if the buffer or the disk is full, after an error and after `close`; the command is then not
    ///         in the log, and its sequence number is still the next one.
    /// @pre    `command.sequence` is `next_sequence()` (asserted).
    [[nodiscard]] bool append(const domain::command& command) noexcept {
        CORRO_ASSERT(command.sequence.value == next_sequence_, "commands must be journaled in sequence");
        batch& into = batches_[filling_];
        if (into.count == capacity_ || closing_ || room() == journal_room::none) return false;
        std::memcpy(into.command(into.count), &command, command_bytes);
        ++next_sequence_;
        if (into.count++ == 0) appended_.set();
        if (promises_nothing_) durable_.store(next_sequence_ - 1, std::memory_order_release);
        return true;
    }

    /// Whether the buffer has space for a command; it gets space when commands have been written.
    [[nodiscard]] bool has_buffer() const noexcept { return batches_[filling_].count < capacity_; }
    [[nodiscard]] std::uint64_t next_sequence() const noexcept { return next_sequence_; }

    /// The commands that still have disk space. Becomes `cancels_only` before the disk is full, so check it before
    /// accepting an order.
    [[nodiscard]] journal_room room() const noexcept {
        return failed_ ? journal_room::none : space_.room(leaving_count_ + batches_[filling_].count);
    }
    /// Whether `room` is limited only temporarily, because the next segment is being preallocated or commands are being
    /// written. After a wait for `progressed` there is space, or the disk is full.
    [[nodiscard]] bool space_is_being_made() const noexcept {
        return !space_.is_full() && !failed_ && !closing_ && room() != journal_room::everything;
    }
    /// Whether the last preallocation found a full disk.
    [[nodiscard]] bool disk_is_full() const noexcept { return space_.is_full(); }
    /// Grows with each new piece of disk space. A segment of the writer is one.
    [[nodiscard]] std::uint64_t extents_count() const noexcept { return extents_count_; }

    /// The highest sequence number for which the promise of the log's mode holds.
    [[nodiscard]] std::uint64_t durable_sequence() const noexcept { return durable_.load(std::memory_order_acquire); }
    /// The last command that a reader of the files finds. In a mode without a promise it is behind durable_sequence().
    [[nodiscard]] std::uint64_t written_sequence() const noexcept { return written_.load(std::memory_order_acquire); }
    /// The last command that is durable, and that a reader of the files finds: as far as a follower may read.
    [[nodiscard]] std::uint64_t committed_sequence() const noexcept {
        return std::min(durable_sequence(), written_sequence());
    }
    /// Set when `durable_sequence` has moved (in mode `none`: when a batch was written), so a full buffer has space
    /// again; when the next segment is preallocated, or the disk is found to be full; and when the log has failed.
    /// For one waiter, the host; others are followers (committed_reader.hpp).
    [[nodiscard]] io::auto_event& progressed() noexcept { return progressed_; }

    /// The error that ended the log; no code if there is none.
    [[nodiscard]] const problem& error() const noexcept { return error_; }
    [[nodiscard]] bool failed() const noexcept { return failed_; }
    /// Whether no command is taken any more, because `close` was called.
    [[nodiscard]] bool is_closing() const noexcept { return closing_; }
    /// Whether nothing will be committed any more: the log has ended, in order or with an error.
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }

 protected:
    /// Commands in their written form: space for a block's header, then commands.
    struct batch {
        explicit batch(std::uint32_t capacity) : bytes(block_header_bytes + capacity * command_bytes) {}
        [[nodiscard]] std::byte* command(std::size_t index) noexcept {
            return bytes.data() + block_header_bytes + index * command_bytes;
        }
        /// `count` commands from `index` on, behind the space for a header.
        [[nodiscard]] std::span<std::byte> block(std::size_t index, std::size_t commands_count) noexcept {
            CORRO_ASSERT(commands_count != 0 && index + commands_count <= count, "a block has commands of its batch");
            return {bytes.data() + index * command_bytes, block_header_bytes + commands_count * command_bytes};
        }
        base::large_array<std::byte> bytes;
        std::uint32_t count = 0;
    };

    /// @param promises_nothing  Whether a command counts as durable when it is appended.
    commit_log(std::uint64_t next_sequence, std::uint32_t buffer_commands, bool promises_nothing, log_space space)
        : capacity_(buffer_commands),
          promises_nothing_(promises_nothing),
          batches_{batch(buffer_commands), batch(buffer_commands)},
          next_sequence_(next_sequence),
          written_(next_sequence - 1),
          durable_(next_sequence - 1),
          space_(space) {
        CORRO_ASSERT(next_sequence != 0, "commands are numbered from 1");
        CORRO_ASSERT(buffer_commands >= block_commands_max, "the buffer holds a block");
    }
    /// @pre No follower is left (asserted).
    ~commit_log() { CORRO_ASSERT(followers_.empty(), "a log outlives its followers"); }

    // For the implementation, which works on one batch at a time while the host fills the other.

    /// The commands that were appended since the last call; nullptr when there are none.
    /// @pre The batch before was released (asserted).
    [[nodiscard]] batch* take_batch() noexcept {
        CORRO_ASSERT(leaving_count_ == 0 || failed_, "only one batch at a time leaves");
        batch& ready = batches_[filling_];
        if (ready.count == 0) return nullptr;
        leaving_count_ = ready.count;
        filling_ ^= 1U;
        return &ready;
    }
    void release(batch& written) noexcept { written.count = 0; }
    /// A reader of the files now finds `count` more commands of the batch. @pre It has them (asserted).
    void note_written(std::uint32_t count) noexcept {
        CORRO_ASSERT(count <= leaving_count_, "only appended commands can be written");
        leaving_count_ -= count;
        written_.store(written_sequence() + count, std::memory_order_release);
    }
    /// Everything up to `sequence` is durable. @pre It was written (asserted).
    void acknowledge(std::uint64_t sequence) noexcept {
        if (sequence <= durable_.load(std::memory_order_relaxed)) return;
        CORRO_ASSERT(sequence <= written_sequence(), "only written commands can be durable");
        durable_.store(sequence, std::memory_order_release);
        note_progress();
    }
    /// Wakes the host and the followers.
    void note_progress() noexcept;
    void set_space(std::uint64_t free_bytes, bool disk_is_full) noexcept {
        space_.set_free(free_bytes);
        space_.set_full(disk_is_full);
    }
    void note_extent() noexcept { ++extents_count_; }
    [[nodiscard]] const log_space& space() const noexcept { return space_; }
    /// Set when there is work: commands, or an end.
    [[nodiscard]] io::auto_event& appended() noexcept { return appended_; }
    /// No command is taken any more.
    void begin_close() noexcept {
        closing_ = true;
        appended_.set();
    }
    /// The implementation has stopped: nothing will be committed any more.
    void note_end() noexcept {
        has_ended_ = true;
        note_progress();
    }
    /// The log has failed: nothing is acknowledged any more. The first call counts.
    /// @return Whether it was the first.
    bool end_with(problem what);

 private:
    friend class log_follower;

    const std::uint32_t capacity_;
    const bool promises_nothing_;
    bool closing_ = false;
    bool failed_ = false;
    bool has_ended_ = false;
    std::uint32_t filling_ = 0;        // index of the batch that `append` fills
    std::uint32_t leaving_count_ = 0;  // commands of the other one that are not written yet
    std::array<batch, 2> batches_;
    std::uint64_t next_sequence_;  // of the next command to append
    // Both only grow; this context writes them with release.
    std::atomic<std::uint64_t> written_;
    std::atomic<std::uint64_t> durable_;
    log_space space_;
    std::uint64_t extents_count_ = 0;
    io::auto_event appended_;
    io::auto_event progressed_;
    std::vector<log_follower*> followers_;
    problem error_;
};

/// Waits for the progress of a commit log, beside its host.
///
/// Threads: the log's context.
class log_follower {
 public:
    /// `log` outlives the follower.
    explicit log_follower(commit_log& log) : log_(log) { log.followers_.push_back(this); }
    log_follower(const log_follower&) = delete;
    log_follower& operator=(const log_follower&) = delete;
    ~log_follower() { std::erase(log_.followers_, this); }

    [[nodiscard]] const commit_log& log() const noexcept { return log_; }
    /// Set when the log has progressed or failed. For one waiter.
    [[nodiscard]] io::auto_event& progressed() noexcept { return progressed_; }

 private:
    friend class commit_log;
    commit_log& log_;
    io::auto_event progressed_;
};

inline void commit_log::note_progress() noexcept {
    progressed_.set();
    for (log_follower* each : followers_) each->progressed_.set();
}

inline bool commit_log::end_with(problem what) {
    if (failed_) return false;
    failed_ = true;
    error_ = std::move(what);
    appended_.set();
    note_progress();
    return true;
}

}  // namespace corro::journal
