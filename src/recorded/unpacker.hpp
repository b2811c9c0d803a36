// SPDX-License-Identifier: Apache-2.0
// Unpacking as a step: some bytes in, some bytes out.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>
#include <system_error>

namespace corro::recorded {

class unpacker {
 public:
    struct progress {
        std::size_t taken = 0;  ///< bytes used up at the front of the input
        std::size_t made = 0;   ///< bytes written at the front of the output
        /// All taken bytes are unpacked and form complete members or frames: the input may end here.
        bool may_end = false;
    };

    unpacker() = default;
    unpacker(const unpacker&) = delete;
    unpacker& operator=(const unpacker&) = delete;
    virtual ~unpacker() = default;

    /// Unpacks from `in`, which may be empty, into `out`, which may not.
    /// @error damaged_archive.
    [[nodiscard]] virtual std::expected<progress, std::error_code> step(std::span<const std::byte> in,
                                                                        std::span<std::byte> out) noexcept = 0;
};

/// Any number of gzip members, one behind the other (RFC 1952). Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<unpacker> make_gzip_unpacker();
/// Any number of zstd frames, skippable ones too (RFC 8878). Throws std::bad_alloc.
[[nodiscard]] std::unique_ptr<unpacker> make_zstd_unpacker();

}  // namespace corro::recorded
