// What can be wrong with a journal, as codes to compare and as sentences for the operator.
//
// Threads: the category is immutable. Cost: a `problem` allocates its text.
#pragma once

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

namespace corro::journal {

enum class journal_errc {
    /// Bytes that were once on the disk are not what was written. Nothing after them can be trusted.
    damaged = 1,
    /// A file of the journal is not there.
    missing_segment,
    /// The journal belongs to another venue, another shard or other instruments.
    foreign_venue,
    /// Written in a version of the format that this program does not read.
    unsupported_version,
    /// Not a file of a journal at all.
    foreign_file,
    /// Sequence numbers are missing between two segments, or occur twice.
    sequence_gap,
    /// A file was not written behind the one in front of it: one of them is of another copy of the journal.
    broken_chain,
    /// The manifest is missing or damaged, and the journal has files.
    missing_manifest,
    /// The manifest is older than the segments.
    stale_manifest,
    /// The journal ends before the place that it is known to have reached.
    missing_end,
    /// The journals of a venue's shards are of different moments.
    different_moments,
    /// Another process has the journal.
    in_use,
    /// Somebody with a newer epoch has written here.
    stale_epoch,
    /// What was asked for has been removed, or was never there.
    out_of_reach,
    /// No room on the disk for what has to be written before anything can be accepted.
    disk_full,
};

[[nodiscard]] const std::error_category& journal_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(journal_errc code) noexcept {
    return {static_cast<int>(code), journal_category()};
}

/// An error with its place. `code` is a journal_errc, or what the system said.
struct problem {
    problem() = default;
    problem(std::error_code what, std::string in_words, std::string path = {}, std::uint64_t at = 0)
        : code(what), text(std::move(in_words)), file(std::move(path)), offset(at) {}

    std::error_code code;
    std::string text;          ///< A whole sentence for the operator, with file and offset where they matter.
    std::string file;          ///< Which file; empty if none.
    std::uint64_t offset = 0;  ///< Where in it, in bytes.
};

}  // namespace corro::journal

template <>
struct std::is_error_code_enum<corro::journal::journal_errc> : std::true_type {};
