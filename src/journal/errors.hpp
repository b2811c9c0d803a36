// SPDX-License-Identifier: Apache-2.0
// Errors of journals, as codes to compare and as sentences for the operator.
//
// Threads: the category is immutable. Cost: a `problem` allocates its text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace corro::journal {

enum class journal_errc {
    /// Durable bytes are not those that were written. Nothing after them can be trusted.
    damaged = 1,
    /// A file of the journal is missing.
    missing_segment,
    /// The journal belongs to another venue, another partition or other instruments.
    foreign_venue,
    /// Written in a version of the format that this program does not read.
    unsupported_version,
    /// Not a file of a journal at all.
    foreign_file,
    /// Sequence numbers are missing between two segments, or occur twice.
    sequence_gap,
    /// A segment does not follow the one before it: one of them is from another copy of the journal.
    broken_chain,
    /// The manifest is missing or damaged, and the journal has files.
    missing_manifest,
    /// The manifest is older than the segments.
    stale_manifest,
    /// The journal ends before the sequence number that it had reached.
    missing_end,
    /// The journals of a venue's partitions are from different moments.
    different_moments,
    /// Another process uses the journal.
    in_use,
    /// A writer with a newer epoch has written to the journal.
    stale_epoch,
    /// The requested command has been removed, or never existed.
    out_of_reach,
    /// No space on the disk for the bytes that must be written before commands can be accepted.
    disk_full,
};

[[nodiscard]] const std::error_category& journal_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(journal_errc code) noexcept {
    return {static_cast<int>(code), journal_category()};
}

/// An error with its position. `code` is a journal_errc or an error of the system.
struct problem {
    problem() = default;
    problem(std::error_code what, std::string in_words, std::string path = {}, std::uint64_t at = 0)
        : code(what), text(std::move(in_words)), file(std::move(path)), offset(at) {}

    std::error_code code;
    std::string text;          ///< A whole sentence for the operator, with file and offset where they matter.
    std::string file;          ///< The file; empty for none.
    std::uint64_t offset = 0;  ///< The offset in the file, in bytes.
};

/// A problem with the file or directory `path`: "PATH: WHAT: the system's words for the error".
[[nodiscard]] problem system_problem(std::error_code error, const std::string& path, std::string_view what);

}  // namespace corro::journal

template <>
struct std::is_error_code_enum<corro::journal::journal_errc> : std::true_type {};
