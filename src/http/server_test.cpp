// SPDX-License-Identifier: Apache-2.0
#include "http/server.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "http/router.hpp"
#include "http/server_fixture.hpp"
#include "io/net/unix_socket.hpp"
#include "io/sync/event.hpp"
#include "io/task/when_any.hpp"

namespace corro::http {
namespace {

using namespace std::chrono_literals;

/// Responds with the request's method, path and body.
io::task<> reflect(exchange* on) {
    const auto body = co_await on->read_body();
    if (!body) co_return;
    std::string text(name_of(on->request().method));
    text += ' ';
    text += on->request().path;
    text += ' ';
    text += *body;
    on->respond(200, "text/plain", text);
}

std::size_t count_of(std::string_view text, std::string_view part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
        ++count;
    return count;
}

unsigned status_in(std::string_view response) {
    return response.size() < 12 ? 0 : static_cast<unsigned>(std::stoul(std::string(response.substr(9, 3))));
}

using http_server = with_server;

TEST_P(http_server, answers_pipelined_requests_in_their_order_and_keeps_the_connection) {
    std::string requests;
    for (int i = 0; i < 500; ++i) requests += "GET /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\n\r\n";
    requests += "POST /last HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nbody";
    requests += "GET /never HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::string got = ask(reflect, requests);
    EXPECT_EQ(count_of(got, "HTTP/1.1 200 OK\r\n"), 501U);
    EXPECT_EQ(count_of(got, "Connection: close\r\n"), 1U);
    EXPECT_EQ(count_of(got, "never"), 0U);
    EXPECT_TRUE(got.ends_with("POST /last body")) << got.substr(got.size() - 200);
    std::size_t at = 0;
    for (int i = 0; i < 500; ++i) {
        at = got.find("GET /" + std::to_string(i) + " ", at);
        ASSERT_NE(at, std::string::npos) << i;
    }
    EXPECT_EQ(count_of(got, "\r\nDate: "), 501U);
}

/// Works for long, and gives up when the client has gone.
io::task<> work_while_it_is_there(exchange* on, std::chrono::milliseconds length, int* gone_count) {
    const auto ended = co_await io::when_any(io::sleep_for(length), on->wait_for_end());
    if (ended.index == 1) ++*gone_count;
    on->respond(200, "text/plain", "done");
}

TEST_P(http_server, a_handler_notices_that_its_client_has_gone_and_keeps_further_requests) {
    int gone_count = 0;
    const handler answer = [&gone_count](exchange* on) {
        return work_while_it_is_there(on, on->request().path == "/long" ? io::test_patience : 20ms, &gone_count);
    };
    const auto play = [](io::context* on, server*, io::endpoint at) -> io::task<> {
        io::tcp_stream two = co_await connect_to(on, at);
        constexpr std::string_view first = "GET /a HTTP/1.1\r\nHost: h\r\n\r\n";
        constexpr std::string_view last =
            "GET /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\nxx";
        static_cast<void>(co_await two.write_all(bytes_of(first)));
        static_cast<void>(co_await io::sleep_for(5ms));
        static_cast<void>(co_await two.write_all(bytes_of(last)));
        const std::string both = co_await read_to_end(&two);
        const std::size_t second = both.find("200 OK", both.find("200 OK") + 1);
        EXPECT_NE(second, std::string::npos) << both;
        io::tcp_stream leaves = co_await connect_to(on, at);
        static_cast<void>(co_await leaves.write_all(bytes_of("GET /long HTTP/1.1\r\nHost: h\r\n\r\n")));
        static_cast<void>(co_await io::sleep_for(5ms));
        leaves.close();
    };
    // It ends long before the handler would.
    serve(answer, play);
    EXPECT_EQ(gone_count, 1);
}

TEST_P(http_server, reads_chunked_bodies_and_their_trailers) {
    const handler with_trailer = [](exchange* on) -> io::task<> {
        const auto body = co_await on->read_body();
        CORRO_REQUIRE(body);
        on->respond(200, "text/plain", std::string(*body) + "|" + std::string(on->trailer("x-sum")));
    };
    const std::string got = ask(with_trailer,
                                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                                "5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nX-Sum: 11\r\n\r\n"
                                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n");
    EXPECT_EQ(count_of(got, "hello world|11"), 1U);
    EXPECT_TRUE(got.ends_with("\r\n\r\n|"));
}

TEST_P(http_server, refuses_smuggling_shapes_with_the_right_status_and_ends_the_connection) {
    const std::string hidden = "GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n";
    const std::pair<std::string, unsigned> cases[] = {
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
        {"GET / HTTP/1.1\nHost: a\n\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nA: b\r\n c\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nA: b\x01\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"BREW / HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", 501},
        {"PUT / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nContent-Length: 1\r\n\r\nx", 417},
        {"GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
        {"GET / HTTP/1.1\r\nHost: a\r\nA: " + std::string(20'000, 'a') + "\r\n\r\n", 431},
        {"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n", 413},
        {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", 413},
        {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello\r\n0\r\n\r\n", 400},
        {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhelloXX0\r\n\r\n", 400},
        {"PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: " + std::string(5000, 'x') +
             "\r\n\r\n",
         431},
    };
    for (const auto& [request, status] : cases) {
        const std::string got = ask(reflect, request + hidden);
        EXPECT_EQ(status_in(got), status) << request.substr(0, 200) << "\n-> " << got;
        EXPECT_EQ(count_of(got, "hidden"), 0U) << request.substr(0, 200);
        EXPECT_EQ(count_of(got, "HTTP/1.1 "), 1U) << request.substr(0, 200);
        EXPECT_EQ(count_of(got, "Connection: close\r\n"), 1U);
    }
}

TEST_P(http_server, speaks_http_1_0_with_and_without_keep_alive) {
    std::string got = ask(reflect, "GET /a HTTP/1.0\r\n\r\nGET /b HTTP/1.0\r\n\r\n");
    EXPECT_EQ(count_of(got, "HTTP/1.1 200"), 1U);
    EXPECT_EQ(count_of(got, "Connection: close"), 1U);
    got = ask(reflect, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /b HTTP/1.0\r\n\r\n");
    EXPECT_EQ(count_of(got, "HTTP/1.1 200"), 2U);
    EXPECT_EQ(count_of(got, "Connection: keep-alive"), 1U);
    const handler streamed = [](exchange* on) -> io::task<> {
        on->begin(200, {});
        const std::error_code error = co_await on->write("unframed");
        EXPECT_FALSE(error);
    };
    got = ask(streamed, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_TRUE(got.ends_with("\r\n\r\nunframed")) << got;
    EXPECT_EQ(count_of(got, "chunked"), 0U);
}

TEST_P(http_server, streams_chunked_and_sized_responses_with_trailers_and_heads_without_bodies) {
    const handler streamed = [](exchange* on) -> io::task<> {
        if (on->request().path == "/sized") {
            on->begin(200, {}, 200'000);
            const std::string half(100'000, 's');
            co_await on->write(half);
            const std::error_code error = co_await on->write(half);
            EXPECT_FALSE(error);
            co_return;
        }
        const field type("Content-Type", "text/plain");
        on->begin(200, std::span(&type, 1));
        co_await on->write("one ");
        co_await on->write("");
        const std::string large(100'000, 'c');
        co_await on->write(large);
        const field trailer("X-Sum", "7");
        on->finish(std::span(&trailer, 1));
    };
    std::string got = ask(streamed, "GET / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(count_of(got, "\r\n4\r\none \r\n186a0\r\nccc"), 1U);
    EXPECT_EQ(count_of(got, "c\r\n0\r\nX-Sum: 7\r\n\r\n"), 1U);
    EXPECT_TRUE(got.ends_with("Transfer-Encoding: chunked\r\n\r\n"));
    got = ask(streamed, "GET /sized HTTP/1.1\r\nHost: a\r\n\r\nHEAD /sized HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(count_of(got, "Content-Length: 200000\r\n"), 2U);
    EXPECT_EQ(count_of(got, std::string(200'000, 's')), 1U);
    EXPECT_TRUE(got.ends_with("\r\n\r\n"));
    got = ask(reflect, "HEAD /h HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(count_of(got, "Content-Length: 8\r\n"), 1U);
    EXPECT_TRUE(got.ends_with("\r\n\r\n"));
}

TEST_P(http_server, asks_for_the_body_only_when_the_handler_wants_it) {
    const handler picky = [](exchange* on) -> io::task<> {
        if (on->request().path == "/no") {
            on->respond(403, "text/plain", "no");
            co_return;
        }
        const auto body = co_await on->read_body();
        CORRO_REQUIRE(body);
        on->respond(200, "text/plain", *body);
    };
    serve(picky, [](io::context* on, server*, io::endpoint at) -> io::task<> {
        io::tcp_stream stream = co_await connect_to(on, at);
        co_await stream.write_all(
            bytes_of("PUT /yes HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
        std::string interim(25, '\0');
        co_await stream.read_exact(std::as_writable_bytes(std::span(interim)));
        EXPECT_EQ(interim, "HTTP/1.1 100 Continue\r\n\r\n");
        co_await stream.write_all(
            bytes_of("bodyPUT /no HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"));
        const std::string rest = co_await read_to_end(&stream);
        EXPECT_EQ(count_of(rest, "HTTP/1.1 200 OK"), 1U);
        EXPECT_EQ(count_of(rest, "HTTP/1.1 403 Forbidden"), 1U);
        EXPECT_EQ(count_of(rest, "100 Continue"), 0U);
        EXPECT_EQ(count_of(rest, "Connection: close"), 1U);
    });
}

// server_time_test.cpp has the deadlines, with virtual time.
TEST_P(http_server, a_head_that_does_not_end_meets_its_deadline) {
    server_options options;
    options.time.head = 20ms;
    serve(
        reflect,
        [](io::context* on, server*, io::endpoint at) -> io::task<> {
            io::tcp_stream stream = co_await connect_to(on, at);
            co_await stream.write_all(bytes_of("GET / HT"));
            const std::string got = co_await read_to_end(&stream);
            EXPECT_EQ(status_in(got), 408U) << got;
        },
        options);
}

TEST_P(http_server, a_client_that_does_not_read_its_responses_is_cut_off) {
    server_options options;
    options.time.transfer_grace = 50ms;
    options.time.bytes_per_second_min = 1U << 30U;
    options.time.linger = 50ms;
    static std::error_code seen;
    seen.clear();
    const handler endless = [](exchange* on) -> io::task<> {
        on->begin(200, {});
        const std::string piece(1U << 20U, 'x');
        for (int i = 0; i < 1000 && !seen; ++i) seen = co_await on->write(piece);
    };
    serve(
        endless,
        [](io::context* on, server* pages, io::endpoint at) -> io::task<> {
            io::tcp_stream stream = co_await connect_to(on, at);
            co_await stream.write_all(bytes_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
            while (pages->connections_count() == 0) co_await io::sleep_for(1ms);
            while (pages->connections_count() != 0) co_await io::sleep_for(1ms);
        },
        options);
    EXPECT_EQ(seen, io::condition::timed_out);
}

TEST_P(http_server, drains_idle_connections_at_once_and_busy_ones_after_their_response) {
    static io::manual_event go_on;
    go_on.reset();
    const handler slow = [](exchange* on) -> io::task<> {
        if (on->request().path == "/slow") co_await go_on.wait();
        on->respond(200, "text/plain", "done");
    };
    serve(slow, [](io::context* on, server* pages, io::endpoint at) -> io::task<> {
        io::tcp_stream idle = co_await connect_to(on, at);
        co_await idle.write_all(bytes_of("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
        io::tcp_stream busy = co_await connect_to(on, at);
        co_await busy.write_all(bytes_of("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n"));
        while (pages->requests_count() != 2) co_await io::sleep_for(1ms);
        pages->drain();
        const std::string first = co_await read_to_end(&idle);
        EXPECT_TRUE(first.ends_with("\r\n\r\ndone"));
        EXPECT_EQ(pages->connections_count(), 2U) << "the busy one, and the idle one that waits for our end";
        idle.close();
        const auto refused = co_await io::tcp_stream::connect(*on, at);
        EXPECT_FALSE(refused);
        go_on.set();
        const std::string second = co_await read_to_end(&busy);
        EXPECT_TRUE(second.ends_with("\r\n\r\ndone")) << second;
    });
}

TEST_P(http_server, handlers_that_fail_or_forget_to_answer_give_500) {
    const handler failing = [](exchange* on) -> io::task<> {
        if (on->request().path == "/half") {
            on->begin(200, {}, 10);
            co_await on->write("half");
        }
        if (on->request().path != "/silent") throw std::runtime_error("a handler's own affair");
    };
    EXPECT_EQ(status_in(ask(failing, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")), 500U);
    EXPECT_EQ(status_in(ask(failing, "GET /silent HTTP/1.1\r\nHost: a\r\n\r\n")), 500U);
    EXPECT_EQ(count_of(ask(failing, "GET /half HTTP/1.1\r\nHost: a\r\n\r\n"), "500"), 0U);
}

TEST_P(http_server, throws_small_unread_bodies_away_and_ends_with_large_ones) {
    const handler deaf = [](exchange* on) -> io::task<> {
        on->respond(200, "text/plain", "ok");
        co_return;
    };
    std::string got = ask(deaf, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 60000\r\n\r\n" +
                                    std::string(60'000, 'x') + "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(count_of(got, "HTTP/1.1 200"), 2U);
    got = ask(deaf, "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 600000\r\n\r\n" + std::string(600'000, 'x') +
                        "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(count_of(got, "HTTP/1.1 200"), 1U);
    EXPECT_EQ(count_of(got, "Connection: close"), 1U);
}

TEST_P(http_server, serves_any_stream) {
    auto pair = io::unix_stream::pair(ctx);
    ASSERT_TRUE(pair);
    server pages(ctx, reflect);
    const auto peer = [](io::unix_stream* on) -> io::task<int> {
        co_await on->write_all(bytes_of("GET /unix HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
        std::string all(4096, '\0');
        std::size_t size = 0;
        for (;;) {
            const io::io_result got = co_await on->read_some(std::as_writable_bytes(std::span(all)).subspan(size));
            size += got.bytes;
            if (!got) break;
        }
        EXPECT_TRUE(all.substr(0, size).ends_with("GET /unix "));
        on->close();
        co_return 0;
    };
    const auto serve_it = [](server* on, io::any_stream stream) -> io::task<int> {
        co_await on->serve_stream(std::move(stream));
        co_return 0;
    };
    const auto both = [](io::task<int> a, io::task<int> b) -> io::task<> {
        co_await io::when_all(std::move(a), std::move(b));
    };
    io::block_on(ctx, both(serve_it(&pages, io::any_stream(std::move(pair->second))), peer(&pair->first)));
}

TEST_P(http_server, routes_by_method_and_path) {
    router routes;
    routes.get("/orders/{id}", [](exchange* on) -> io::task<> {
        const auto id = path_part("/orders/{id}", on->request().path, "id");
        on->respond(200, "text/plain", std::string("order ") + std::string(id));
        co_return;
    });
    routes.del("/orders/{id}", [](exchange* on) -> io::task<> {
        on->respond(204, "", "");
        co_return;
    });
    routes.get("/files/*", [](exchange* on) -> io::task<> {
        on->respond(200, "text/plain",
                    std::string("file ") + std::string(path_part("/files/*", on->request().path, "*")));
        co_return;
    });
    const auto asked = [&](std::string_view line, std::string_view rest = "") {
        return ask(routes.as_handler(), std::string(line) + " HTTP/1.1\r\nHost: a\r\n" + std::string(rest) + "\r\n");
    };
    EXPECT_TRUE(asked("GET /orders/17?x=1").ends_with("order 17"));
    EXPECT_TRUE(asked("HEAD /orders/17").ends_with("Content-Length: 8\r\n\r\n"));
    EXPECT_TRUE(asked("GET /files/a/b").ends_with("file a/b"));
    EXPECT_EQ(status_in(asked("DELETE /orders/17")), 204U);
    EXPECT_EQ(status_in(asked("GET /orders/")), 404U);
    EXPECT_EQ(status_in(asked("GET /orders/1/2")), 404U);
    EXPECT_EQ(status_in(asked("PUT /orders/1")), 405U);
    EXPECT_EQ(count_of(asked("PUT /orders/1"), "Allow: GET, HEAD, DELETE, OPTIONS\r\n"), 1U);
    EXPECT_EQ(status_in(asked("OPTIONS *")), 204U);
    EXPECT_EQ(status_in(asked("PUT /no", "Transfer-Encoding: chunked\r\n\r\nx\r\n")), 400U);
    std::string decoded;
    EXPECT_TRUE(percent_decode("a%20b%2F", decoded));
    EXPECT_EQ(decoded, "a b/");
    EXPECT_FALSE(percent_decode("%0", decoded));
    EXPECT_FALSE(percent_decode("%00", decoded));
    EXPECT_EQ(query_part("a=1&b=2&c", "b"), "2");
    EXPECT_EQ(query_part("a=1&b=2&c", "d"), "");
}

CORRO_ON_EVERY_BACKEND(http_server);

}  // namespace
}  // namespace corro::http
