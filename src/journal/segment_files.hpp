// SPDX-License-Identifier: Apache-2.0
// The segments of a journal as files: the names, the preallocated spare that becomes the next segment, the manifest,
// and the removal of old ones. What is in them is the writer's matter.
//
// Layout:  journal/segment_format.hpp, journal/manifest.hpp.
// Threads: one context.
// Cost:    a new segment costs one rename, three syncs and the preallocation of the one after it.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "io/sync/mutex.hpp"
#include "io/task/task.hpp"
#include "journal/errors.hpp"
#include "journal/identity.hpp"
#include "journal/limits.hpp"
#include "journal/manifest.hpp"
#include "journal/reader.hpp"
#include "journal/segment_format.hpp"
#include "journal/storage.hpp"

namespace corro::journal {

/// The error of a full disk, or of a quota.
[[nodiscard]] bool is_disk_full(std::error_code error) noexcept;
/// The process has too many open files. That is temporary, and nothing has been written or synced.
[[nodiscard]] bool is_temporary(std::error_code error) noexcept;

struct segment_files_options {
    identity venue;
    venue_identity birth;  ///< of a new journal
    std::uint64_t epoch = 1;
    std::uint64_t segment_bytes = segment_bytes_default;
    std::uint64_t kept_segments_max = ~std::uint64_t{0};
    std::uint64_t kept_bytes_max = ~std::uint64_t{0};
};

class segment_files {
 public:
    using outcome = std::expected<void, problem>;

    segment_files(directory_lock lock, std::vector<segment_summary> existing, segment_files_options options);
    segment_files(const segment_files&) = delete;
    segment_files& operator=(const segment_files&) = delete;

    // The start, in this order.

    /// Compares the journal's end with the manifest, and writes the manifest again.
    [[nodiscard]] io::task<outcome> take_manifest(journal_end end);
    /// Releases the last writer's space behind its last block, and its spare. Syncs the last segment again.
    [[nodiscard]] io::task<outcome> tidy_up(std::uint64_t torn_bytes, bool is_sealed);
    /// Preallocates the first segment of this run. On a full disk it is smaller.
    [[nodiscard]] io::task<outcome> make_first_spare();

    // The spare.

    /// Preallocates the next segment. @error disk_full; the system's errors.
    [[nodiscard]] io::task<outcome> make_spare();
    [[nodiscard]] bool has_spare() const noexcept { return spare_ != nullptr; }
    /// Bytes for blocks in the spare; 0 without one.
    [[nodiscard]] std::uint64_t spare_room() const noexcept {
        return spare_ == nullptr ? 0 : spare_bytes_ - segment_header_bytes - seal_bytes;
    }
    /// Closes the spare's file.
    void close_spare() noexcept { spare_.reset(); }
    /// Whether the last preallocation found a full disk.
    [[nodiscard]] bool disk_is_full() const noexcept { return disk_is_full_; }

    // From one segment to the next: `name_spare`, `take_spare`, `record_newest`; a full one is added with `add_full`.

    /// Gives the spare a header and a name; both are durable when this returns.
    /// @param next  Its first_sequence, created_ns and marks are set; the rest is filled in.
    /// @error in_use if another process has made the file or replaced the directory; the system's errors.
    /// @pre   There is a spare (asserted).
    [[nodiscard]] io::task<outcome> name_spare(segment_header* next);
    /// The file that `name_spare` has named. @pre There is one (asserted).
    [[nodiscard]] std::unique_ptr<stored_file> take_spare() noexcept;
    /// Records this segment as the newest, before any command is written to it.
    [[nodiscard]] io::task<outcome> record_newest(segment_header newest);
    /// The current segment is full; the next one will follow it. @pre Its number follows the last one's (asserted).
    void add_full(const segment_summary& full);
    /// Records that the journal is closed in order, and removes the spare.
    [[nodiscard]] io::task<outcome> record_end(std::uint64_t next_sequence);

    // Retention.

    /// There is a snapshot of the state after command `sequence`.
    void forget_before(std::uint64_t sequence) noexcept;
    /// Whether the oldest segment is needed by nothing that is kept.
    [[nodiscard]] bool may_remove_oldest() const noexcept;
    /// Records that the oldest segment is removed. @pre may_remove_oldest() (asserted).
    [[nodiscard]] io::task<outcome> record_removal();
    /// Removes the oldest segment, durably before the next one, so that a crash leaves no gap.
    /// @pre Its removal is recorded (asserted).
    [[nodiscard]] io::task<outcome> remove_oldest();

    [[nodiscard]] std::string path_of(std::string_view name) const;
    [[nodiscard]] const std::string& directory() const noexcept { return lock_.path(); }
    /// Notices for the operator about the journal's end, in sentences.
    [[nodiscard]] const std::vector<std::string>& notices() const noexcept { return notices_; }

 private:
    io::task<std::error_code> keep_torn_bytes(stored_file* from, std::uint64_t count);
    io::task<std::error_code> sync_names();
    io::task<outcome> save_manifest();
    io::task<outcome> make_spare_of(std::uint64_t bytes);

    directory_lock lock_;
    storage* files_;
    segment_files_options options_;
    std::vector<segment_summary> full_;   // older than the current one, oldest first
    manifest manifest_;                   // as last written
    io::mutex manifest_lock_;             // held by the task that writes it
    std::unique_ptr<stored_file> spare_;  // the preallocated next segment, under the name of a spare
    std::uint64_t spare_bytes_ = 0;
    bool disk_is_full_ = false;
    std::uint64_t snapshot_sequence_ = 0;
    std::vector<std::string> notices_;
};

}  // namespace corro::journal
