// SPDX-License-Identifier: Apache-2.0
// The result of an operation on bytes: its error, and the bytes transferred.
#pragma once

#include <cstddef>
#include <system_error>

#include "io/errors.hpp"

namespace corro::io {

/// `bytes` counts the bytes transferred even when `error` is set.
struct io_result {
    io_result() noexcept : error(detail::success), bytes(0) {}
    /// Ended with this error after this many bytes.
    io_result(std::error_code ended_with, std::size_t transferred) noexcept : error(ended_with), bytes(transferred) {}

    [[nodiscard]] bool ok() const noexcept { return !error; }
    explicit operator bool() const noexcept { return !error; }

    /// The error; none on success.
    std::error_code error;
    /// The bytes transferred.
    std::size_t bytes;
};

}  // namespace corro::io
