// SPDX-License-Identifier: Apache-2.0
#include "io/net/socks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/test_bytes.hpp"
#include "io/loop/timer.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/relay_fixture.hpp"
#include "io/testing/tcp_pair_fixture.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {
namespace {

using base::text_of;

using namespace std::chrono_literals;
using namespace std::string_literals;

socks_options with_login(std::string name = "trader", std::string password = "secret") {
    socks_options options;
    options.login = socks_login(std::move(name), std::move(password));
    return options;
}

/// How a handshake goes on when the proxy sends `answers`, in parts of at most `step` bytes.
struct outcome {
    std::vector<std::string> sent;
    std::error_code error;
    std::size_t read = 0;
    bool complete = false;
};
outcome run(std::string_view host, const socks_options& options, std::string_view answers, std::size_t step = 1000) {
    outcome seen;
    auto begun = socks_handshake::begin(host, 9'000, options);
    if (!begun) {
        seen.error = begun.error();
        return seen;
    }
    for (;;) {
        const auto output = begun->take_output();
        if (!output.empty()) seen.sent.push_back(text_of(output));
        const auto room = begun->room();
        const std::size_t size = std::min({room.size(), step, answers.size() - seen.read});
        if (size == 0) break;
        std::memcpy(room.data(), answers.data() + seen.read, size);
        seen.read += size;
        seen.error = begun->commit(size);
        EXPECT_TRUE(!seen.error || begun->room().empty());
    }
    seen.complete = begun->is_complete();
    return seen;
}

const std::string good_reply = "\5\0\0\1\x7f\0\0\1\x23\x28"s;

TEST(socks_handshake, asks_for_a_name_without_a_login) {
    const outcome seen = run("venue.example", {}, "\5\0"s + good_reply + "more");
    EXPECT_TRUE(seen.complete);
    EXPECT_FALSE(seen.error);
    EXPECT_EQ(seen.sent, (std::vector{"\5\1\0"s, "\5\1\0\3\x0dvenue.example\x23\x28"s}));
    EXPECT_EQ(seen.read, 12U) << "what follows is the target's";
}

TEST(socks_handshake, logs_in_when_the_proxy_wants_it_and_not_otherwise) {
    const outcome seen = run("venue.example", with_login(), "\5\2\1\0"s + good_reply);
    EXPECT_TRUE(seen.complete);
    EXPECT_EQ(seen.sent, (std::vector{"\5\2\0\2"s, "\1\6trader\6secret"s, "\5\1\0\3\x0dvenue.example\x23\x28"s}));
    const outcome open = run("venue.example", with_login(), "\5\0"s + good_reply);
    EXPECT_TRUE(open.complete);
    EXPECT_EQ(open.sent.size(), 2U);
}

TEST(socks_handshake, sends_numeric_addresses_as_numbers) {
    EXPECT_EQ(run("10.1.2.3", {}, "\5\0"s).sent.back(), "\5\1\0\1\x0a\1\2\3\x23\x28"s);
    const std::string ipv6 = "\5\1\0\4\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\1\x23\x28"s;
    EXPECT_EQ(run("2001:db8::1", {}, "\5\0"s).sent.back(), ipv6);
    EXPECT_EQ(run("[2001:db8::1]", {}, "\5\0"s).sent.back(), ipv6);
}

TEST(socks_handshake, every_kind_of_address_ends_the_reply_where_it_ends) {
    for (const std::string& reply : {"\5\0\0\1abcd12"s, "\5\0\0\4abcdefghijklmnop12"s, "\5\0\0\3\4name12"s,
                                     "\5\0\0\3\0"s + "12", "\5\0\0\3\xff"s + std::string(255, 'n') + "12"}) {
        const std::string answers = "\5\0"s + reply;
        EXPECT_EQ(run("a", {}, answers + "behind").read, answers.size());
        for (std::size_t cut = 0; cut < answers.size(); ++cut) {
            const outcome seen = run("a", {}, answers.substr(0, cut));
            EXPECT_FALSE(seen.complete || seen.error) << cut;
            EXPECT_EQ(seen.read, cut);
        }
        for (const std::size_t step : {1U, 2U, 3U, 5U, 7U}) EXPECT_TRUE(run("a", {}, answers, step).complete) << step;
    }
}

TEST(socks_handshake, refuses_answers_that_the_protocol_does_not_allow) {
    const auto error_of = [](const std::string& answers, const socks_options& options = {}) {
        const outcome seen = run("a", options, answers);
        EXPECT_FALSE(seen.complete);
        EXPECT_EQ(run("a", options, answers, 1).error, seen.error);
        return seen.error;
    };
    EXPECT_EQ(error_of("\4\0"s), socks_errc::not_socks5);
    EXPECT_EQ(error_of("HTTP/1.1 400"), socks_errc::not_socks5);
    EXPECT_EQ(error_of("\5\xff"s), socks_errc::login_required);
    EXPECT_EQ(error_of("\5\2"s), socks_errc::malformed_answer) << "a login was not offered";
    EXPECT_EQ(error_of("\5\1"s, with_login()), socks_errc::malformed_answer) << "nor was GSSAPI";
    EXPECT_EQ(error_of("\5\2\5\0"s, with_login()), socks_errc::malformed_answer)
        << "the login has a version of its own";
    EXPECT_EQ(error_of("\5\2\1\1"s, with_login()), socks_errc::login_refused);
    EXPECT_EQ(error_of("\5\0\4"s), socks_errc::not_socks5);
    EXPECT_EQ(error_of("\5\0\5\0\1"s), socks_errc::malformed_answer) << "the reserved byte";
    EXPECT_EQ(error_of("\5\0\5\0\0\2"s), socks_errc::malformed_answer) << "no such kind of address";
}

TEST(socks_handshake, the_proxys_reasons_are_those_of_a_direct_connection) {
    const auto reason = [](char number) { return run("a", {}, "\5\0\5"s + number).error; };
    EXPECT_EQ(reason(1), socks_errc::general_failure);
    EXPECT_EQ(reason(2), std::errc::permission_denied);
    EXPECT_EQ(reason(3), std::errc::network_unreachable);
    EXPECT_EQ(reason(4), std::errc::host_unreachable);
    EXPECT_EQ(reason(5), std::errc::connection_refused);
    EXPECT_EQ(reason(6), condition::timed_out) << "as every time limit";
    EXPECT_EQ(reason(7), std::errc::operation_not_supported);
    EXPECT_EQ(reason(8), std::errc::address_family_not_supported);
    EXPECT_EQ(reason(9), socks_errc::unknown_reason);
    EXPECT_EQ(reason('\xff'), socks_errc::unknown_reason);
    for (int code = 1; code <= static_cast<int>(socks_errc::unknown_reason); ++code) {
        EXPECT_FALSE(make_error_code(static_cast<socks_errc>(code)).message().starts_with("unknown")) << code;
    }
}

TEST(socks_handshake, what_the_protocol_cannot_express_is_an_invalid_argument) {
    const auto is_refused = [](const std::string& host, const socks_options& options = {}) {
        return run(host, options, {}).error == std::errc::invalid_argument;
    };
    EXPECT_FALSE(is_refused(std::string(255, 'h')));
    EXPECT_TRUE(is_refused(std::string(256, 'h')));
    for (const char* host : {"", "two words", "a:80", "[::1", "a\r\nb", "fe80::1%3"})
        EXPECT_TRUE(is_refused(host)) << host;
    EXPECT_TRUE(is_refused("a\0b"s));
    EXPECT_FALSE(is_refused("a", with_login(std::string(255, 'n'), std::string(255, 'p'))));
    EXPECT_TRUE(is_refused("a", with_login("", "p")));
    EXPECT_TRUE(is_refused("a", with_login("n", "")));
    EXPECT_TRUE(is_refused("a", with_login(std::string(256, 'n'), "p")));
    EXPECT_TRUE(is_refused("a", with_login("n", std::string(256, 'p'))));
}

/// A proxy for one client: speaks the protocol with it, connects, and relays.
struct small_proxy {
    tcp_acceptor acceptor;
    bool wants_login = false;
    bool stutters = false;  // sends each byte of its answers by itself
    std::string asked_for;  // the address as it was sent
};

task<> answer(tcp_stream* to, small_proxy* as, std::string text) {
    const std::size_t step = as->stutters ? 1 : text.size();
    for (std::size_t at = 0; at < text.size(); at += step) {
        co_await to->write_all(bytes_of(std::string_view(text).substr(at, step)));
        if (as->stutters) co_await sleep_for(1ms);
    }
}
task<std::string> read_text(tcp_stream* from, std::size_t bytes) {
    std::string text(bytes, ' ');
    const io_result got = co_await from->read_exact(std::as_writable_bytes(std::span(text)));
    EXPECT_FALSE(got.error) << got.error.message();
    co_return text;
}
task<std::string> read_counted(tcp_stream* from) {
    const std::string size = co_await read_text(from, 1);
    co_return co_await read_text(from, static_cast<std::uint8_t>(size[0]));
}

task<bool> let_in(tcp_stream* client, small_proxy* as) {
    const std::string version = co_await read_text(client, 1);
    EXPECT_EQ(version, "\5");
    const std::string methods = co_await read_counted(client);
    const char wanted = as->wants_login ? '\2' : '\0';
    if (methods.find(wanted) == std::string::npos) {
        co_await answer(client, as, "\5\xff"s);
        co_return false;
    }
    co_await answer(client, as, "\5"s + wanted);
    if (!as->wants_login) co_return true;
    const std::string login_version = co_await read_text(client, 1);
    EXPECT_EQ(login_version, "\1");
    const std::string name = co_await read_counted(client);
    const std::string password = co_await read_counted(client);
    const bool is_right = name == "trader" && password == "secret";
    const std::string verdict = {'\1', is_right ? '\0' : '\1'};
    co_await answer(client, as, verdict);
    co_return is_right;
}

task<> serve(context* on, small_proxy* as) {
    auto client = co_await as->acceptor.accept();
    CORRO_REQUIRE(client.has_value());
    const bool is_in = co_await let_in(&*client, as);
    if (!is_in) co_return;
    const std::string head = co_await read_text(&*client, 4);
    EXPECT_EQ(head.substr(0, 3), "\5\1\0"s);
    std::string host = "127.0.0.1";
    if (head[3] == '\3') {
        as->asked_for = co_await read_counted(&*client);
    } else {
        as->asked_for = co_await read_text(&*client, 4);
    }
    const std::string port = co_await read_text(&*client, 2);
    const unsigned number = static_cast<std::uint8_t>(port[0]) * 256U + static_cast<std::uint8_t>(port[1]);
    auto target = co_await tcp_stream::connect(*on, endpoint::loopback(static_cast<std::uint16_t>(number)));
    if (!target) {
        co_await answer(&*client, as, "\5\5\0\1\0\0\0\0\0\0"s);
        co_return;
    }
    co_await answer(&*client, as, good_reply);
    co_await relay(&*client, &*target);
}

class socks : public on_backend {
 protected:
    socks() {
        auto opened = tcp_acceptor::open(ctx, endpoint::loopback(0));
        EXPECT_TRUE(opened);
        proxy.acceptor = std::move(*opened);
        auto target = tcp_acceptor::open(ctx, endpoint::loopback(0));
        EXPECT_TRUE(target);
        venue = std::move(*target);
    }

    /// Connects through the proxy to `port` of `host` and converses with the server there.
    static task<std::string> use(context* on, endpoint at, std::string host, std::uint16_t port,
                                 socks_options options) {
        auto made = co_await tcp_stream::connect(*on, at);
        EXPECT_TRUE(made);
        any_stream stream(std::move(*made));
        const std::error_code refused = co_await socks_connect(stream, std::move(host), port, std::move(options));
        if (refused) co_return refused.message();
        co_return co_await converse(&stream);
    }
    std::string talk(std::string host, socks_options options = {}) {
        auto [said, served, greeted] =
            block_on(ctx, when_all(use(&ctx, *proxy.acceptor.local_endpoint(), std::move(host),
                                       venue.local_endpoint()->port(), std::move(options)),
                                   serve(&ctx, &proxy), greet_and_echo(&venue)));
        return said;
    }
    std::string fail(socks_options options, std::uint16_t port = 1) {
        auto [said, served] = block_on(
            ctx, when_all(use(&ctx, *proxy.acceptor.local_endpoint(), "venue.example", port, std::move(options)),
                          serve(&ctx, &proxy)));
        return said;
    }

    small_proxy proxy;
    tcp_acceptor venue;
};

TEST_P(socks, carries_a_conversation_to_a_name_that_the_proxy_looks_up) {
    EXPECT_EQ(talk("venue.example"), "hello through the proxy");
    EXPECT_EQ(proxy.asked_for, "venue.example");
}

TEST_P(socks, carries_a_conversation_after_a_login_and_byte_by_byte) {
    proxy.wants_login = true;
    proxy.stutters = true;
    EXPECT_EQ(talk("127.0.0.1", with_login()), "hello through the proxy");
    EXPECT_EQ(proxy.asked_for, "\x7f\0\0\1"s);
}

TEST_P(socks, reports_why_the_proxy_refuses) {
    proxy.wants_login = true;
    EXPECT_EQ(fail({}), make_error_code(socks_errc::login_required).message());
    EXPECT_EQ(fail(with_login("trader", "wrong")), make_error_code(socks_errc::login_refused).message());
    const std::uint16_t nobody = venue.local_endpoint()->port();
    venue.close();
    EXPECT_EQ(fail(with_login(), nobody), make_error_code(socks_errc::connection_refused).message());
}

TEST_P(socks, a_proxy_that_closes_or_says_nothing_ends_the_attempt) {
    const auto body = [](context* on) -> task<> {
        tcp_pair pair = co_await make_tcp_pair(on);
        const auto late = co_await with_timeout(5ms, socks_connect(pair.client, "venue.example", 1));
        EXPECT_FALSE(late.has_value());
        if (late) co_return;
        EXPECT_EQ(late.error(), condition::timed_out);
        tcp_pair other = co_await make_tcp_pair(on);
        co_await other.server.write_all(bytes_of("\5"));
        EXPECT_FALSE(other.server.shutdown_send());
        const std::error_code ended = co_await socks_connect(other.client, "venue.example", 1);
        EXPECT_EQ(ended, condition::end_of_stream);
        const std::error_code refused = co_await socks_connect(other.client, "", 1);
        EXPECT_EQ(refused, std::errc::invalid_argument) << "before anything is sent";
    };
    block_on(ctx, body(&ctx));
}

CORRO_ON_EVERY_BACKEND(socks);

}  // namespace
}  // namespace corro::io
