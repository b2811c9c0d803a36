// SPDX-License-Identifier: Apache-2.0
#include "websocket/receiver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/test_bytes.hpp"
#include "base/test_seed.hpp"

namespace corro::websocket {
namespace {

using base::bytes_of;
using base::text_of;

/// A client's frame.
std::string frame(unsigned first_byte, std::string_view payload, bool masked = true) {
    frame_header header;
    header.final = (first_byte & 0x80U) != 0;
    header.code = static_cast<opcode>(first_byte & 0x0FU);
    header.masked = masked;
    header.key = {std::byte{0x37}, std::byte{0xFA}, std::byte{0x21}, std::byte{0x3D}};
    header.payload_bytes = payload.size();
    std::array<std::byte, frame_header_bytes_max> room;
    const std::size_t size = encode_frame_header(header, room);
    std::string text = text_of(std::span(room).first(size));
    text[0] = static_cast<char>(first_byte);
    std::string body(payload);
    if (masked) apply_mask(std::as_writable_bytes(std::span(body)), header.key, 0);
    return text + body;
}

/// A server's events for `bytes`, given in steps: "T:text", "B:binary", "P:ping", "O:pong", "C1000:reason", "!7" (the
/// number of the error).
std::vector<std::string> events(std::string_view bytes, std::size_t step, receive_limits limits = receive_limits(),
                                std::optional<deflate_parameters> deflate = std::nullopt,
                                std::size_t* most_held = nullptr) {
    receiver receiving(role::server, limits, deflate);
    std::vector<std::string> found;
    while (!bytes.empty()) {
        const auto room = receiving.room();
        const std::size_t size = std::min({room.size(), step, bytes.size()});
        std::copy_n(bytes_of(bytes).begin(), size, room.begin());
        receiving.commit(size);
        bytes.remove_prefix(size);
        for (;;) {
            const auto next = receiving.next();
            if (most_held != nullptr) *most_held = std::max(*most_held, receiving.held_bytes());
            if (!next) {
                found.push_back("!" + std::to_string(static_cast<int>(next.error())));
                return found;
            }
            if (next->what == receiver::kind::nothing) break;
            switch (next->what) {
                case receiver::kind::text: found.push_back("T:" + text_of(next->payload)); break;
                case receiver::kind::binary: found.push_back("B:" + text_of(next->payload)); break;
                case receiver::kind::ping: found.push_back("P:" + text_of(next->payload)); break;
                case receiver::kind::pong: found.push_back("O:" + text_of(next->payload)); break;
                default:
                    found.push_back("C" + std::to_string(std::to_underlying(next->code)) + ":" +
                                    text_of(next->payload));
            }
        }
    }
    return found;
}

std::string error_of(errc code) {
    return "!" + std::to_string(static_cast<int>(code));
}

using strings = std::vector<std::string>;

TEST(websocket_receiver, puts_messages_together_however_the_bytes_arrive) {
    const std::string large(70'000, 'l');
    const std::string bytes = frame(0x81, "Hello") + frame(0x01, "Hel") + frame(0x89, "ping") + frame(0x00, "") +
                              frame(0x80, "lo") + frame(0x82, "") + frame(0x8A, "pong") + frame(0x82, large) +
                              frame(0x82, std::string(126, 'x')) +
                              frame(0x88,
                                    "\x03\xE8"
                                    "bye") +
                              frame(0x81, "after");
    const strings expected{"T:Hello",  "P:ping", "T:Hello", "B:", "O:pong", "B:" + large, "B:" + std::string(126, 'x'),
                           "C1000:bye"};
    for (const std::size_t step : std::initializer_list<std::size_t>{1, 2, 3, 7, 100, 5000, 1'000'000}) {
        EXPECT_EQ(events(bytes, step), expected) << step;
    }
}

TEST(websocket_receiver, refuses_every_frame_that_breaks_a_rule) {
    const std::pair<std::string, errc> cases[] = {
        {frame(0xC1, "x"), errc::reserved_bits},
        {frame(0xA1, "x"), errc::reserved_bits},
        {frame(0x91, "x"), errc::reserved_bits},
        {frame(0x83, "x"), errc::reserved_opcode},
        {frame(0x87, "x"), errc::reserved_opcode},
        {frame(0x8B, "x"), errc::reserved_opcode},
        {frame(0x8F, "x"), errc::reserved_opcode},
        {frame(0x81, "x", false), errc::wrong_masking},
        {frame(0x09, "x"), errc::bad_control_frame},
        {frame(0x08, ""), errc::bad_control_frame},
        {frame(0x89, std::string(126, 'x')), errc::bad_control_frame},
        {frame(0x80, "x"), errc::bad_sequence},
        {frame(0x00, "x"), errc::bad_sequence},
        {frame(0x01, "x") + frame(0x81, "y"), errc::bad_sequence},
        {frame(0x01, "x") + frame(0x02, "y"), errc::bad_sequence},
        {frame(0x88, "\x03"), errc::bad_close},
        {frame(0x88, std::string("\x03\xED", 2)), errc::bad_close},
        {frame(0x88, std::string("\x00\x00", 2)), errc::bad_close},
        {frame(0x88, std::string("\x13\x88", 2)), errc::bad_close},
        {frame(0x88, std::string("\x03\xF7", 2)), errc::bad_close},
        {frame(0x88, "\x03\xE8\xFF"), errc::bad_utf8},
        {std::string("\x82\xFE\x00\x7D", 4), errc::wrong_length},
        {std::string("\x82\xFF\x00\x00\x00\x00\x00\x00\xFF\xFF", 10), errc::wrong_length},
        {std::string("\x82\xFF\x80\x00\x00\x00\x00\x00\x00\x00", 10), errc::wrong_length},
        {std::string("\x82\xFF\x7F\x00\x00\x00\x00\x00\x00\x00\x01\x02\x03\x04", 14), errc::message_too_big},
    };
    for (const auto& [bytes, code] : cases) {
        for (const std::size_t step : std::initializer_list<std::size_t>{1, 1000}) {
            const strings found = events(bytes, step);
            ASSERT_FALSE(found.empty()) << static_cast<int>(code);
            EXPECT_EQ(found.back(), error_of(code)) << static_cast<unsigned>(static_cast<unsigned char>(bytes[0]));
        }
    }
}

TEST(websocket_receiver, a_client_takes_no_masked_frames) {
    receiver receiving(role::client, receive_limits(), std::nullopt);
    receiving.put(bytes_of(frame(0x81, "x")));
    EXPECT_EQ(receiving.next().error(), errc::wrong_masking);
    receiver right(role::client, receive_limits(), std::nullopt);
    right.put(bytes_of(frame(0x81, "x", false)));
    EXPECT_EQ(text_of(right.next()->payload), "x");
}

TEST(websocket_receiver, finds_invalid_text_at_its_first_byte_even_inside_a_frame) {
    for (const std::string_view bad : {"\xC0\xAF", "\xC1\x80", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
                                       "\xF4\x90\x80\x80", "\xF5\x80", "\x80", "\xFE", "\xE2\x82x"}) {
        const std::string whole = frame(0x81, std::string("ok ") + std::string(bad));
        EXPECT_EQ(events(whole, 1).back(), error_of(errc::bad_utf8));
        EXPECT_EQ(events(whole, 1000).back(), error_of(errc::bad_utf8));
        // The frame announces much more than has arrived.
        const std::string part =
            frame(0x81, std::string("ok ") + std::string(bad) + std::string(60'000, 'x')).substr(0, 8 + 3 + bad.size());
        EXPECT_EQ(events(part, 1000), strings{error_of(errc::bad_utf8)}) << text_of(bytes_of(bad));
    }
    EXPECT_EQ(events(frame(0x81, "cut \xE2\x82"), 1000), strings{error_of(errc::bad_utf8)});
    EXPECT_EQ(events(frame(0x01, "\xE2\x82") + frame(0x80, "\xAC"), 1), strings{"T:\xE2\x82\xAC"});
    EXPECT_EQ(events(frame(0x81, "\xF4\x8F\xBF\xBF\xED\x9F\xBF\xEE\x80\x80"), 2).size(), 1U);
    EXPECT_EQ(events(frame(0x82, "\xFF\xFE"), 2), strings{"B:\xFF\xFE"});
}

TEST(websocket_receiver, a_million_fragments_of_one_byte_hold_no_more_than_their_message) {
    std::string bytes = frame(0x02, "x");
    for (int i = 0; i < 999'998; ++i) bytes += frame(0x00, "x");
    bytes += frame(0x80, "x");
    std::size_t most_held = 0;
    const strings found = events(bytes, 60'000, receive_limits(), std::nullopt, &most_held);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].size(), 1'000'002U);
    EXPECT_LE(most_held, (2U << 20U) + read_bytes_max);

    receive_limits small;
    small.message_bytes = 500'000;
    most_held = 0;
    EXPECT_EQ(events(bytes, 60'000, small, std::nullopt, &most_held), strings{error_of(errc::message_too_big)});
    EXPECT_LE(most_held, 500'000U + read_bytes_max);
    small = receive_limits();
    small.fragments_count = 1000;
    EXPECT_EQ(events(bytes, 60'000, small), strings{error_of(errc::message_too_big)});
}

TEST(websocket_receiver, a_frame_that_announces_much_costs_only_what_comes) {
    std::string start = frame(0x82, "").substr(0, 1);
    start += std::string("\xFF\x00\x00\x00\x00\x00\xFF\xFF\xFF", 9) + "\x01\x02\x03\x04" + "some";
    std::size_t most_held = 0;
    EXPECT_EQ(events(start, 1000, receive_limits(), std::nullopt, &most_held), strings{});
    EXPECT_LE(most_held, 32U * 1024);
    receive_limits small;
    small.message_bytes = 1000;
    EXPECT_EQ(events(start, 1000, small), strings{error_of(errc::message_too_big)});
}

std::string deflated(std::string_view text) {
    deflater compress(15, true, 6);
    std::string out;
    compress.deflate(bytes_of(text), out);
    return out;
}

TEST(websocket_receiver, inflates_messages_fragments_and_the_examples_of_the_standard) {
    const auto given = [](std::string_view bytes, std::size_t step,
                          deflate_parameters parameters = deflate_parameters()) {
        return events(bytes, step, receive_limits(), parameters);
    };
    using namespace std::string_literals;
    const std::string hello = "\xf2\x48\xcd\xc9\xc9\x07\x00"s;
    const std::string again = "\xf2\x00\x11\x00\x00"s;
    for (const std::size_t step : std::initializer_list<std::size_t>{1, 3, 1000}) {
        EXPECT_EQ(given(frame(0xC1, hello), step), strings{"T:Hello"});
        EXPECT_EQ(given(frame(0x41, hello.substr(0, 3)) + frame(0x80, hello.substr(3)), step), strings{"T:Hello"});
        EXPECT_EQ(given(frame(0xC1, hello) + frame(0xC1, again), step), (strings{"T:Hello", "T:Hello"}));
        // Not compressed; one block with the final bit; two blocks.
        EXPECT_EQ(given(frame(0xC1, "\x00\x05\x00\xfa\xffHello\x00"s), step), strings{"T:Hello"});
        EXPECT_EQ(given(frame(0xC1, "\xf3\x48\xcd\xc9\xc9\x07\x00\x00"s), step), strings{"T:Hello"});
        EXPECT_EQ(given(frame(0xC1, "\xf2\x48\x05\x00\x00\x00\xff\xff\xca\xc9\xc9\x07\x00"s), step),
                  strings{"T:Hello"});
        EXPECT_EQ(given(frame(0xC1, "\x00"s) + frame(0x81, "plain"), step), (strings{"T:", "T:plain"}));
        EXPECT_EQ(given(frame(0xC1, "\xff\xff"s), step).back(), error_of(errc::bad_deflate));
        EXPECT_EQ(given(frame(0x41, hello) + frame(0xC0, ""), step).back(), error_of(errc::reserved_bits));
        EXPECT_EQ(given(frame(0xC9, ""), step).back(), error_of(errc::reserved_bits));
        EXPECT_EQ(given(frame(0xC1, deflated("bad \xFF text")), step).back(), error_of(errc::bad_utf8));
    }
    deflate_parameters forgetful;
    forgetful.client_no_context_takeover = true;
    EXPECT_EQ(given(frame(0xC1, hello) + frame(0xC1, again), 1000, forgetful).back(), error_of(errc::bad_deflate));
    // A message that refers beyond the agreed window.
    std::mt19937 random(7);
    std::string far(3000, '\0');
    for (char& c : far) c = static_cast<char>(random() & 0x7FU);
    far += far;
    deflate_parameters narrow;
    narrow.client_max_window_bits = 9;
    EXPECT_EQ(given(frame(0xC2, deflated(far)), 1000, narrow), strings{error_of(errc::bad_deflate)});
    EXPECT_EQ(given(frame(0xC2, deflated(far)), 1000), strings{"B:" + far});
}

TEST(websocket_receiver, a_decompression_bomb_is_stopped_at_the_limit) {
    const std::string bomb = deflated(std::string(64U << 20U, '\0'));
    ASSERT_LT(bomb.size(), 100'000U);
    receive_limits limits;
    limits.message_bytes = 1U << 20U;
    std::size_t most_held = 0;
    EXPECT_EQ(events(frame(0xC2, bomb), 100'000, limits, deflate_parameters(), &most_held),
              strings{error_of(errc::message_too_big)});
    EXPECT_LE(most_held, (1U << 20U) + 2 * read_bytes_max);
    limits.message_bytes = 64U << 20U;
    EXPECT_EQ(events(frame(0xC2, bomb), 100'000, limits, deflate_parameters()).front().size(), (64U << 20U) + 2);
    limits.message_bytes -= 1;
    EXPECT_EQ(events(frame(0xC2, bomb), 100'000, limits, deflate_parameters()),
              strings{error_of(errc::message_too_big)});
}

TEST(websocket_receiver, what_a_deflater_writes_an_inflater_reads) {
    std::mt19937_64 random(base::test_seed());
    for (const unsigned bits : {9U, 12U, 15U}) {
        for (const bool forgets : {false, true}) {
            deflater compress(bits, forgets, 1);
            inflater expand(bits, forgets);
            for (int i = 0; i < 40; ++i) {
                std::string text(random() % 50'000, '\0');
                for (char& c : text) c = static_cast<char>('a' + random() % (1 + random() % 20));
                std::string small;
                compress.deflate(bytes_of(text), small);
                byte_buffer whole;
                const std::size_t cut = small.empty() ? 0 : random() % small.size();
                ASSERT_TRUE(expand.inflate(bytes_of(small).first(cut), whole, 100'000));
                ASSERT_TRUE(expand.inflate(bytes_of(small).subspan(cut), whole, 100'000));
                ASSERT_TRUE(expand.finish(whole, 100'000));
                ASSERT_EQ(text_of(whole.bytes()), text);
            }
        }
    }
}

TEST(websocket_extension, offers_are_judged_by_the_letter_of_the_standard) {
    const auto answered = [](std::string_view offers, deflate_options options = deflate_options()) {
        const auto answer = accept_deflate(offers, options);
        return answer ? answer->text : std::string("-");
    };
    EXPECT_EQ(answered("permessage-deflate"), "permessage-deflate");
    EXPECT_EQ(answered("permessage-deflate; client_max_window_bits"), "permessage-deflate");
    EXPECT_EQ(answered("x-webkit, permessage-deflate; server_no_context_takeover"),
              "permessage-deflate; server_no_context_takeover");
    EXPECT_EQ(answered("permessage-deflate; server_max_window_bits=\"10\""),
              "permessage-deflate; server_max_window_bits=10");
    EXPECT_EQ(answered("permessage-deflate;client_max_window_bits=9"), "permessage-deflate; client_max_window_bits=9");
    EXPECT_EQ(answered("permessage-deflate; server_max_window_bits=8, permessage-deflate"), "permessage-deflate");
    for (const std::string_view bad :
         {"", "permessage-bzip2", "permessage-deflate; unknown", "permessage-deflate; server_max_window_bits",
          "permessage-deflate; server_max_window_bits=16", "permessage-deflate; server_max_window_bits=7",
          "permessage-deflate; server_max_window_bits=010", "permessage-deflate; server_no_context_takeover=1",
          "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
          "permessage-deflate; client_max_window_bits=", "permessage-deflate x",
          "permessage-deflate; client_max_window_bits=\"9"}) {
        EXPECT_EQ(answered(bad), "-") << bad;
    }
    deflate_options own;
    own.no_context_takeover = true;
    own.window_bits = 12;
    EXPECT_EQ(answered("permessage-deflate; client_max_window_bits", own),
              "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=12; "
              "client_max_window_bits=12");
    own.enabled = false;
    EXPECT_EQ(answered("permessage-deflate", own), "-");
}

TEST(websocket_extension, answers_that_were_not_offered_fail) {
    deflate_options options;
    EXPECT_TRUE(read_deflate_answer("permessage-deflate", options));
    EXPECT_EQ(read_deflate_answer("permessage-deflate; client_max_window_bits=10", options)->client_max_window_bits,
              10);
    for (const std::string_view bad :
         {"permessage-deflate; client_max_window_bits", "permessage-deflate, permessage-deflate", "other",
          "permessage-deflate; client_max_window_bits=8", "permessage-deflate; extra"}) {
        EXPECT_FALSE(read_deflate_answer(bad, options)) << bad;
    }
    options.window_bits = 10;
    EXPECT_FALSE(read_deflate_answer("permessage-deflate", options));
    EXPECT_TRUE(read_deflate_answer("permessage-deflate; server_max_window_bits=10", options));
    EXPECT_FALSE(read_deflate_answer("permessage-deflate; server_max_window_bits=11", options));
}

}  // namespace
}  // namespace corro::websocket
