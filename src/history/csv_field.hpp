// SPDX-License-Identifier: Apache-2.0
// A text as a field of a CSV file, such as the name of an instrument.
//
// Source: RFC 4180, section 2. Threads: any. Cost: looks at each character; allocates only for a field with quotes.
#pragma once

#include <string>
#include <string_view>

namespace corro::history {

/// Returns the text itself, or `room`, to which it writes the text in quotes: with a comma, a quote or an end of line
/// in it, with each quote doubled.
[[nodiscard]] inline std::string_view csv_field(std::string_view text, std::string& room) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return text;
    room = '"';
    for (const char c : text) {
        if (c == '"') room += '"';
        room += c;
    }
    room += '"';
    return room;
}

}  // namespace corro::history
