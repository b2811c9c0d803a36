// SPDX-License-Identifier: Apache-2.0
// A file of recorded order flow, unpacked piece by piece: plain, gzip or zstd, recognised by the first bytes.
//
// Limits: recorded_file_options. Memory is two pieces and the unpacker's window (at most 128 MiB for zstd), whatever
// the size of the file.
// Threads: one. Cost: after `open`, no allocation but the unpacker's own; one read of the system per piece.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>

#include "recorded/formats/read_error.hpp"

namespace corro::recorded {

enum class packing : std::uint8_t { plain, gzip, zstd };

struct recorded_file_options {
    /// The limit of unpacked bytes. The largest day of a stock exchange has some 15 GB.
    std::uint64_t unpacked_bytes_max = std::uint64_t{1} << 36;
    /// Bytes read and unpacked at a time; at least 16.
    std::size_t piece_bytes = std::size_t{256} << 10;
};

class recorded_file {
 public:
    /// Opens the file and reads its first bytes.
    /// @error  The system's: no such file, no permission, is a directory.
    [[nodiscard]] static std::expected<recorded_file, std::error_code> open(const std::filesystem::path& path,
                                                                            recorded_file_options options = {});

    recorded_file(recorded_file&&) noexcept;
    recorded_file& operator=(recorded_file&&) noexcept;
    ~recorded_file();

    /// The next unpacked bytes: at most piece_bytes, valid until the next call; empty at the end of the file.
    /// @error  The system's; damaged_archive, truncated_archive, unpacked_too_large. The offset is that of the
    ///         packed file.
    [[nodiscard]] std::expected<std::span<const std::byte>, recorded::read_error> read() noexcept;

    [[nodiscard]] recorded::packing packing() const noexcept;

 private:
    struct state;
    explicit recorded_file(std::unique_ptr<state> s) noexcept;
    std::unique_ptr<state> state_;
};

}  // namespace corro::recorded
