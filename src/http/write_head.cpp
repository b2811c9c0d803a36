// SPDX-License-Identifier: Apache-2.0
#include "http/write_head.hpp"

#include <array>
#include <charconv>

#include "base/assert.hpp"
#include "http/characters.hpp"

namespace corro::http {

void append_number(std::string& to, std::uint64_t number) {
    std::array<char, 20> digits;
    const auto written = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    to.append(digits.data(), written.ptr);
}

void append_status_line(std::string& to, unsigned status) {
    CORRO_ASSERT(status >= 100 && status <= 999, "a status must have three digits");
    if (status == 200) [[likely]] {
        to.append("HTTP/1.1 200 OK\r\n");
        return;
    }
    to.append("HTTP/1.1 ");
    append_number(to, status);
    to.push_back(' ');
    to.append(reason_of(status));
    to.append("\r\n");
}

void append_request_line(std::string& to, method which, std::string_view target) {
    to.append(name_of(which));
    to.push_back(' ');
    if (detail::all_in(target, detail::in_target)) [[likely]] {
        to.append(target);
    } else {
        for (const char c : target) {
            if (detail::is_in(c, detail::in_target)) to.push_back(c);
        }
    }
    to.append(" HTTP/1.1\r\n");
}

void append_field(std::string& to, std::string_view name, std::string_view value) {
    CORRO_ASSERT(!name.empty() && detail::all_in(name, detail::in_token), "the name of a field must be a token");
    to.append(name);
    to.append(": ");
    if (detail::all_in(value, detail::in_value)) [[likely]] {
        to.append(value);
    } else {
        for (const char c : value) to.push_back(detail::is_in(c, detail::in_value) ? c : ' ');
    }
    to.append("\r\n");
}

}  // namespace corro::http
