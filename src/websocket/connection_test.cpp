// SPDX-License-Identifier: Apache-2.0
#include "websocket/connection.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "http/server_fixture.hpp"
#include "websocket/handshake.hpp"
#include "websocket/sha1.hpp"

namespace corro::websocket {
namespace {

using namespace std::chrono_literals;
using http::bytes_of;
using http::connect_to;
using http::exchange;
using http::read_to_end;
using http::server;

std::string hex_of(const sha1_digest& digest) {
    std::string text;
    for (const unsigned char byte : digest) {
        text += "0123456789abcdef"[byte >> 4U];
        text += "0123456789abcdef"[byte & 15U];
    }
    return text;
}

// The examples of FIPS 180, and messages whose padding fills the last block, or one more.
TEST(sha1, digests_are_those_of_the_standard) {
    EXPECT_EQ(hex_of(sha1("")), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
    EXPECT_EQ(hex_of(sha1("abc")), "a9993e364706816aba3e25717850c26c9cd0d89d");
    EXPECT_EQ(hex_of(sha1("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
              "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
    EXPECT_EQ(hex_of(sha1(std::string(1'000'000, 'a'))), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    EXPECT_EQ(hex_of(sha1(std::string(55, 'a'))), "c1c8bbdc22796e28c0e15163d20899b65621d65a");
    EXPECT_EQ(hex_of(sha1(std::string(56, 'a'))), "c2db330f6083854c99d4b5bfb6e8f29f201be699");
    EXPECT_EQ(hex_of(sha1(std::string(64, 'a'))), "0098ba824b5c16427bd7a1122a5a442a25ec644d");
}

// RFC 6455, section 1.3.
TEST(handshake, accepts_a_key_as_the_example_of_the_standard_does) {
    EXPECT_EQ(accept_key("dGhlIHNhbXBsZSBub25jZQ=="), "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
}

/// The options of the server in this process; a test sets them before it serves.
connection_options served;
/// How the last connection of the server ended, and the peer's close code.
std::error_code server_ended;
close_code server_heard = close_code::abnormal;

io::task<> echo(exchange* on) {
    auto opened = co_await accept(on, served);
    if (!opened) co_return;
    connection& peer = **opened;
    for (;;) {
        const auto got = co_await peer.receive();
        if (!got) {
            server_ended = got.error();
            server_heard = peer.peer_code();
            co_return;
        }
        const std::error_code error = co_await peer.send(got->is_text, got->data);
        if (error) co_return;
    }
}

class websocket_connection : public http::with_server {
 protected:
    void SetUp() override {
        served = connection_options();
        server_ended.clear();
        server_heard = close_code::abnormal;
    }
    /// Runs `body(connection, context)` over a connection to the echo server.
    template <class Body>
    void with_peer(Body body, connection_options options = connection_options()) {
        serve(&echo, [body, options](io::context* on, server*, io::endpoint at) -> io::task<> {
            return [](io::context* where, io::endpoint to, connection_options with, Body inner) -> io::task<> {
                auto opened = co_await connect(io::any_stream(co_await connect_to(where, to)), "venue", "/", with);
                CORRO_REQUIRE(opened);
                co_await inner(opened->get(), where);
            }(on, at, options, body);
        });
    }
    /// The answer on a connection that sends `bytes` after a valid handshake, without the response's head.
    std::string answer_to(std::string bytes, std::string fields = {}) {
        std::string all =
            raw("GET / HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
                fields + "\r\n" + bytes);
        EXPECT_TRUE(all.starts_with("HTTP/1.1 101 ")) << all;
        return all.substr(std::min(all.find("\r\n\r\n") + 4, all.size()));
    }
    std::string raw(std::string request) { return ask(&echo, std::move(request)); }
};

TEST_P(websocket_connection, echoes_messages_of_every_size_with_and_without_compression) {
    for (const bool deflate : {false, true}) {
        connection_options options;
        options.deflate.enabled = deflate;
        with_peer(
            [deflate](connection* peer, io::context*) -> io::task<> {
                return [](connection* on, bool compressed) -> io::task<> {
                    EXPECT_EQ(on->compresses(), compressed);
                    constexpr std::array<std::size_t, 10> sizes{0,     1,     125,     126,       1000,
                                                                65535, 65536, 200'000, 1U << 20U, 16U << 20U};
                    for (const std::size_t size : sizes) {
                        std::string text(size, 'a');
                        for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i * 7 % 26);
                        const auto both = [](connection* with, const std::string* of,
                                             bool is_text) -> io::task<std::error_code> {
                            co_return co_await with->send(is_text, bytes_of(*of));
                        };
                        const auto [sent, got] = co_await io::when_all(both(on, &text, size % 2 == 0), on->receive());
                        CORRO_REQUIRE(!sent);
                        CORRO_REQUIRE(got);
                        EXPECT_EQ(got->is_text, size % 2 == 0);
                        EXPECT_TRUE(got->text() == text) << size;
                    }
                    const std::error_code closed = co_await on->close(close_code::going_away, "done");
                    EXPECT_FALSE(closed) << closed.message();
                    EXPECT_EQ(on->peer_code(), close_code::going_away);
                }(peer, deflate);
            },
            options);
        EXPECT_EQ(server_ended, make_error_code(errc::closed));
        EXPECT_EQ(server_heard, close_code::going_away);
    }
}

TEST_P(websocket_connection, pings_are_answered_and_silent_peers_are_noticed) {
    connection_options options;
    // Both ends are in this process: the interval is long enough that a peer on a busy machine does not count as
    // silent.
    options.limits.ping_interval = 200ms;
    with_peer(
        [](connection* on, io::context*) -> io::task<> {
            const std::error_code error = co_await on->ping(bytes_of("there?"));
            EXPECT_FALSE(error);
            // Its own pings keep an idle connection alive.
            const auto got = co_await io::with_timeout(700ms, on->receive());
            EXPECT_FALSE(got);
            EXPECT_EQ(got.error(), io::condition::timed_out);
            EXPECT_GE(on->pongs_count(), 3U);
            const std::error_code closed = co_await on->close();
            EXPECT_FALSE(closed);
        },
        options);
    served.limits.ping_interval = 100ms;
    // This peer never answers a ping.
    const std::string all = answer_to("");
    EXPECT_EQ(server_ended, io::condition::end_of_stream) << "the peer's end comes first: " << server_ended.message();
    serve(&echo, [](io::context* on, server* pages, io::endpoint at) -> io::task<> {
        io::tcp_stream stream = co_await connect_to(on, at);
        co_await stream.write_all(
            bytes_of("GET / HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"));
        const std::string got = co_await read_to_end(&stream);
        EXPECT_NE(got.find(std::string("\x89\x00", 2)), std::string::npos);
        EXPECT_EQ(server_ended, io::condition::timed_out);
        EXPECT_NE(pages, nullptr);
    });
}

TEST_P(websocket_connection, broken_rules_are_told_by_the_close_code) {
    using namespace std::string_literals;
    const auto masked = [](std::string head, std::string payload) {
        return head + std::string("\0\0\0\0", 4) + payload;
    };
    const auto close_frame = [](unsigned code) {
        return std::string("\x88\x02") + static_cast<char>(code >> 8U) + static_cast<char>(code & 0xFFU);
    };
    const std::pair<std::string, unsigned> cases[] = {
        {"\x81\x01x", 1002},              // no mask
        {masked("\xC1\x81", "x"), 1002},  // a reserved bit
        {masked("\x83\x81", "x"), 1002},  // a reserved opcode
        {masked("\x09\x80", ""), 1002},   // a fragmented ping
        {masked("\x89\xFE\x00\x7E"s, std::string(126, 'x')), 1002},
        {masked("\x80\x81", "x"), 1002},  // a continuation of nothing
        {masked("\x01\x81", "x") + masked("\x81\x81", "y"), 1002},
        {masked("\x81\x82", "\xC0\x80"), 1007},
        {masked("\x88\x81", "x"), 1002},
        {masked("\x88\x82", "\x03\xED"), 1002},
        {masked("\x88\x83", "\x03\xE8\xFF"), 1007},
        {masked("\x82\xFF\x00\x00\x00\x00\x7F\x00\x00\x00"s, "x"), 1009},
    };
    for (const auto& [bytes, code] : cases) EXPECT_EQ(answer_to(bytes), close_frame(code)) << code;
    EXPECT_EQ(answer_to(masked("\x88\x80", "")), "\x88\x00"s);
    EXPECT_EQ(answer_to(masked("\x88\x82", "\x0B\xB8")), close_frame(3000));
    EXPECT_EQ(answer_to(masked("\x89\x82", "hi") + masked("\x81\x82", "ok") + masked("\x88\x82", "\x03\xE8") +
                        masked("\x81\x82", "no")),
              "\x8A\x02hi\x81\x02ok" + close_frame(1000));
    EXPECT_EQ(answer_to(masked("\xC1\x87", "\xf2\x48\xcd\xc9\xc9\x07\x00"s),
                        "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
              "\x81\x05Hello");
}

TEST_P(websocket_connection, handshakes_that_are_none_are_refused_with_the_right_status) {
    const std::string fair =
        "GET / HTTP/1.1\r\nHost: venue\r\nUpgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    const auto with = [&](std::string_view from, std::string_view to) {
        std::string changed = fair;
        changed.replace(changed.find(from), from.size(), to);
        return raw(changed).substr(0, 13);
    };
    const std::string accepted = raw(fair);
    EXPECT_TRUE(accepted.starts_with("HTTP/1.1 101 "));
    EXPECT_NE(accepted.find("Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"), std::string::npos) << accepted;
    EXPECT_EQ(with("GET", "POST"), "HTTP/1.1 400 ");
    EXPECT_EQ(with("HTTP/1.1", "HTTP/1.0"), "HTTP/1.1 400 ");
    EXPECT_EQ(with("Upgrade: websocket\r\n", ""), "HTTP/1.1 426 ");
    EXPECT_EQ(with("keep-alive, Upgrade", "keep-alive"), "HTTP/1.1 426 ");
    EXPECT_EQ(with("Version: 13", "Version: 8"), "HTTP/1.1 426 ");
    EXPECT_EQ(with("dGhlIHNhbXBsZSBub25jZQ==", "dGhl"), "HTTP/1.1 400 ");
    EXPECT_EQ(with("Sec-WebSocket-Key", "X-Key"), "HTTP/1.1 400 ");
    EXPECT_EQ(with("\r\n\r\n", "\r\nOrigin: http://evil\r\n\r\n"), "HTTP/1.1 403 ");
    EXPECT_EQ(with("\r\n\r\n", "\r\nOrigin: null\r\n\r\n"), "HTTP/1.1 403 ");
    EXPECT_EQ(with("\r\n\r\n", "\r\nOrigin: http://venue\r\n\r\n"), "HTTP/1.1 101 ");
    EXPECT_EQ(with("\r\n\r\n", "\r\nOrigin: http://venue.evil\r\n\r\n"), "HTTP/1.1 403 ");
    EXPECT_EQ(with("\r\n\r\n", "\r\nOrigin: http://venue\r\nOrigin: http://venue\r\n\r\n"), "HTTP/1.1 400 ");
    EXPECT_EQ(with("\r\n\r\n", "\r\nContent-Length: 1\r\n\r\nx"), "HTTP/1.1 400 ");
    served.origins.allowed = {"http://friend"};
    EXPECT_EQ(with("\r\n\r\n", "\r\nOrigin: http://friend\r\n\r\n"), "HTTP/1.1 101 ");
    EXPECT_EQ(with("\r\n\r\n", "\r\nOrigin: http://evil\r\n\r\n"), "HTTP/1.1 403 ");
}

TEST_P(websocket_connection, subprotocols_are_chosen_by_the_servers_order) {
    served.protocols = {"corro.v2", "corro.v1"};
    connection_options options;
    options.protocols = {"corro.v1", "corro.v2", "other"};
    with_peer(
        [](connection* on, io::context*) -> io::task<> {
            EXPECT_EQ(on->protocol(), "corro.v2");
            const std::error_code closed = co_await on->close();
            EXPECT_FALSE(closed);
        },
        options);
    with_peer([](connection* on, io::context*) -> io::task<> {
        EXPECT_EQ(on->protocol(), "");
        const std::error_code closed = co_await on->close();
        EXPECT_FALSE(closed);
    });
}

TEST_P(websocket_connection, sends_of_many_tasks_leave_whole_and_queued_ones_together) {
    with_peer([](connection* on, io::context*) -> io::task<> {
        const auto sender = [](connection* to, char letter) -> io::task<int> {
            for (int i = 0; i < 50; ++i) {
                const std::string text(static_cast<std::size_t>(1 + i * 997), letter);
                const std::error_code error = co_await to->send(false, bytes_of(text));
                EXPECT_FALSE(error);
            }
            co_return 0;
        };
        const auto reader = [](connection* from) -> io::task<int> {
            std::array<std::size_t, 3> next{};
            for (int i = 0; i < 150; ++i) {
                const auto got = co_await from->receive();
                EXPECT_TRUE(got);
                if (!got) co_return 1;
                const char letter = got->text().front();
                const auto which = static_cast<std::size_t>(letter - 'a');
                EXPECT_EQ(got->text(), std::string(1 + next[which]++ * 997, letter));
            }
            co_return 0;
        };
        co_await io::when_all(sender(on, 'a'), sender(on, 'b'), sender(on, 'c'), reader(on));
        for (int i = 0; i < 100; ++i) EXPECT_TRUE(on->queue(true, bytes_of(std::to_string(i))));
        for (int i = 0; i < 100; ++i) {
            const auto got = co_await on->receive();
            CORRO_REQUIRE(got);
            EXPECT_EQ(got->text(), std::to_string(i));
        }
        const std::error_code closed = co_await on->close();
        EXPECT_FALSE(closed);
        EXPECT_FALSE(on->queue(true, bytes_of("late")));
        const std::error_code late = co_await on->send_text("late");
        EXPECT_EQ(late, make_error_code(errc::not_open));
    });
}

TEST_P(websocket_connection, a_bomb_and_a_flood_of_fragments_end_with_1009) {
    using namespace std::string_literals;
    served.limits.receive.message_bytes = 100'000;
    std::string fragments = "\x02\x81\0\0\0\0x"s;
    for (int i = 0; i < 1'000'000; ++i) fragments += "\x00\x81\0\0\0\0x"s;
    EXPECT_EQ(answer_to(fragments), "\x88\x02\x03\xF1");
    std::string bomb;
    deflater(15, true, 9).deflate(bytes_of(std::string(10U << 20U, 'b')), bomb);
    ASSERT_GT(bomb.size(), 125U);
    ASSERT_LT(bomb.size(), 65536U);
    const std::string head =
        std::string("\xC2\xFE") + static_cast<char>(bomb.size() >> 8U) + static_cast<char>(bomb.size() & 0xFFU);
    EXPECT_EQ(answer_to(head + "\0\0\0\0"s + bomb, "Sec-WebSocket-Extensions: permessage-deflate\r\n"),
              "\x88\x02\x03\xF1");
    EXPECT_EQ(server_ended, make_error_code(errc::message_too_big));
}

TEST_P(websocket_connection, a_stop_ends_receiving_and_loses_nothing) {
    with_peer([](connection* on, io::context*) -> io::task<> {
        const auto early = co_await io::with_timeout(5ms, on->receive());
        EXPECT_FALSE(early);
        const std::error_code error = co_await on->send_text("still here");
        EXPECT_FALSE(error);
        const auto got = co_await on->receive();
        CORRO_REQUIRE(got);
        EXPECT_EQ(got->text(), "still here");
        const std::error_code closed = co_await on->close();
        EXPECT_FALSE(closed);
    });
}

TEST_P(websocket_connection, a_client_refuses_a_server_that_agrees_to_something_else) {
    const auto liar = [](std::string fields) {
        return [fields](exchange* on) -> io::task<> {
            return [](exchange* with, std::string text) -> io::task<> {
                std::vector<http::field> sent;
                if (text == "key") {
                    sent.emplace_back("Sec-WebSocket-Accept", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
                } else {
                    static std::string accepted;
                    accepted = accept_key(with->request().find("Sec-WebSocket-Key"));
                    sent.emplace_back("Sec-WebSocket-Accept", accepted);
                    if (text == "protocol") sent.emplace_back("Sec-WebSocket-Protocol", "unasked");
                    if (text == "extension")
                        sent.emplace_back("Sec-WebSocket-Extensions", "permessage-deflate; unknown");
                }
                const std::error_code error = co_await with->upgrade("websocket", sent);
                EXPECT_FALSE(error);
            }(on, fields);
        };
    };
    for (const char* lie : {"key", "protocol", "extension"}) {
        serve(liar(lie), [](io::context* on, server*, io::endpoint at) -> io::task<> {
            const connection_options options;
            const auto opened = co_await connect(io::any_stream(co_await connect_to(on, at)), "venue", "/", options);
            EXPECT_FALSE(opened);
            EXPECT_EQ(opened.error(), make_error_code(errc::bad_handshake));
        });
    }
}

CORRO_ON_EVERY_BACKEND(websocket_connection);

}  // namespace
}  // namespace corro::websocket
