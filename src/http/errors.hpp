// SPDX-License-Identifier: Apache-2.0
// Errors of HTTP messages, and the status that reports each to the peer.
//
// Threads: any.
// Source:  RFC 9110, RFC 9112.
#pragma once

#include <cstdint>
#include <system_error>

namespace corro::http {

/// A message that is refused, or a connection that ended in the middle of one.
enum class errc : std::uint8_t {
    malformed_start_line = 1,  // not METHOD SP TARGET SP HTTP/x.y, or not a status line
    malformed_target,          // the target is in none of the four forms, or in one that the method does not take
    malformed_field,           // a field line with an invalid name or value, or a space before its colon
    folded_field,              // a field line that continues in the next line
    bare_line_feed,            // a line that ends without its carriage return
    bad_host,                  // HTTP/1.1 without exactly one valid Host
    ambiguous_length,          // two Content-Length fields, or Content-Length beside Transfer-Encoding
    malformed_length,          // a Content-Length that is not a number
    bad_transfer_coding,       // chunked is not the last coding, appears twice, or is used with HTTP/1.0
    malformed_chunk,           // a chunk with an invalid size, extension or end
    start_line_too_long,
    fields_too_large,
    body_too_large,
    trailers_too_large,
    unknown_method,
    unknown_transfer_coding,
    unknown_expectation,
    unknown_version,
    incomplete_message,  // the peer closed before its message was complete
    no_response,         // the peer closed without an answer
    not_upgraded,        // the peer did not agree to change the protocol
};

/// The category of `errc`.
[[nodiscard]] const std::error_category& error_category() noexcept;
/// For comparisons and conversions; found by the standard library.
[[nodiscard]] std::error_code make_error_code(errc code) noexcept;

/// The status of a server's response to such a request: 400, 413, 414, 417, 431, 501 or 505.
[[nodiscard]] unsigned status_of(errc code) noexcept;

}  // namespace corro::http

template <>
struct std::is_error_code_enum<corro::http::errc> : std::true_type {};
