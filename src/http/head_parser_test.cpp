// SPDX-License-Identifier: Apache-2.0
#include "http/head_parser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "http/date_line.hpp"
#include "http/write_head.hpp"

namespace corro::http {
namespace {

std::expected<request_head, errc> parsed(std::string_view head, std::span<field> room) {
    head_scanner scanner;
    const auto size = scanner.scan(head, message_limits());
    if (!size) return std::unexpected(size.error());
    EXPECT_EQ(*size, head.size()) << "not a whole head: " << head;
    return parse_request(head, room);
}

/// The status that a request is refused with; 200 if it is not.
unsigned verdict(std::string_view head) {
    std::array<field, 16> room;
    const auto result = parsed(head, room);
    return result ? 200 : status_of(result.error());
}

TEST(head_parser, takes_a_request_apart) {
    std::array<field, 16> room;
    const auto head =
        parsed("POST /orders/7?side=buy HTTP/1.1\r\nHost: venue:80\r\nX-Empty:\r\nContent-Length:  12 \r\n\r\n", room);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->method, method::post);
    EXPECT_EQ(head->path, "/orders/7");
    EXPECT_EQ(head->query, "side=buy");
    EXPECT_EQ(head->authority, "venue:80");
    EXPECT_EQ(head->find("x-empty"), "");
    EXPECT_EQ(head->fields.size(), 3U);
    EXPECT_EQ(head->body, body_kind::sized);
    EXPECT_EQ(head->content_length, 12U);
    EXPECT_TRUE(head->keep_alive);
}

TEST(head_parser, knows_the_four_forms_of_a_target) {
    std::array<field, 16> room;
    const auto absolute = parsed("GET http://other:8080/x?y HTTP/1.1\r\nHost: venue\r\n\r\n", room);
    ASSERT_TRUE(absolute);
    EXPECT_EQ(absolute->authority, "other:8080");
    EXPECT_EQ(absolute->path, "/x");
    EXPECT_EQ(absolute->query, "y");
    const auto bare = parsed("GET http://other HTTP/1.1\r\nHost: venue\r\n\r\n", room);
    ASSERT_TRUE(bare);
    EXPECT_EQ(bare->path, "/");
    EXPECT_EQ(verdict("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"), 200U);
    EXPECT_EQ(verdict("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"), 200U);
    for (const std::string_view wrong :
         {"GET *", "GET a:443", "CONNECT /", "GET x", "GET /#part", "GET /a\x7f", "GET /\xc3\xa4", "GET ftp://a/",
          "GET http:///x", "GET /%2", "GET /%zz", "GET /a<b"}) {
        EXPECT_EQ(verdict(std::string(wrong) + " HTTP/1.1\r\nHost: a\r\n\r\n"), 400U) << wrong;
    }
}

TEST(head_parser, refuses_malformed_first_lines) {
    for (const std::string_view line :
         {"GET  / HTTP/1.1", "GET / HTTP/1.1 ", " GET / HTTP/1.1", "GET / http/1.1", "GET / HTTP/11", "GET / HTTP/1.10",
          "GET /", "GET", "GET\t/ HTTP/1.1", "GET / x HTTP/1.1", "G@T / HTTP/1.1", "GET / HTTP/1.x", "GET / HTTP 1.1",
          "GET /\r HTTP/1.1"}) {
        EXPECT_EQ(verdict(std::string(line) + "\r\nHost: a\r\n\r\n"), 400U) << line;
    }
    EXPECT_EQ(verdict("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505U);
    EXPECT_EQ(verdict("GET / HTTP/0.9\r\nHost: a\r\n\r\n"), 505U);
    EXPECT_EQ(verdict("get / HTTP/1.1\r\nHost: a\r\n\r\n"), 501U);
    EXPECT_EQ(verdict("BREW / HTTP/1.1\r\nHost: a\r\n\r\n"), 501U);
}

TEST(head_parser, refuses_malformed_fields) {
    for (const std::string_view line : {"A : b", " A: b", "A", ": b", "A: b\r\n c", "A: b\r\n\tc", "A\t: b", "A: b\rc",
                                        "A: b\x01", "A: b\x7f", "A(: b", "A\xc3: b"}) {
        EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: a\r\n" + std::string(line) + "\r\n\r\n"), 400U) << line;
    }
    EXPECT_EQ(verdict(std::string_view("GET / HTTP/1.1\r\nHost: a\r\nA: b\0c\r\n\r\n", 35)), 400U);
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: a\r\nA: \xc3\xa4\t\"x\"\r\n\r\n"), 200U);
}

TEST(head_parser, refuses_a_line_feed_alone_at_once) {
    head_scanner scanner;
    EXPECT_EQ(scanner.scan("GET / HTTP/1.1\n", message_limits()).error(), errc::bare_line_feed);
    scanner.reset();
    EXPECT_EQ(scanner.scan("GET / HTTP/1.1\r\nHost: a\n", message_limits()).error(), errc::bare_line_feed);
    scanner.reset();
    EXPECT_EQ(scanner.scan("GET / HTTP/1.1\r\n\n", message_limits()).error(), errc::bare_line_feed);
    scanner.reset();
    EXPECT_EQ(scanner.scan("\x16\x03\x01", message_limits()).error(), errc::malformed_start_line);
}

TEST(head_parser, demands_exactly_one_valid_host_from_http_1_1) {
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\n\r\n"), 400U);
    EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"), 400U);
    EXPECT_EQ(verdict("GET / HTTP/1.0\r\n\r\n"), 200U);
    EXPECT_EQ(verdict("GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n"), 400U);
    for (const std::string_view good : {"a", "a:80", "[::1]:80", "1.2.3.4", "", "a:"}) {
        EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: " + std::string(good) + "\r\n\r\n"), 200U) << good;
    }
    for (const std::string_view bad :
         {"a b", "a/b", "a@b", "a:b", "[::1", "::1", ":80", "[]", "a:80:80", "[::1]80", "a#"}) {
        EXPECT_EQ(verdict("GET / HTTP/1.1\r\nHost: " + std::string(bad) + "\r\n\r\n"), 400U) << bad;
    }
}

TEST(head_parser, refuses_whatever_states_the_length_ambiguously) {
    const auto post = [](std::string_view fields) {
        return verdict("POST / HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n\r\n");
    };
    EXPECT_EQ(post("Content-Length: 5\r\nContent-Length: 5"), 400U);
    EXPECT_EQ(post("Content-Length: 5\r\nContent-Length: 6"), 400U);
    EXPECT_EQ(post("Content-Length: 5\r\nTransfer-Encoding: chunked"), 400U);
    EXPECT_EQ(post("Transfer-Encoding: chunked\r\nContent-Length: 0"), 400U);
    for (const std::string_view length : {"5, 5", "+5", "-5", "0x5", "5 5", "", "5a", "1e1", "\xd9\xa1", "5."}) {
        EXPECT_EQ(post("Content-Length: " + std::string(length)), 400U) << length;
    }
    EXPECT_EQ(post("Content-Length: 99999999999999999999999"), 413U);
    EXPECT_EQ(post("Content-Length: 0005"), 200U);
    for (const std::string_view coding :
         {"identity", "chunked, identity", "chunked, chunked", "xchunked", "chunked;q=1", ", chunked", "chunked,",
          "\"chunked\"", "gzip", "", "chunked gzip"}) {
        EXPECT_EQ(post("Transfer-Encoding: " + std::string(coding)), 400U) << coding;
    }
    EXPECT_EQ(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked"), 400U);
    EXPECT_EQ(post("Transfer-Encoding: gzip, chunked"), 501U);
    EXPECT_EQ(post("Transfer-Encoding: Chunked"), 200U);
    EXPECT_EQ(post("Transfer-Encoding : chunked"), 400U);
    EXPECT_EQ(post("Transfer-Encoding:\vchunked"), 400U);
    EXPECT_EQ(verdict("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"), 400U);
}

TEST(head_parser, decides_whether_the_connection_stays) {
    std::array<field, 16> room;
    EXPECT_FALSE(parsed("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", room)->keep_alive);
    EXPECT_FALSE(parsed("GET / HTTP/1.0\r\n\r\n", room)->keep_alive);
    EXPECT_TRUE(parsed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", room)->keep_alive);
    EXPECT_TRUE(parsed("GET / HTTP/1.2\r\nHost: a\r\nConnection: Upgrade\r\n\r\n", room)->upgrade);
}

TEST(head_parser, understands_one_expectation_only) {
    std::array<field, 16> room;
    EXPECT_TRUE(parsed("PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n\r\n", room)->expects_continue);
    EXPECT_EQ(verdict("PUT / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n"), 417U);
    EXPECT_FALSE(parsed("PUT / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n", room)->expects_continue);
}

TEST(head_parser, limits_are_exact_and_hold_before_the_line_is_whole) {
    message_limits limits;
    limits.start_line_bytes = 20;
    limits.fields_bytes = 24;
    limits.fields_count = 2;
    const auto outcome = [&](std::string_view bytes) { return head_scanner().scan(bytes, limits); };
    EXPECT_TRUE(outcome("GET /12345 HTTP/1.\r\n"));
    EXPECT_EQ(outcome("GET /123456 HTTP/1.1\r\n").error(), errc::start_line_too_long);
    EXPECT_EQ(outcome("GET /1234567890123456").error(), errc::start_line_too_long);
    EXPECT_EQ(*outcome("G / HTTP/1.1\r\nA: 1234567890\r\nB: 34\r\n\r\n"), 38U);
    EXPECT_EQ(outcome("G / HTTP/1.1\r\nA: 1234567890\r\nB: 345\r\n\r\n").error(), errc::fields_too_large);
    EXPECT_EQ(outcome("G / HTTP/1.1\r\nA: 12345678901234567890123").error(), errc::fields_too_large);
    EXPECT_EQ(outcome("G / HTTP/1.1\r\nA:\r\nB:\r\nC:\r\n\r\n").error(), errc::fields_too_large);
}

TEST(head_parser, finds_the_same_end_however_the_bytes_arrive) {
    const std::string text = "GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n\r\nrest";
    head_scanner scanner;
    std::size_t found = 0;
    for (std::size_t size = 1; size <= text.size() && found == 0; ++size) {
        const auto result = scanner.scan(std::string_view(text).substr(0, size), message_limits());
        ASSERT_TRUE(result);
        found = *result;
        if (found != 0) {
            EXPECT_EQ(size, found);
        }
    }
    EXPECT_EQ(found, text.size() - 4);
}

TEST(head_parser, takes_a_response_apart) {
    std::array<field, 8> room;
    auto head = parse_response("HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\n", room, method::get);
    ASSERT_TRUE(head);
    EXPECT_EQ(head->status, 404U);
    EXPECT_EQ(head->reason, "Not Found");
    EXPECT_EQ(head->body, body_kind::sized);
    EXPECT_EQ(parse_response("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", room, method::head)->body,
              body_kind::none);
    EXPECT_EQ(parse_response("HTTP/1.1 204 \r\nContent-Length: 3\r\n\r\n", room, method::get)->body, body_kind::none);
    EXPECT_EQ(parse_response("HTTP/1.1 200\r\n\r\n", room, method::get)->body, body_kind::until_close);
    for (const std::string_view wrong : {"HTTP/1.1 2000 OK", "HTTP/1.1  200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 099 x",
                                         "HTTP/1.1 200\tOK", "ICY 200 OK"}) {
        EXPECT_EQ(parse_response(std::string(wrong) + "\r\n\r\n", room, method::get).error(),
                  errc::malformed_start_line)
            << wrong;
    }
    EXPECT_EQ(
        parse_response("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n", room, method::get)
            .error(),
        errc::ambiguous_length);
}

TEST(head_parser, written_fields_cannot_begin_others) {
    std::string text;
    append_field(text, "Location", "/x\r\nSet-Cookie: stolen");
    EXPECT_EQ(text, "Location: /x  Set-Cookie: stolen\r\n");
    text.clear();
    append_request_line(text, method::get, "/a b\r\nc");
    EXPECT_EQ(text, "GET /abc HTTP/1.1\r\n");
}

TEST(head_parser, writes_the_date_as_the_standard_prints_it) {
    date_line line;
    const std::chrono::sys_seconds then(std::chrono::seconds(784111777));
    EXPECT_EQ(line.at(then), "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n");
    EXPECT_EQ(line.at(then + std::chrono::seconds(1)), "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\n");
}

}  // namespace
}  // namespace corro::http
