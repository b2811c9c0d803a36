// SPDX-License-Identifier: Apache-2.0
// HTTP messages as values: methods, fields, the heads of requests and responses.
//
// Everything textual is a view into the bytes that were parsed.
//
// Threads: any.
// Source:  RFC 9110, RFC 9112.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace corro::http {

/// The methods of RFC 9110, and PATCH.
enum class method : std::uint8_t { get, head, post, put, patch, del, options, trace, connect };

/// The method's name on the wire ("GET").
[[nodiscard]] std::string_view name_of(method which) noexcept;

/// The reason phrase of a status ("Not Found"); empty for one that has none.
[[nodiscard]] std::string_view reason_of(unsigned status) noexcept;

/// Whether two names are equal, ignoring the case of ASCII letters.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b) noexcept;

/// A field of a head: a name and a value.
struct field {
    field() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions
    /// From a name and a value, which the field refers to.
    field(std::string_view called, std::string_view is) noexcept : name(called), value(is) {}

    /// As written; compared without regard to case.
    std::string_view name;
    std::string_view value;  // without the white space around it
};

/// The value of the first field of that name; empty if there is none.
[[nodiscard]] std::string_view find_field(std::span<const field> fields, std::string_view name) noexcept;

/// Whether a comma-separated list in any field of that name contains this token (in any case).
[[nodiscard]] bool has_token(std::span<const field> fields, std::string_view name, std::string_view token) noexcept;

/// How the end of a body is found.
enum class body_kind : std::uint8_t { none, sized, chunked, until_close };

/// The common part of both heads.
struct message_head {
    unsigned version_minor = 1;  // of HTTP/1; a later minor version counts as 1
    /// How the body is delimited.
    body_kind body = body_kind::none;
    bool keep_alive = true;  // the peer keeps the connection open
    bool upgrade = false;    // Connection: upgrade
    /// The body's length in bytes, if its head says so.
    std::uint64_t content_length = 0;
    /// All fields, in their order.
    std::span<const field> fields;

    /// The value of the first field of that name; empty if there is none.
    [[nodiscard]] std::string_view find(std::string_view name) const noexcept { return find_field(fields, name); }
    /// Whether a list such as that of Connection contains `token`.
    [[nodiscard]] bool has(std::string_view name, std::string_view token) const noexcept {
        return has_token(fields, name, token);
    }
};

/// A request up to its body.
struct request_head : message_head {
    /// The method.
    http::method method = method::get;
    bool expects_continue = false;  // the body comes only after 100 (Continue)
    std::string_view target;        // as it was sent
    std::string_view path;          // of the target; "*" for the server as a whole
    std::string_view query;         // what follows the question mark
    std::string_view authority;     // the target's, otherwise Host; empty for HTTP/1.0 without one
};

/// A response up to its body.
struct response_head : message_head {
    /// The status code.
    unsigned status = 0;
    /// The text after the status code; often empty.
    std::string_view reason;
};

}  // namespace corro::http
