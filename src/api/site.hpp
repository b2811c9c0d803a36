// SPDX-License-Identifier: Apache-2.0
// The pages that the API's server has beside its methods: files in memory, with what HTTP needs to know about them.
//
// Limits:  none of its own. Threads: any. Cost: a search by name; a body is copied into the connection's buffer.
// Source:  docs/spec/api.md, "The dashboard"; RFC 9110, 12.5.3 and 13.1.2; Content Security Policy Level 3.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "http/exchange.hpp"
#include "http/message.hpp"

namespace corro::api {

/// One file. Its texts outlive the server.
struct site_file {
    std::string_view path;  ///< behind the first slash: "index.html"
    std::string_view content_type;
    std::string_view tag;       ///< hexadecimal digits of a hash of the contents
    std::string_view contents;  ///< as they are
    std::string_view gzip;      ///< the same compressed; empty if that saves nothing
    bool is_immutable = false;  ///< the name changes with the contents
};

class site {
 public:
    explicit site(std::span<const site_file> files) noexcept : files_(files) {}

    [[nodiscard]] bool is_empty() const noexcept { return files_.empty(); }
    /// The file of a request's path; "/" is "index.html". nullptr if there is none.
    [[nodiscard]] const site_file* find(std::string_view path) const noexcept;
    /// Answers GET and HEAD: the file, 304 if the client has it, or 404.
    void answer(http::exchange& on) const;

 private:
    std::span<const site_file> files_;
};

/// Whether a request accepts a coding, by its Accept-Encoding: named, or by "*", and not with a weight of 0.
[[nodiscard]] bool accepts_coding(std::span<const http::field> fields, std::string_view coding) noexcept;

/// Whether If-None-Match names the file, in either coding.
[[nodiscard]] bool has_already(std::string_view if_none_match, std::string_view tag) noexcept;

/// The fields that all pages have, for the security of browsers.
[[nodiscard]] std::span<const http::field> security_fields() noexcept;

}  // namespace corro::api
