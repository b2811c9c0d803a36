// SPDX-License-Identifier: Apache-2.0
// Text that arrives in pieces, as lines.
//
// A line ends with LF or CR LF; the last line may end with the input. Lines are used in place where they lie within one
// piece.
//
// Limits: line_bytes_max. Threads: one. Cost: one search for the end of each line; only lines that straddle two pieces
// are copied.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/assert.hpp"
#include "recorded/formats/read_error.hpp"
#include "wire/errors.hpp"

namespace corro::recorded {

/// The longest line, without its end: 200 levels of an order book with numbers of 20 digits fit.
inline constexpr std::size_t line_bytes_max = 16'384;

class line_feed {
 public:
    /// A line without its end, valid until the next call.
    struct line {
        std::string_view text;
        std::uint64_t number = 0;  ///< from 1
        std::uint64_t offset = 0;  ///< of its first byte
    };

    /// As byte_feed::feed.
    void feed(std::span<const std::byte> piece) noexcept {
        CORRO_ASSERT(piece_.empty() && !finished_, "feed may be called only when the decoder needs more");
        piece_ = piece;
    }
    void finish() noexcept { finished_ = true; }

    /// The next line; or nothing: call `feed`, or after `finish` the text has ended.
    /// @error too_large: the line is longer than line_bytes_max.
    [[nodiscard]] std::expected<std::optional<line>, read_error> next() noexcept {
        if (held_given_) {
            held_.clear();
            held_given_ = false;
        }
        const void* const end = piece_.empty() ? nullptr : std::memchr(piece_.data(), '\n', piece_.size());
        const std::size_t size = end == nullptr
                                     ? piece_.size()
                                     : static_cast<std::size_t>(static_cast<const std::byte*>(end) - piece_.data());
        // One more for a CR before the end.
        if (held_.size() + size > line_bytes_max + 1) return too_large();
        const auto front = piece_.first(size);
        if (end != nullptr && held_.empty()) [[likely]] {
            piece_ = piece_.subspan(size + 1);
            return made(front, size + 1);
        }
        held_.insert(held_.end(), front.begin(), front.end());
        piece_ = piece_.subspan(end == nullptr ? size : size + 1);
        if (end == nullptr && (!finished_ || held_.empty())) return std::nullopt;
        held_given_ = true;
        return made(held_, held_.size() + (end == nullptr ? 0 : 1));
    }

 private:
    [[nodiscard]] std::expected<std::optional<line>, read_error> made(std::span<const std::byte> bytes,
                                                                      std::size_t taken) noexcept {
        std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
        if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
        if (text.size() > line_bytes_max) return too_large();
        const line result{text, ++lines_count_, offset_};
        offset_ += taken;
        return result;
    }
    [[nodiscard]] std::unexpected<read_error> too_large() const noexcept {
        return std::unexpected(read_error{make_error_code(wire::wire_errc::too_large), offset_, lines_count_ + 1, 1});
    }

    /// The unread rest of the newest piece; it follows `held_`.
    std::span<const std::byte> piece_;
    /// The front of a line that began in an earlier piece.
    std::vector<std::byte> held_;
    bool held_given_ = false;
    bool finished_ = false;
    std::uint64_t offset_ = 0;
    std::uint64_t lines_count_ = 0;
};

}  // namespace corro::recorded
