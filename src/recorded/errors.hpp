// SPDX-License-Identifier: Apache-2.0
// Errors of compressed files, beside those of the formats and the system.
#pragma once

#include <system_error>

namespace corro::recorded {

enum class archive_errc {
    /// Compressed data contradicts itself or its checksum.
    damaged_archive = 1,
    /// Compressed data ends in the middle.
    truncated_archive,
    /// Compressed data unpacks to more than the limit.
    unpacked_too_large,
};

[[nodiscard]] const std::error_category& archive_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(archive_errc code) noexcept {
    return {static_cast<int>(code), archive_category()};
}

}  // namespace corro::recorded

template <>
struct std::is_error_code_enum<corro::recorded::archive_errc> : std::true_type {};
