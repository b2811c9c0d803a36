// SPDX-License-Identifier: Apache-2.0
// The Date field of responses, formatted once a second.
//
// Threads: one.
// Source:  RFC 9110 section 5.6.7 (IMF-fixdate).
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <string_view>

namespace corro::http {

class date_line {
 public:
    /// "Date: Tue, 15 Nov 1994 08:12:31 GMT" with CRLF. The view is valid until the next call.
    [[nodiscard]] std::string_view at(std::chrono::system_clock::time_point now) noexcept;

 private:
    std::chrono::sys_seconds written_{std::chrono::sys_seconds::min()};
    std::array<char, 40> text_{};
    std::size_t size_ = 0;
};

}  // namespace corro::http
