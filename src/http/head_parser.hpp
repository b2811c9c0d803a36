// SPDX-License-Identifier: Apache-2.0
// The head of an HTTP/1 message: found in a stream of bytes, then parsed strictly.
//
// When two recipients parse a message differently, an attacker can hide a request in a body (request smuggling). So
// everything is refused that RFC 9112 allows a recipient to refuse: bare line feeds, folded fields, white space before
// a colon, repeated lengths.
//
// Limits:  message_limits.
// Threads: any; pure functions and a small value.
// Cost:    no allocation. Each byte of a head is read twice, independent of the parts in which it arrives.
// Source:  RFC 9110, RFC 9112.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string_view>

#include "http/errors.hpp"
#include "http/limits.hpp"
#include "http/message.hpp"

namespace corro::http {

/// Finds the end of a head in bytes that arrive in parts.
class head_scanner {
 public:
    /// Scans the bytes added since the last call.
    ///
    /// @param bytes  All bytes since the head's first one, including those of earlier calls.
    /// @return       The size of the head with its empty line; 0 while it is incomplete.
    /// @error        bare_line_feed, start_line_too_long, fields_too_large, malformed_start_line (at once, if the first
    ///               byte cannot begin a message).
    [[nodiscard]] std::expected<std::size_t, errc> scan(std::string_view bytes, const message_limits& limits) noexcept;

    /// Begins with the next head.
    void reset() noexcept { *this = head_scanner(); }

 private:
    std::size_t line_begin_ = 0;  // of the incomplete line
    std::size_t searched_ = 0;    // no line feed before this
    std::size_t lines_count_ = 0;
    std::size_t fields_begin_ = 0;
};

/// Parses the head of a request.
///
/// @param head   A whole head, its empty line included.
/// @param into   Memory for the fields; more fields than that are too many. The result's `fields` are in
///               it.
/// @return       Views into `head`.
[[nodiscard]] std::expected<request_head, errc> parse_request(std::string_view head, std::span<field> into) noexcept;

/// Parses the head of a response.
///
/// @param asked  The method of its request, which determines whether there is a body.
[[nodiscard]] std::expected<response_head, errc> parse_response(std::string_view head, std::span<field> into,
                                                                method asked) noexcept;

namespace detail {

/// Reads field lines until the empty line, which must be there. @return The fields, in `into`.
[[nodiscard]] std::expected<std::span<const field>, errc> parse_fields(std::string_view lines,
                                                                       std::span<field> into) noexcept;

}  // namespace detail
}  // namespace corro::http
