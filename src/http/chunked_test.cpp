// SPDX-License-Identifier: Apache-2.0
#include "http/chunked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "http/message_buffer.hpp"

namespace corro::http {
namespace {

struct outcome {
    std::string body;
    std::string trailers;
    std::size_t consumed = 0;
    bool ended = false;
    std::error_code error;
};

outcome decoded(std::string_view bytes, std::size_t step_bytes, const message_limits& limits = message_limits()) {
    chunk_decoder decoder;
    outcome result;
    while (result.consumed != bytes.size() && !decoder.ended()) {
        const auto step = decoder.decode(bytes.substr(result.consumed, step_bytes), limits);
        if (!step) {
            result.error = make_error_code(step.error());
            break;
        }
        result.body.append(step->data);
        result.consumed += step->consumed;
    }
    result.trailers = decoder.trailers();
    result.ended = decoder.ended();
    return result;
}

TEST(chunked, gives_the_same_body_however_the_bytes_arrive) {
    const std::string text = "5\r\nhello\r\n00A;x=\"a\\\"b;\r\";y\r\n0123456789\r\n0\r\nX-Sum: 7\r\n\r\nnext";
    const std::string valid = "5\r\nhello\r\n00A;x=\"a\\\"b;\";y\r\n0123456789\r\n0\r\nX-Sum: 7\r\n\r\nnext";
    for (std::size_t step = 1; step <= valid.size(); ++step) {
        const outcome result = decoded(valid, step);
        EXPECT_FALSE(result.error) << result.error.message() << " by " << step;
        EXPECT_EQ(result.body, "hello0123456789");
        EXPECT_EQ(result.trailers, "X-Sum: 7\r\n\r\n");
        EXPECT_TRUE(result.ended);
        EXPECT_EQ(result.consumed, valid.size() - 4);
    }
    EXPECT_EQ(decoded(text, 1).error, make_error_code(errc::malformed_chunk)) << "a carriage return inside quotes";
}

TEST(chunked, refuses_whatever_could_be_read_in_two_ways) {
    for (const std::string_view wrong : {"\r\n",
                                         "x\r\n",
                                         "-1\r\n",
                                         "+5\r\nhello\r\n",
                                         "0x5\r\nhello\r\n",
                                         "5 \r\nhello\r\n",
                                         " 5\r\nhello\r\n",
                                         "5\nhello\r\n",
                                         "5\r\nhelloX",
                                         "5\r\nhello\n",
                                         "5\r\nhello\rX",
                                         "5;\r\nhello\r\n",
                                         "5;a\nhello",
                                         "5;a=\r\nhello",
                                         "5;a=b\x01\r\n",
                                         "5\rX",
                                         "5;a=\"b\r\n",
                                         "0\r\nA : b\r\n\r\n",
                                         "0\r\nA\r\n\r\n",
                                         "0\r\n A: b\r\n\r\n",
                                         "0\r\nA: b\n\r\n",
                                         "0\r\n\n",
                                         "5,\r\n"}) {
        EXPECT_TRUE(decoded(wrong, 1).error) << wrong;
        EXPECT_TRUE(decoded(wrong, 100).error) << wrong;
    }
    for (const std::string_view right :
         {"5 ;a\r\nhello\r\n0\r\n\r\n", "5;a=b\r\nhello\r\n0\r\n\r\n", "5; a\r\nhello\r\n000\r\n\r\n"}) {
        const outcome result = decoded(right, 1);
        EXPECT_EQ(result.body, "hello") << right << ": " << result.error.message();
        EXPECT_TRUE(result.ended);
    }
}

TEST(chunked, limits_are_exact) {
    message_limits limits;
    limits.body_bytes = 10;
    limits.chunk_line_bytes = 12;
    limits.trailers_bytes = 10;
    limits.trailers_count = 1;
    EXPECT_EQ(decoded("5\r\nhello\r\n5\r\nworld\r\n0\r\n\r\n", 7, limits).body, "helloworld");
    EXPECT_EQ(decoded("5\r\nhello\r\n6\r\nworld!\r\n", 7, limits).error, make_error_code(errc::body_too_large));
    EXPECT_EQ(decoded("ffffffffffffffff\r\n", 7, limits).error, make_error_code(errc::malformed_chunk));
    limits.chunk_line_bytes = 40;
    EXPECT_EQ(decoded("ffffffffffffffff\r\n", 7, limits).error, make_error_code(errc::body_too_large));
    EXPECT_EQ(decoded("10000000000000000\r\n", 7, limits).error, make_error_code(errc::body_too_large));
    EXPECT_EQ(decoded("5;" + std::string(40, 'a'), 7, limits).error, make_error_code(errc::malformed_chunk));
    EXPECT_TRUE(decoded("0\r\nA: 45678\r\n\r\n", 1, limits).ended);
    EXPECT_EQ(decoded("0\r\nA: 456789\r\n\r\n", 1, limits).error, make_error_code(errc::trailers_too_large));
    EXPECT_EQ(decoded("0\r\nA:\r\nB:\r\n\r\n", 1, limits).error, make_error_code(errc::trailers_too_large));
}

TEST(chunked, writes_sizes_that_it_reads) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{9}, std::size_t{10}, std::size_t{255}, std::size_t{65536}, ~std::size_t{0}}) {
        std::array<char, 18> room{};
        const std::string line(chunk_size_line(size, room));
        EXPECT_EQ(std::stoull(line, nullptr, 16), size);
        EXPECT_TRUE(line.ends_with("\r\n"));
    }
}

TEST(message_buffer, keeps_a_head_in_place_while_its_body_passes_behind_it) {
    message_limits limits;
    limits.body_bytes = 10U << 20U;
    message_buffer buffer(limits);
    const std::string head = "\r\nPOST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 3000000\r\n\r\n";
    const auto put = [&](std::string_view text) {
        while (!text.empty()) {
            const auto room = buffer.room();
            ASSERT_FALSE(room.empty());
            const std::size_t size = std::min(room.size(), text.size());
            std::memcpy(room.data(), text.data(), size);
            buffer.commit(size);
            text.remove_prefix(size);
        }
    };
    put(head);
    std::array<field, 8> fields;
    auto found = buffer.find_head();
    ASSERT_TRUE(found);
    ASSERT_FALSE(found->empty());
    auto parsed = parse_request(*found, fields);
    ASSERT_TRUE(parsed);
    ASSERT_TRUE(buffer.make_body_room(*parsed));
    parsed = parse_request(*buffer.find_head(), fields);
    ASSERT_TRUE(buffer.begin_body(*parsed));
    std::size_t received = 0;
    const std::string piece(10'000, 'x');
    while (!buffer.body_ended()) {
        put(piece.substr(0, std::min(piece.size(), 3'000'000 - received)));
        for (auto part = buffer.take_body(); part && !part->empty(); part = buffer.take_body())
            received += part->size();
        ASSERT_EQ(parsed->path, "/upload");
        ASSERT_EQ(parsed->fields[1].value, "3000000");
    }
    EXPECT_EQ(received, 3'000'000U);
    put("GET / HTTP/1.1\r\nHost: b\r\n\r\n");
    buffer.end_message();
    EXPECT_EQ(parse_request(*buffer.find_head(), fields)->authority, "b");
}

}  // namespace
}  // namespace corro::http
