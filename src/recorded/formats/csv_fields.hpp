// SPDX-License-Identifier: Apache-2.0
// The fields of one line of comma-separated numbers, read from left to right. The first fault is kept; fields read
// after it are zero.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

#include "recorded/formats/line_feed.hpp"
#include "recorded/formats/read_error.hpp"
#include "wire/errors.hpp"

namespace corro::recorded {

class csv_fields {
 public:
    explicit csv_fields(const line_feed::line& line) noexcept : line_(line) {}

    /// The next field unchanged. @error malformed_length when there is none.
    [[nodiscard]] std::string_view text() noexcept {
        if (next_ > line_.text.size()) {
            start_ = line_.text.size();
            fail(wire::wire_errc::malformed_length);
            return {};
        }
        start_ = next_;
        const std::string_view rest = line_.text.substr(next_);
        const void* const comma = rest.empty() ? nullptr : std::memchr(rest.data(), ',', rest.size());
        const std::size_t size =
            comma == nullptr ? rest.size() : static_cast<std::size_t>(static_cast<const char*>(comma) - rest.data());
        next_ += size + 1;
        return rest.substr(0, size);
    }

    /// The next field as a whole number: digits, and a minus sign before them where the type has one.
    /// @error malformed_field, out_of_range.
    template <std::integral Integer>
    [[nodiscard]] Integer integer() noexcept {
        const std::string_view field = text();
        Integer value = 0;
        if (failed_) return value;
        const char* const begin = field.data();
        const char* const end = begin + field.size();
        const auto [stop, error] = std::from_chars(begin, end, value);
        if (error == std::errc::result_out_of_range) {
            fail(wire::wire_errc::out_of_range);
        } else if (error != std::errc{} || stop != end) {
            fail(wire::wire_errc::malformed_field);
        }
        return value;
    }

    /// Refuses the last field.
    void fail(wire::wire_errc code) noexcept {
        if (failed_) return;
        failed_ = read_error{make_error_code(code), line_.offset + start_, line_.number,
                             static_cast<std::uint32_t>(start_ + 1)};
    }

    /// Refuses further fields. @error malformed_length at the first field too many.
    void end() noexcept {
        if (next_ > line_.text.size()) return;
        start_ = next_;
        fail(wire::wire_errc::malformed_length);
    }

    [[nodiscard]] const std::optional<read_error>& failed() const noexcept { return failed_; }

 private:
    line_feed::line line_;
    std::size_t start_ = 0;  // of the field that was read last
    std::size_t next_ = 0;   // one past the end of the text when all fields are read
    std::optional<read_error> failed_;
};

}  // namespace corro::recorded
