// What an operation on bytes reports: how it ended, and how far it came.
#pragma once

#include <cstddef>
#include <system_error>

#include "io/errors.hpp"

namespace corro::io {

/// `bytes` counts what was transferred even when `error` is set.
struct io_result {
    io_result() noexcept : error(detail::success), bytes(0) {}
    /// Ended with this error after so many bytes.
    io_result(std::error_code ended_with, std::size_t transferred) noexcept : error(ended_with), bytes(transferred) {}

    [[nodiscard]] bool ok() const noexcept { return !error; }
    explicit operator bool() const noexcept { return !error; }

    /// How it ended; none if all went well.
    std::error_code error;
    /// What was transferred.
    std::size_t bytes;
};

}  // namespace corro::io
