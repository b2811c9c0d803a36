// Copies a journal while its venue writes to it, without its lock.
//
//     copier copy(&files, "data/journal", &files, "backup/journal");
//     auto done = co_await copy.catch_up();                       // all that is there, which may take long
//     copy.begin_moment();
//     if (done) done = co_await copy.catch_up();                  // what came meanwhile, which is little
//     if (done) done = co_await copy.finish({{copy.last_sequence()}});
//
// The journals of a venue's shards are cut to one moment: of every block behind `begin_moment` the copier remembers
// what it recorded of the other shards, and `cut` ends the copy before the first block that recorded more than their
// copies hold. When no copy has such a block any more, the copies together are what a power cut would have left at some
// moment behind `begin_moment`: a block records everything that was on the disks when it was made, and an answer leaves
// only when its command is on the disk. What was durable at `begin_moment` is never cut off.
//
// Blocks are checked on the way, and only whole ones are copied. The copy ends with a seal, and its manifest is written
// last: a copy that was not finished does not start.
//
// Layout:  journal/segment_format.hpp.
// Limits:  memory for the marks of what comes behind `begin_moment`: at most 120 bytes for each block.
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
    /// @param copy      A directory that is there, and empty.
    copier(storage* from, std::string directory, storage* to, std::string copy);
    copier(const copier&) = delete;
    copier& operator=(const copier&) = delete;

    /// Has `each_piece` called whenever a piece was copied, at most 1 MiB.
    void watch(std::function<void()> each_piece) { on_progress_ = std::move(each_piece); }

    /// Copies what the journal has and the copy has not, up to the end of what is written while it is at it.
    /// @error damaged, missing_segment, missing_manifest, sequence_gap, broken_chain, foreign_venue; what the system
    ///        reports, such as no_space_on_device.
    [[nodiscard]] io::task<outcome> catch_up();

    /// From here on blocks may be cut off again.
    void begin_moment() noexcept { is_cuttable_ = true; }

    /// Ends the copy before the first block that does not fit what the copies of the other shards hold.
    /// @param last_sequences  Of the copies, by shard.
    /// @return  Whether there was such a block.
    bool cut(std::span<const std::uint64_t> last_sequences);

    /// Seals the copy and writes its manifest; then it is on the disk.
    /// @param last_sequences  Of the copies, by shard: the seal records them.
    /// @error different_moments if a block that cannot be cut off does not fit them; missing_end, missing_segment; what
    ///        the system reports.
    /// @pre   There is a segment (asserted).
    [[nodiscard]] io::task<outcome> finish(std::span<const std::uint64_t> last_sequences);

    /// Copies a small file beside the segments. @return Whether there is one.
    [[nodiscard]] io::task<std::expected<bool, problem>> copy_file(std::string_view name);

    [[nodiscard]] bool has_segments() const noexcept { return !copied_.empty(); }
    [[nodiscard]] std::size_t segments_count() const noexcept { return copied_.size(); }
    /// Whose journal it is. @pre There is a segment (asserted), as for the next three.
    [[nodiscard]] const segment_header& header() const noexcept;
    [[nodiscard]] std::uint64_t first_sequence() const noexcept;
    /// The last command in the copy.
    [[nodiscard]] std::uint64_t last_sequence() const noexcept;
    /// Bytes that were copied so far, for those who show progress.
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
    /// Something that may be cut off: a header or a block, and where the copy ends without it.
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
    std::unique_ptr<stored_file> source_;  // of the last one, while it is not finished; so is the next
    std::unique_ptr<stored_file> target_;
    std::optional<manifest> manifest_;  // of the journal, when the copy began
    bool has_begun_ = false;
    bool is_cuttable_ = false;
    std::vector<place> places_;
    std::vector<shard_mark> marks_;                          // of the places
    std::array<std::uint64_t, shards_max> settled_marks_{};  // the highest of what cannot be cut off
    std::uint64_t bytes_copied_ = 0;
    std::function<void()> on_progress_;
    base::large_array<std::byte> buffer_;
};

}  // namespace corro::journal
