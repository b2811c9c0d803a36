// SPDX-License-Identifier: Apache-2.0
#include "http/tunnel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
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

namespace corro::http {
namespace {

using namespace std::chrono_literals;

struct handshake_outcome {
    std::error_code error;
    std::size_t read = 0;
    bool complete = false;
};
/// How a handshake goes on when the proxy sends `answer`, in parts of at most `step` bytes.
handshake_outcome run(std::string_view answer, std::size_t step = 1'000'000, const tunnel_options& options = {}) {
    handshake_outcome seen;
    auto begun = tunnel_handshake::begin("venue.example", 443, options);
    EXPECT_TRUE(begun);
    while (!seen.error) {
        const auto room = begun->room();
        const std::size_t size = std::min({room.size(), step, answer.size() - seen.read});
        if (size == 0) break;
        std::memcpy(room.data(), answer.data() + seen.read, size);
        seen.read += size;
        seen.error = begun->commit(size);
    }
    seen.complete = begun->is_complete();
    return seen;
}
std::string request_to(std::string_view host, const tunnel_options& options = {}) {
    const auto begun = tunnel_handshake::begin(host, 443, options);
    if (!begun) return begun.error() == std::errc::invalid_argument ? "invalid" : begun.error().message();
    const auto bytes = begun->request();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
tunnel_options with_login(std::string name, std::string password) {
    tunnel_options options;
    options.login = proxy_login(std::move(name), std::move(password));
    return options;
}

TEST(tunnel_handshake, asks_for_the_host_and_logs_in) {
    EXPECT_EQ(request_to("venue.example"), "CONNECT venue.example:443 HTTP/1.1\r\nHost: venue.example:443\r\n\r\n");
    EXPECT_EQ(request_to("10.0.0.1"), "CONNECT 10.0.0.1:443 HTTP/1.1\r\nHost: 10.0.0.1:443\r\n\r\n");
    EXPECT_EQ(request_to("2001:db8::1"), "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n");
    EXPECT_EQ(request_to("[2001:db8::1]"), request_to("2001:db8::1"));
    // The example of RFC 7617.
    EXPECT_EQ(request_to("a", with_login("Aladdin", "open sesame")),
              "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n"
              "Proxy-Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==\r\n\r\n");
    EXPECT_NE(request_to("a", with_login("ab", "")).find("Basic YWI6\r\n"), std::string::npos);
    EXPECT_NE(request_to("a", with_login("ab", "c")).find("Basic YWI6Yw==\r\n"), std::string::npos);
    EXPECT_NE(request_to("a", with_login("ab", "cd")).find("Basic YWI6Y2Q=\r\n"), std::string::npos);
}

TEST(tunnel_handshake, nothing_can_be_injected_into_the_request) {
    for (const char* host :
         {"", "a b", "a\r\nHost: b", "a:80", "a/b", "a@b", "[::1", "a]", "fe80::1%3", "a%20", "\x7f"}) {
        EXPECT_EQ(request_to(host), "invalid") << host;
    }
    EXPECT_EQ(request_to(std::string(256, 'a')), "invalid");
    EXPECT_EQ(request_to("a", with_login("a:b", "c")), "invalid");
    EXPECT_EQ(request_to("a", with_login("a\n", "c")), "invalid");
    EXPECT_EQ(request_to("a", with_login("a", std::string("c\0", 2))), "invalid");
}

TEST(tunnel_handshake, takes_the_answer_and_no_byte_more_however_it_is_cut) {
    for (const std::string answer :
         {"HTTP/1.1 200\r\n\r\n", "HTTP/1.0 200 Connection established\r\n\r\n",
          "HTTP/1.1 299 \r\nVia: 1.1 proxy\r\nX: \r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
          "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"}) {
        for (std::size_t step = 1; step < 20; ++step) {
            const handshake_outcome seen = run(answer + "\r\n\r\nhello", step);
            EXPECT_TRUE(seen.complete) << answer << seen.error.message();
            EXPECT_EQ(seen.read, answer.size()) << answer << step;
        }
        for (std::size_t cut = 0; cut < answer.size(); ++cut) {
            const handshake_outcome seen = run(std::string_view(answer).substr(0, cut));
            EXPECT_FALSE(seen.complete || seen.error) << answer << cut;
        }
    }
}

TEST(tunnel_handshake, a_refusal_is_its_status) {
    const std::error_code wanted = run("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 9\r\n\r\n").error;
    EXPECT_EQ(&wanted.category(), &status_category());
    EXPECT_EQ(wanted.value(), 407);
    EXPECT_EQ(run("HTTP/1.1 502 Bad Gateway\r\n\r\n").error.message(), "the answer is 502 (Bad Gateway)");
    EXPECT_EQ(run("HTTP/1.1 799\r\n\r\n").error.message(), "the answer is 799");
    EXPECT_EQ(run("HTTP/1.1 302 Found\r\nLocation: /\r\n\r\n").error.value(), 302);
    EXPECT_EQ(run("HTTP/1.1 101 Switching Protocols\r\n\r\n").error.value(), 101) << "nobody asked for it";
    std::string interim;
    for (unsigned i = 0; i < tunnel_interim_answers_max; ++i) interim += "HTTP/1.1 102 Processing\r\n\r\n";
    EXPECT_TRUE(run(interim + "HTTP/1.1 200 OK\r\n\r\n").complete);
    EXPECT_EQ(run(interim + "HTTP/1.1 102 Processing\r\n\r\n").error.value(), 102);
}

TEST(tunnel_handshake, refuses_what_is_not_http_and_what_is_too_long) {
    const auto error_of = [](const std::string& answer, const tunnel_options& options = {}) {
        const handshake_outcome seen = run(answer, 1'000'000, options);
        EXPECT_FALSE(seen.complete);
        EXPECT_EQ(run(answer, 1, options).error, seen.error);
        return seen.error;
    };
    EXPECT_EQ(error_of("SSH-2.0-OpenSSH_9.2\r\n\r\n"), errc::malformed_start_line);
    EXPECT_EQ(error_of("\5\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"), errc::malformed_start_line);
    EXPECT_EQ(error_of("HTTP/1.1 20\r\n\r\n____"), errc::malformed_start_line);
    EXPECT_EQ(error_of("HTTP/2.0 200 OK\r\n\r\n"), errc::unknown_version);
    EXPECT_EQ(error_of("HTTP/1.1 200 OK\n\n________"), errc::bare_line_feed);
    EXPECT_EQ(error_of("HTTP/1.1 200 OK\r\nX: 1\r\n folded\r\n\r\n"), errc::folded_field);
    EXPECT_EQ(error_of("HTTP/1.1 407 No\r\nContent-Length: x\r\n\r\n"), errc::malformed_length);
    tunnel_options small;
    small.limits.start_line_bytes = 100;
    small.limits.fields_bytes = 100;
    small.limits.fields_count = 2;
    EXPECT_EQ(error_of("HTTP/1.1 200 " + std::string(200, 'a'), small), errc::start_line_too_long);
    EXPECT_EQ(error_of("HTTP/1.1 200 OK\r\nX: " + std::string(200, 'a'), small), errc::fields_too_large);
    EXPECT_EQ(error_of("HTTP/1.1 200 OK\r\na: 1\r\nb: 2\r\nc: 3\r\n\r\n", small), errc::fields_too_large);
}

/// A proxy for one client, which must log in: reads the request, connects, answers and relays.
struct small_proxy {
    io::tcp_acceptor acceptor;
    bool stutters = false;  // sends each byte of its answer by itself
    std::string request;
};

io::task<> answer(io::tcp_stream* to, const small_proxy* as, std::string text) {
    const std::size_t step = as->stutters ? 1 : text.size();
    for (std::size_t at = 0; at < text.size(); at += step) {
        co_await to->write_all(base::bytes_of(std::string_view(text).substr(at, step)));
        if (as->stutters) co_await io::sleep_for(100us);
    }
}

io::task<> serve(io::context* on, small_proxy* as) {
    auto client = co_await as->acceptor.accept();
    CORRO_REQUIRE(client.has_value());
    while (!as->request.ends_with("\r\n\r\n")) {
        std::array<std::byte, 1> room{};
        const io::io_result got = co_await client->read_some(room);
        if (!got) co_return;
        as->request.push_back(std::to_integer<char>(room[0]));
    }
    std::array<field, 8> fields;
    const auto asked = parse_request(as->request, fields);
    CORRO_REQUIRE(asked.has_value());
    EXPECT_EQ(asked->method, method::connect);
    EXPECT_EQ(asked->authority, asked->find("Host"));
    if (asked->find("Proxy-Authorization") != "Basic dHJhZGVyOnNlY3JldA==") {
        co_await answer(&*client, as, "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 2\r\n\r\nno");
        co_return;
    }
    const std::string_view digits = asked->authority.substr(asked->authority.rfind(':') + 1);
    std::uint16_t port = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    auto target = co_await io::tcp_stream::connect(*on, io::endpoint::loopback(port));
    if (!target) {
        co_await answer(&*client, as, "HTTP/1.1 502 Bad Gateway\r\n\r\n");
        co_return;
    }
    co_await answer(&*client, as, "HTTP/1.1 200 Connection established\r\nVia: 1.1 small\r\n\r\n");
    co_await io::relay(&*client, &*target);
}

class tunnel : public io::on_backend {
 protected:
    tunnel() {
        auto opened = io::tcp_acceptor::open(ctx, io::endpoint::loopback(0));
        EXPECT_TRUE(opened);
        proxy.acceptor = std::move(*opened);
        auto target = io::tcp_acceptor::open(ctx, io::endpoint::loopback(0));
        EXPECT_TRUE(target);
        venue = std::move(*target);
    }
    /// Opens a tunnel and converses with the server at its end.
    static io::task<std::string> use(io::context* on, io::endpoint at, std::uint16_t port, tunnel_options options) {
        auto made = co_await io::tcp_stream::connect(*on, at);
        EXPECT_TRUE(made);
        io::any_stream stream(std::move(*made));
        const std::error_code refused = co_await open_tunnel(stream, "venue.example", port, std::move(options));
        if (refused) co_return refused.message();
        co_return co_await io::converse(&stream);
    }
    std::string talk() {
        auto [said, served, greeted] =
            block_on(ctx, when_all(use(&ctx, *proxy.acceptor.local_endpoint(), venue.local_endpoint()->port(),
                                       with_login("trader", "secret")),
                                   serve(&ctx, &proxy), io::greet_and_echo(&venue)));
        return said;
    }
    std::string fail(tunnel_options options, std::uint16_t port) {
        auto [said, served] = block_on(
            ctx, when_all(use(&ctx, *proxy.acceptor.local_endpoint(), port, std::move(options)), serve(&ctx, &proxy)));
        return said;
    }

    small_proxy proxy;
    io::tcp_acceptor venue;
};

TEST_P(tunnel, carries_a_conversation_that_the_target_begins) {
    EXPECT_EQ(talk(), "hello through the proxy");
}

TEST_P(tunnel, carries_a_conversation_after_an_answer_byte_by_byte) {
    proxy.stutters = true;
    EXPECT_EQ(talk(), "hello through the proxy");
}

TEST_P(tunnel, reports_the_status_of_a_refusal) {
    EXPECT_EQ(fail({}, 1), "the answer is 407 (Proxy Authentication Required)");
    const std::uint16_t nobody = venue.local_endpoint()->port();
    venue.close();
    proxy.request.clear();
    EXPECT_EQ(fail(with_login("trader", "secret"), nobody), "the answer is 502 (Bad Gateway)");
}

TEST_P(tunnel, a_proxy_that_closes_or_says_nothing_ends_the_attempt) {
    const auto body = [](io::context* on) -> io::task<> {
        io::tcp_pair pair = co_await io::make_tcp_pair(on);
        const auto late = co_await io::with_timeout(5ms, open_tunnel(pair.client, "venue.example", 443));
        EXPECT_FALSE(late.has_value());
        if (late) co_return;
        EXPECT_EQ(late.error(), io::condition::timed_out);

        io::tcp_pair silent = co_await io::make_tcp_pair(on);
        EXPECT_FALSE(silent.server.shutdown_send());
        const std::error_code refused = co_await open_tunnel(silent.client, "a b", 443);
        EXPECT_EQ(refused, std::errc::invalid_argument) << "before anything is sent";
        const std::error_code nothing = co_await open_tunnel(silent.client, "venue.example", 443);
        EXPECT_EQ(nothing, errc::no_response);

        io::tcp_pair cut = co_await io::make_tcp_pair(on);
        co_await cut.server.write_all(base::bytes_of("HTTP/1.1 200 OK\r\n"));
        EXPECT_FALSE(cut.server.shutdown_send());
        const std::error_code incomplete = co_await open_tunnel(cut.client, "venue.example", 443);
        EXPECT_EQ(incomplete, errc::incomplete_message);
    };
    block_on(ctx, body(&ctx));
}

CORRO_ON_EVERY_BACKEND(tunnel);

}  // namespace
}  // namespace corro::http
