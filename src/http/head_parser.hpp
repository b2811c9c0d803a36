// The head of an HTTP/1 message: found in a stream of bytes, then taken apart, strictly.
//
// A peer that reads a message otherwise than we do can be made to see another request where we see a body. So whatever
// RFC 9112 lets a recipient refuse is refused: bare line feeds, folded fields, white space before a colon, lengths that
// are stated twice.
//
// Limits:  message_limits.
// Threads: any; pure functions and a small value.
// Cost:    no allocation. Each byte of a head is looked at twice, whatever the parts are that it arrives in.
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

/// Finds the end of a head, in bytes that arrive by and by.
class head_scanner {
 public:
    /// Looks at what was added since the last call.
    ///
    /// @param bytes  Everything since the head's first byte: what was there before, and more.
    /// @return       The size of the head with its empty line; 0 while it is not whole.
    /// @error        bare_line_feed, start_line_too_long, fields_too_large, malformed_start_line (at once, if the first
    ///               byte begins no message).
    [[nodiscard]] std::expected<std::size_t, errc> scan(std::string_view bytes, const message_limits& limits) noexcept;

    /// Begins with the next head.
    void reset() noexcept { *this = head_scanner(); }

 private:
    std::size_t line_begin_ = 0;  // of the line that is not whole yet
    std::size_t searched_ = 0;    // no line feed before this
    std::size_t lines_count_ = 0;
    std::size_t fields_begin_ = 0;
};

/// Takes the head of a request apart.
///
/// @param head   A whole head, its empty line included.
/// @param into   Room for the fields; more fields than that are too many. The result's `fields` lie in it.
/// @return       Views into `head`.
[[nodiscard]] std::expected<request_head, errc> parse_request(std::string_view head, std::span<field> into) noexcept;

/// Takes the head of a response apart.
///
/// @param asked  The method of the request that it answers: it decides whether there is a body.
[[nodiscard]] std::expected<response_head, errc> parse_response(std::string_view head, std::span<field> into,
                                                                method asked) noexcept;

namespace detail {

/// Reads field lines until the empty line, which must be there. @return The fields, in `into`.
[[nodiscard]] std::expected<std::span<const field>, errc> parse_fields(std::string_view lines,
                                                                       std::span<field> into) noexcept;

}  // namespace detail
}  // namespace corro::http
