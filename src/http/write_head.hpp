// Heads as text, appended to what is about to be sent.
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

/// Appends "GET /path HTTP/1.1" and CRLF. Characters that no target may have are left out.
void append_request_line(std::string& to, method which, std::string_view target);

/// Appends "Name: value" and CRLF. Control characters in the value become spaces, so that whatever it was made from
/// cannot begin a field or a response of its own. @pre The name is a token (asserted).
void append_field(std::string& to, std::string_view name, std::string_view value);

void append_number(std::string& to, std::uint64_t number);

}  // namespace corro::http
