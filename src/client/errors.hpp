// What can go wrong on the client's side, beyond what the wire formats and the system report.
#pragma once

#include <system_error>

namespace corro::client {

enum class client_errc {
    /// Compressed data contradicts itself or its checksum.
    damaged_archive = 1,
    /// Compressed data ends in the middle.
    truncated_archive,
    /// Compressed data unpacks to more than the limit.
    unpacked_too_large,
};

[[nodiscard]] const std::error_category& client_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(client_errc code) noexcept {
    return {static_cast<int>(code), client_category()};
}

}  // namespace corro::client

template <>
struct std::is_error_code_enum<corro::client::client_errc> : std::true_type {};
