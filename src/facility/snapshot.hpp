// SPDX-License-Identifier: Apache-2.0
// The header of a facility's snapshot, and the errors of loading one.
//
// Layout: docs/spec/snapshot.md. A header of 48 bytes, then an archive (base/archive.hpp).
// Threads: the category is immutable.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>

#include "domain/types.hpp"

namespace corro::facility {

enum class snapshot_errc {
    /// It ends too early, or cannot be read.
    truncated = 1,
    /// A checksum is wrong, or a value is impossible.
    damaged,
    /// Not a snapshot of a facility, or of a machine with another order of bytes.
    foreign_format,
    /// A snapshot, but not of this version of the format.
    unsupported_version,
    /// Of a facility with other options or other instruments.
    other_venue,
    /// The loaded state has another state hash than the saved one.
    state_differs,
};

[[nodiscard]] const std::error_category& snapshot_category() noexcept;

[[nodiscard]] inline std::error_code make_error_code(snapshot_errc code) noexcept {
    return {static_cast<int>(code), snapshot_category()};
}

/// The last command that a facility has executed; both 0 before the first.
struct snapshot_position {
    domain::sequence_number sequence{};
    domain::time_ns time{};
};

/// | offset | size | meaning                                                      |
/// |--------|------|--------------------------------------------------------------|
/// |      0 |    8 | mark: "CORROFAC", in the byte order of the machine           |
/// |      8 |    4 | version of the format: 2 with accounts behind the rest, or 1 |
/// |     12 |    4 | CRC-32C of the other bytes                                   |
/// |     16 |    8 | fingerprint of the options and instruments                   |
/// |     24 |    8 | sequence number of the last command                          |
/// |     32 |    8 | its time, nanoseconds since the epoch                        |
/// |     40 |    8 | state hash                                                   |
struct snapshot_header {
    std::uint64_t mark = 0;
    std::uint32_t version = 0;
    std::uint32_t crc = 0;
    std::uint64_t fingerprint = 0;
    std::uint64_t sequence = 0;
    std::int64_t time = 0;
    std::uint64_t state_hash = 0;

    static constexpr std::uint64_t mark_of_a_snapshot = 0x4341'464f'5252'4f43;  // "CORROFAC"
    static constexpr std::uint32_t version_of_plain = 1;            ///< no account was defined while the venue ran
    static constexpr std::uint32_t version_now = version_of_plain;  ///< for a new snapshot without defined accounts
    static constexpr std::uint32_t version_of_accounts = 2;         ///< with the defined accounts at the end

    [[nodiscard]] std::uint32_t computed_crc() const noexcept;
    /// Checks the header, as far as possible without a facility.
    [[nodiscard]] std::error_code check() const noexcept;
};
static_assert(sizeof(snapshot_header) == 48);

}  // namespace corro::facility

template <>
struct std::is_error_code_enum<corro::facility::snapshot_errc> : std::true_type {};
