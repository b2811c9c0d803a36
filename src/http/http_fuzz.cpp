// SPDX-License-Identifier: Apache-2.0
// With any bytes, at a server or a client, the parsers end, stay inside the bytes, find the same messages however the
// stream is cut, and accept only what other parsers read the same way.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/assert.hpp"
#include "http/message_buffer.hpp"

namespace {

using namespace corro::http;

struct transcript {
    std::vector<std::string> messages;  // the head's text, then the body, then the trailers
    errc error{};
};

message_limits small_limits() {
    message_limits limits;
    limits.start_line_bytes = 100;
    limits.fields_bytes = 400;
    limits.fields_count = 8;
    limits.body_bytes = 500;
    limits.chunk_line_bytes = 30;
    limits.trailers_bytes = 60;
    limits.trailers_count = 2;
    return limits;
}

/// Checks an accepted head with a very simple parser.
void check_lines(std::string_view head) {
    CORRO_ASSERT(head.ends_with("\r\n\r\n"));
    for (std::size_t at = 0; at != head.size(); ++at) {
        CORRO_ASSERT(head[at] != '\0');
        CORRO_ASSERT((head[at] == '\n') == (at != 0 && head[at - 1] == '\r'), "line ends are whole");
    }
}

void check_head(const message_head& head) {
    const message_limits limits = small_limits();
    CORRO_ASSERT(head.fields.size() <= limits.fields_count);
    unsigned lengths = 0;
    unsigned codings = 0;
    for (const field& one : head.fields) {
        CORRO_ASSERT(!one.name.empty() && one.name.find_first_of(" \t\r\n:") == std::string_view::npos);
        CORRO_ASSERT(one.value.find_first_of(std::string_view("\r\n\0", 3)) == std::string_view::npos);
        lengths += same_name(one.name, "Content-Length") ? 1U : 0U;
        codings += same_name(one.name, "Transfer-Encoding") ? 1U : 0U;
    }
    CORRO_ASSERT(lengths + codings <= 1, "the length of a body is stated once");
    if (head.body == body_kind::chunked) CORRO_ASSERT(codings == 1 && head.version_minor == 1);
    if (head.body == body_kind::sized) CORRO_ASSERT(lengths == 1);
}

transcript read(std::string_view bytes, std::size_t step, bool as_server) {
    transcript seen;
    message_buffer buffer(small_limits());
    std::array<field, 8> fields;
    bool in_body = false;
    std::string body;
    const auto take = [&]() -> bool {
        for (;;) {
            if (!in_body) {
                auto text = buffer.find_head();
                if (!text) return seen.error = text.error(), false;
                if (text->empty()) return true;
                message_head head;
                std::string copy(*text);
                for (int pass = 0; pass != 2; ++pass) {
                    if (as_server) {
                        const auto parsed = parse_request(*text, fields);
                        if (!parsed) return seen.error = parsed.error(), false;
                        CORRO_ASSERT(parsed->version_minor == 0 || !parsed->fields.empty(), "there is a Host");
                        CORRO_ASSERT(parsed->body != body_kind::until_close);
                        head = *parsed;
                    } else {
                        const auto parsed = parse_response(*text, fields, method::get);
                        if (!parsed) return seen.error = parsed.error(), false;
                        CORRO_ASSERT(parsed->status >= 100 && parsed->status <= 999);
                        head = *parsed;
                    }
                    if (pass != 0 || !buffer.make_body_room(head)) break;
                    text = buffer.find_head();
                    CORRO_ASSERT(text && *text == copy, "moving a head does not change it");
                }
                check_lines(copy);
                check_head(head);
                if (const auto begun = buffer.begin_body(head); !begun) return seen.error = begun.error(), false;
                seen.messages.push_back(std::move(copy));
                in_body = true;
                body.clear();
            }
            const auto piece = buffer.take_body();
            if (!piece) return seen.error = piece.error(), false;
            body.append(*piece);
            CORRO_ASSERT(body.size() <= small_limits().body_bytes);
            if (!buffer.body_ended()) {
                if (piece->empty()) return true;
                continue;
            }
            seen.messages.push_back(body);
            seen.messages.emplace_back(buffer.trailers());
            buffer.end_message();
            in_body = false;
        }
    };
    while (!bytes.empty()) {
        const auto room = buffer.room();
        CORRO_ASSERT(!room.empty());
        const std::size_t size = std::min({room.size(), step, bytes.size()});
        std::memcpy(room.data(), bytes.data(), size);
        buffer.commit(size);
        bytes.remove_prefix(size);
        if (!take()) return seen;
    }
    return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    for (const bool as_server : {true, false}) {
        const transcript whole = read(bytes, size + 1, as_server);
        const transcript by_one = read(bytes, 1, as_server);
        const transcript by_seven = read(bytes, 7, as_server);
        CORRO_ASSERT(by_one.messages == by_seven.messages && by_one.error == by_seven.error, "cuts change nothing");
        // With all bytes at once an error may be found before an earlier piece of a body has been taken.
        CORRO_ASSERT(whole.messages == by_one.messages && whole.error == by_one.error, "cuts change nothing");
    }
    return 0;
}
