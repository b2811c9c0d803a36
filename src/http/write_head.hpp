// SPDX-License-Identifier: Apache-2.0
// Heads as text, appended to an output buffer.
//
// Threads: any.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "http/message.hpp"

namespace corro::http {

/// Appends "HTTP/1.1 200 OK" and CRLF. @pre 100 <= status <= 999 (asserted).
void append_status_line(std::string& to, unsigned status);

/// Appends "GET /path HTTP/1.1" and CRLF. Characters that are not allowed in a target are left out.
void append_request_line(std::string& to, method which, std::string_view target);

/// Appends "Name: value" and CRLF. Control characters in the value become spaces, so that a value cannot inject a field
/// or a response. @pre The name is a token (asserted).
void append_field(std::string& to, std::string_view name, std::string_view value);

void append_number(std::string& to, std::uint64_t number);

}  // namespace corro::http
