// SPDX-License-Identifier: Apache-2.0
// Reads a journal from any sequence number to its end, and checks every byte.
//
//     auto journal = co_await reader::open(&files, "data/journal", options);
//     if (!journal) ...                                   // journal.error().text
//     for (;;) {
//         auto commands = co_await (*journal)->next();
//         if (!commands) ...                              // damage: stop if (commands->empty()) break; for (const
//         domain::command& c : *commands) facility.apply(c);
//     }
//     auto log = co_await writer::open(std::move(lock), (*journal)->end(), writer_options);
//
// After a crash a journal may end with a torn write. That is not an error; `end()` reports it. Wrong bytes that had
// been durable are an error: `next` fails with the file, the offset and the expected block.
//
// Layout:  journal/segment_format.hpp.
// Limits:  block_commands_max commands at a time.
// Threads: one context.
// Cost:    one read per 128 KiB; no allocation between segments.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/large_array.hpp"
#include "domain/command.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/segment_format.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

struct reader_options {
    /// The required owner of the journal; nothing to accept any, in tools.
    std::optional<identity> venue;
    /// The first command to return; earlier ones are skipped, by whole segments where possible. From 1; 0 for the
    /// oldest existing one.
    std::uint64_t from_sequence = 1;
};

/// A segment's data from its header and from the next segment.
struct segment_summary {
    segment_header header;
    std::uint64_t bytes = 0;          ///< of the file
    std::uint64_t used_bytes = 0;     ///< up to the end of the last valid block, known when it was read
    std::uint64_t last_sequence = 0;  ///< when known; header.first_sequence - 1 if it is empty
    std::uint64_t digest = 0;         ///< of its commands, known when it was read
};

/// The state of a journal's end.
enum class tail_state : std::uint8_t {
    empty,   ///< no segment
    sealed,  ///< it was closed in order
    open,    ///< its writer did not close it; all its bytes are valid
    torn,    ///< its writer did not close it, and its last write is incomplete
};

/// The end of a journal, from a reader that reached it; a writer continues there.
struct journal_end {
    tail_state tail = tail_state::empty;
    std::uint64_t next_sequence = 1;
    std::uint64_t torn_bytes = 0;  ///< of the tail that was torn: from the end of the last sound block to the last byte
                                   ///< that is not zero
    std::vector<segment_summary> segments;  ///< oldest first
    /// The last mark of each other partition in the read blocks, packed; 0 for none. Those journals must have reached
    /// it.
    std::array<std::uint64_t, partitions_max> marks{};
};

class reader {
 public:
    /// Reads all segments' headers; they must belong to the venue and have no gap.
    /// @param files  Outlives the reader.
    /// @error foreign_venue, missing_segment, sequence_gap, broken_chain, damaged, foreign_file, unsupported_version,
    /// out_of_reach if the journal begins after `from_sequence`; the system's errors.
    [[nodiscard]] static io::task<std::expected<std::unique_ptr<reader>, problem>> open(storage* files,
                                                                                        std::string directory,
                                                                                        reader_options options);
    reader(const reader&) = delete;
    reader& operator=(const reader&) = delete;

    /// The next commands in sequence, some at a time; none at the end of the journal.
    ///
    /// @return  Valid until the next call.
    /// @error   damaged, sequence_gap, broken_chain; out_of_reach if the journal ends before the command in front of
    ///          `from_sequence`. After an error every call returns the same one.
    /// @suspend While the disk is read.
    [[nodiscard]] io::task<std::expected<std::span<const domain::command>, problem>> next();

    /// For a journal that is being written: makes `next` find what was written since the last call, also behind an end
    /// that it has returned. The commands of the last call are not valid any more.
    /// @error as `open` for a new segment; after an error of `next` that one.
    [[nodiscard]] io::task<std::expected<void, problem>> look_again();

    /// @pre `next` has returned the end of the journal (asserted).
    [[nodiscard]] const journal_end& end() const noexcept;

    /// All segments, oldest first; some members are filled in only when the segment has been read.
    [[nodiscard]] const std::vector<segment_summary>& segments() const noexcept { return end_.segments; }
    /// Bytes of the segments read and skipped so far, to show progress.
    [[nodiscard]] std::uint64_t bytes_done() const noexcept { return bytes_before_ + offset_; }
    [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_total_; }

 private:
    using outcome = std::expected<void, problem>;
    using answer = std::expected<bool, problem>;

    reader(storage* files, std::string directory, reader_options options);

    io::task<outcome> find_segments();
    io::task<outcome> look_at(std::uint64_t number);
    [[nodiscard]] outcome check_neighbours() const;
    outcome skip_segments();

    io::task<outcome> advance();
    io::task<outcome> begin_segment();
    io::task<outcome> after_block(block_header header, std::size_t size);
    io::task<outcome> is_not_a_block(std::string found);
    io::task<answer> durable_block_follows();
    io::task<answer> load(std::size_t wanted);
    io::task<std::expected<std::uint64_t, problem>> used_until(std::uint64_t from);
    [[nodiscard]] std::optional<block_header> block_in_window(std::size_t* size) const noexcept;
    void take(std::span<const std::byte> block, const block_header& header) noexcept;
    void take_marks(std::span<const std::uint64_t> marks) noexcept;
    void give(std::span<const std::byte> block, const block_header& header) noexcept;
    void preallocate_more() noexcept;
    void step(std::size_t bytes) noexcept;
    void seek(std::uint64_t offset) noexcept;
    outcome finish_segment();

    [[nodiscard]] segment_summary& current() noexcept { return end_.segments[current_]; }
    [[nodiscard]] const segment_summary& current() const noexcept { return end_.segments[current_]; }
    [[nodiscard]] bool is_last() const noexcept { return current_ + 1 == end_.segments.size(); }
    [[nodiscard]] std::string path_of(std::uint64_t number) const;
    [[nodiscard]] std::unexpected<problem> damage(journal_errc code, std::string found) const;
    [[nodiscard]] std::span<std::byte> window() noexcept;
    [[nodiscard]] std::span<const std::byte> window() const noexcept;

    storage* files_;
    std::string directory_;
    reader_options options_;
    journal_end end_;

    std::size_t current_ = 0;  // index of the current segment
    std::unique_ptr<stored_file> file_;
    std::uint64_t offset_ = 0;    // in the file, of the next block
    std::uint64_t expected_ = 1;  // sequence number of the next command
    std::uint64_t bytes_before_ = 0;
    std::uint64_t bytes_total_ = 0;
    bool at_end_ = false;
    std::optional<problem> failed_;

    base::large_array<std::byte> buffer_;
    std::size_t begin_ = 0;  // of the unprocessed bytes in the buffer; corresponds to offset_
    std::size_t filled_ = 0;
    std::byte* given_ = nullptr;  // the commands for the caller
    std::size_t given_count_ = 0;
};

}  // namespace corro::journal
