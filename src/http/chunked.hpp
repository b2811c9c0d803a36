// SPDX-License-Identifier: Apache-2.0
// Chunked bodies: decoded in place, in parts of any size; and encoded.
//
// Layout:  size in hexadecimal digits, extensions, CRLF, that many bytes, CRLF; at last a size of 0, trailer fields,
//          an empty line.
// Limits:  message_limits: the line of a size, the body, the trailers.
// Threads: any; a value.
// Cost:    data is not copied. Trailers are kept in one string, which is allocated only if there are some.
// Source:  RFC 9112 section 7.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <string_view>

#include "http/errors.hpp"
#include "http/limits.hpp"

namespace corro::http {

/// Decodes one chunked body.
class chunk_decoder {
 public:
    /// The result of a step: `data` is a piece of the body, or empty.
    struct step {
        step() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
        std::string_view data;
        std::size_t consumed = 0;  // of the bytes given, `data` included
    };

    /// Decodes until there is a piece of data, the body has ended, or the bytes are used up.
    ///
    /// @param bytes  The bytes after those consumed before.
    /// @return       A view into `bytes`.
    /// @error        malformed_chunk, body_too_large, trailers_too_large, malformed_field; final.
    [[nodiscard]] std::expected<step, errc> decode(std::string_view bytes, const message_limits& limits);

    /// Whether the last chunk and its trailers have been consumed.
    [[nodiscard]] bool ended() const noexcept { return at_ == part::ended; }
    /// The trailer lines, with an empty line at the end; empty if there were none. Valid until `reset`.
    [[nodiscard]] std::string_view trailers() const noexcept { return trailers_; }

    void reset() noexcept;

 private:
    enum class part : std::uint8_t {
        size,
        space,            // after the size, or between the parts of an extension
        extension_name,   // after a semicolon
        extension_value,  // after its equals sign
        extension_quoted,
        extension_escaped,
        size_end,  // the line feed of a size's line
        data,
        data_return,
        data_feed,
        trailers,
        ended,
    };

    bool take_line_character(char c, const message_limits& limits, errc& wrong) noexcept;
    bool take_extension(char c) noexcept;
    [[nodiscard]] std::expected<std::size_t, errc> take_trailers(std::string_view bytes, const message_limits& limits);

    std::uint64_t remaining_ = 0;  // of the chunk
    std::uint64_t body_bytes_ = 0;
    std::size_t line_bytes_ = 0;
    unsigned digits_count_ = 0;
    part at_ = part::size;
    bool extension_empty_ = false;  // the part of the extension has no character yet
    std::string trailers_;
};

/// The size line before a chunk of `size` bytes, written to the end of `into` (at least 18 characters). The chunk is
/// followed by CRLF, the body by "0", CRLF, trailers, CRLF.
[[nodiscard]] std::string_view chunk_size_line(std::size_t size, std::span<char, 18> into) noexcept;

}  // namespace corro::http
