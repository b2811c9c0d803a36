// SPDX-License-Identifier: Apache-2.0
// The address of a Unix domain socket: a path, or a name in Linux's abstract space (written with a leading '@').
//
// Limits:  at most 107 characters, the kernel's limit.
// Threads: a value.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <system_error>

namespace corro::io {

/// The address of a Unix domain socket.
class unix_endpoint {
 public:
    /// The longest address, in bytes; the kernel's limit.
    static constexpr std::size_t size_max = 107;

    /// The unnamed address of a socket that was never bound.
    constexpr unix_endpoint() noexcept = default;

    /// @error std::errc::filename_too_long, std::errc::invalid_argument (empty, or a zero byte within).
    [[nodiscard]] static std::expected<unix_endpoint, std::error_code> parse(std::string_view path) noexcept;

    [[nodiscard]] constexpr std::string_view path() const noexcept { return {path_.data(), size_}; }
    [[nodiscard]] constexpr bool is_abstract() const noexcept { return size_ != 0 && path_[0] == '@'; }
    [[nodiscard]] std::string to_string() const { return std::string(path()); }

    friend constexpr auto operator<=>(const unix_endpoint&, const unix_endpoint&) noexcept = default;

 private:
    std::array<char, size_max> path_{};
    std::uint8_t size_ = 0;
};

}  // namespace corro::io
