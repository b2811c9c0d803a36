// SPDX-License-Identifier: Apache-2.0
// Copies a journal while its venue writes to it, without its lock.
//
//     copier copy(&files, "data/journal", &files, "backup/journal");
//     auto done = co_await copy.catch_up();                       // the whole journal, which may take long
//     copy.begin_moment(); if (done) done = co_await copy.catch_up(); // the commands since then, which are few if
//     (done) done = co_await copy.finish({{copy.last_sequence()}});
//
// The journals of a venue's partitions are cut to one moment. For every block after `begin_moment` the copier keeps the
// progress of the other partitions that the block records, and `cut` ends the copy before the first block that records
// more than their copies have. When no copy has such a block any more, the copies together are what a power cut would
// have left at some moment after `begin_moment`: a block records everything that was durable when it was made, and an
// answer is sent only when its command is durable. Commands that were durable at `begin_moment` are never cut off.
//
// Blocks are checked during the copy, and only complete ones are copied. The copy ends with a seal, and its manifest is
// written last, so that a venue does not start on an unfinished copy.
//
// Layout:  journal/segment_format.hpp.
// Limits:  memory for the marks of blocks after `begin_moment`: at most 120 bytes for each block.
// Threads: one context.
// Cost:    reads the journal once and writes it once, up to 1 MiB at a time; the writer does not notice.
// Source:  docs/spec/journal.md, copies.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/large_array.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/limits.hpp"
#include "journal/manifest.hpp"
#include "journal/segment_format.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

class copier {
 public:
    using outcome = std::expected<void, problem>;

    /// @param from, to  Outlive the copier.
    /// @param copy      An existing, empty directory.
    copier(storage* from, std::string directory, storage* to, std::string copy);
    copier(const copier&) = delete;
    copier& operator=(const copier&) = delete;

    /// Sets a function that is called after each copied piece of at most 1 MiB.
    void watch(std::function<void()> each_piece) { on_progress_ = std::move(each_piece); }

    /// Copies the part of the journal that the copy does not have, including blocks that are written during the
    /// call.
    /// @error damaged, missing_segment, missing_manifest, sequence_gap, broken_chain, foreign_venue; the system's
    ///        errors, such as no_space_on_device.
    [[nodiscard]] io::task<outcome> catch_up();

    /// Blocks that are copied from now on may be cut off again.
    void begin_moment() noexcept { is_cuttable_ = true; }

    /// Ends the copy before the first block that records more than the copies of the other partitions
    /// have.
    /// @param last_sequences  The last sequence number of each copy, by partition.
    /// @return  Whether there was such a block.
    bool cut(std::span<const std::uint64_t> last_sequences);

    /// Seals the copy and writes its manifest; the copy is then durable.
    /// @param last_sequences  The last sequence number of each copy, by partition: the seal records them.
    /// @error different_moments if a block that cannot be cut off records more; missing_end, missing_segment; the
    ///        system's errors.
    /// @pre   There is a segment (asserted).
    [[nodiscard]] io::task<outcome> finish(std::span<const std::uint64_t> last_sequences);

    /// Copies a small file beside the segments. @return Whether the file exists.
    [[nodiscard]] io::task<std::expected<bool, problem>> copy_file(std::string_view name);

    [[nodiscard]] bool has_segments() const noexcept { return !copied_.empty(); }
    [[nodiscard]] std::size_t segments_count() const noexcept { return copied_.size(); }
    /// The header of the last segment, with the journal's identity. @pre There is a segment (asserted), as for the next
    /// three.
    [[nodiscard]] const segment_header& header() const noexcept;
    [[nodiscard]] std::uint64_t first_sequence() const noexcept;
    /// The last command in the copy.
    [[nodiscard]] std::uint64_t last_sequence() const noexcept;
    /// Bytes copied so far, to show progress.
    [[nodiscard]] std::uint64_t bytes_copied() const noexcept { return bytes_copied_; }
    [[nodiscard]] const std::string& directory() const noexcept { return directory_; }
    [[nodiscard]] const std::string& copy_directory() const noexcept { return copy_; }

 private:
    using answer = std::expected<bool, problem>;

    struct copied_segment {
        segment_header header;
        std::uint64_t end = segment_header_bytes;  ///< of its last whole block
        std::uint64_t next_sequence = 0;
        std::uint64_t digest = 0;
        bool is_sealed = false;
    };
    /// A header or a block that may be cut off, and the end of the copy without it.
    struct place {
        std::uint64_t number = 0;
        std::uint64_t offset = 0;  ///< 0: the header
        std::uint64_t next_sequence = 0;
        std::size_t marks_begin = 0;
        std::size_t marks_count = 0;
    };

    io::task<outcome> begin();
    io::task<answer> open_next();
    io::task<answer> begin_segment(std::uint64_t number);
    io::task<outcome> make_target(segment_header header, std::vector<std::byte> bytes);
    io::task<outcome> forget_all();
    io::task<outcome> copy_blocks();
    std::size_t take_blocks(std::size_t available);
    [[nodiscard]] std::optional<block_header> block_at(std::span<const std::byte> here, std::size_t* size) const;
    io::task<answer> durable_block_follows();
    io::task<outcome> finish_segment();
    io::task<outcome> seal(std::span<const std::uint64_t> last_sequences);
    io::task<outcome> write_copys_manifest();
    [[nodiscard]] std::expected<std::vector<std::uint64_t>, problem> numbers() const;
    [[nodiscard]] outcome check_chain(const segment_header& next) const;
    [[nodiscard]] outcome check_settled(std::span<const std::uint64_t> last_sequences) const;
    void note(const place& where, std::span<const std::uint64_t> marks);
    [[nodiscard]] std::string path_of(std::uint64_t number) const { return directory_ + "/" + segment_name(number); }
    [[nodiscard]] std::string copy_of(std::uint64_t number) const { return copy_ + "/" + segment_name(number); }

    storage* from_;
    storage* to_;
    std::string directory_;
    std::string copy_;
    std::vector<copied_segment> copied_;   // without a gap, oldest first
    std::uint64_t newest_made_ = 0;        // of the copy's files
    std::unique_ptr<stored_file> source_;  // of the last segment while it is not finished, like the next member
    std::unique_ptr<stored_file> target_;
    std::optional<manifest> manifest_;  // of the journal, as of the beginning of the copy
    bool has_begun_ = false;
    bool is_cuttable_ = false;
    std::vector<place> places_;
    std::vector<partition_mark> marks_;                          // of the places
    std::array<std::uint64_t, partitions_max> settled_marks_{};  // the highest marks that cannot be cut off
    std::uint64_t bytes_copied_ = 0;
    std::function<void()> on_progress_;
    base::large_array<std::byte> buffer_;
};

}  // namespace corro::journal
