// SPDX-License-Identifier: Apache-2.0
#include "http/client.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "http/server_fixture.hpp"

namespace corro::http {
namespace {

using namespace std::chrono_literals;

io::task<> reflect_with_trailer(exchange* on) {
    if (on->request().path == "/refused") {
        on->respond(403, "text/plain", "no");
        co_return;
    }
    const auto body = co_await on->read_body();
    if (!body) co_return;
    const field trailer("X-Trailer", on->trailer("X-Trailer"));
    on->begin(200, {});
    co_await on->write(on->request().target);
    co_await on->write(*body);
    on->finish(std::span(&trailer, 1));
}

using http_client = with_server;

TEST_P(http_client, sends_and_receives_bodies_of_every_kind) {
    serve(reflect_with_trailer, [](io::context* on, server*, io::endpoint at) -> io::task<> {
        client asking(io::any_stream(co_await connect_to(on, at)), "venue");
        for (int round = 0; round < 3; ++round) {
            std::error_code error = co_await asking.send(method::get, "/x");
            CORRO_REQUIRE(!error);
            auto head = co_await asking.receive();
            CORRO_REQUIRE(head);
            EXPECT_EQ(head->status, 200U);
            auto body = co_await asking.read_body();
            CORRO_REQUIRE(body);
            EXPECT_EQ(*body, "/x");

            const std::string large(300'000, 'p');
            error = co_await asking.send(method::post, "/y", {}, large);
            CORRO_REQUIRE(!error);
            head = co_await asking.receive();
            CORRO_REQUIRE(head);
            body = co_await asking.read_body();
            CORRO_REQUIRE(body);
            EXPECT_TRUE(*body == "/y" + large);

            error = co_await asking.begin(method::put, "/z");
            CORRO_REQUIRE(!error);
            co_await asking.write("one ");
            co_await asking.write("two");
            const field trailer("X-Trailer", "three");
            error = co_await asking.finish(std::span(&trailer, 1));
            CORRO_REQUIRE(!error);
            head = co_await asking.receive();
            CORRO_REQUIRE(head);
            body = co_await asking.read_body();
            CORRO_REQUIRE(body);
            EXPECT_EQ(*body, "/zone two");
            EXPECT_EQ(asking.trailer("x-trailer"), "three");
            EXPECT_TRUE(asking.kept_alive());
        }
        asking.close();
    });
}

TEST_P(http_client, pipelines_and_skips_bodies_that_nobody_reads) {
    serve(reflect_with_trailer, [](io::context* on, server*, io::endpoint at) -> io::task<> {
        client asking(io::any_stream(co_await connect_to(on, at)), "venue");
        for (int i = 0; i < 100; ++i) {
            const std::string target = "/" + std::to_string(i);
            const std::error_code error = co_await asking.send(i % 3 == 0 ? method::head : method::get, target);
            CORRO_REQUIRE(!error);
        }
        for (int i = 0; i < 100; ++i) {
            const auto head = co_await asking.receive();
            CORRO_REQUIRE(head);
            if (i % 2 == 0) continue;
            const auto body = co_await asking.read_body();
            CORRO_REQUIRE(body);
            EXPECT_EQ(*body, i % 3 == 0 ? std::string() : "/" + std::to_string(i));
        }
        asking.close();
    });
}

TEST_P(http_client, waits_for_the_servers_word_before_a_large_body) {
    serve(reflect_with_trailer, [](io::context* on, server*, io::endpoint at) -> io::task<> {
        client asking(io::any_stream(co_await connect_to(on, at)), "venue");
        const field expect("Expect", "100-continue");
        std::error_code error = co_await asking.begin(method::put, "/wanted", std::span(&expect, 1), 4);
        CORRO_REQUIRE(!error);
        auto wanted = co_await asking.wait_for_continue(io::test_patience);
        CORRO_REQUIRE(wanted);
        EXPECT_TRUE(*wanted);
        error = co_await asking.write("body");
        CORRO_REQUIRE(!error);
        auto head = co_await asking.receive();
        CORRO_REQUIRE(head);
        EXPECT_EQ(head->status, 200U);

        error = co_await asking.begin(method::put, "/refused", std::span(&expect, 1), 4);
        CORRO_REQUIRE(!error);
        wanted = co_await asking.wait_for_continue(io::test_patience);
        CORRO_REQUIRE(wanted);
        EXPECT_FALSE(*wanted);
        head = co_await asking.receive();
        CORRO_REQUIRE(head);
        EXPECT_EQ(head->status, 403U);
        EXPECT_FALSE(asking.kept_alive());
        asking.close();
    });
}

/// A client against a server that sends any bytes.
class http_client_alone : public io::on_backend {
 protected:
    std::error_code outcome(std::string response, std::string* body = nullptr,
                            client_options options = client_options()) {
        std::error_code result;
        const auto whole = [](io::context* on, const std::string* text, std::string* into, std::error_code* out,
                              client_options with) -> io::task<> {
            auto acceptor = io::tcp_acceptor::open(*on, io::endpoint::loopback(0));
            auto [near, far] =
                co_await io::when_all(io::tcp_stream::connect(*on, *acceptor->local_endpoint()), acceptor->accept());
            CORRO_REQUIRE(near && far);
            co_await far->write_all(bytes_of(*text));
            (void)far->shutdown_send();
            client asking(io::any_stream(std::move(*near)), "venue", with);
            *out = co_await asking.send(method::get, "/");
            CORRO_REQUIRE(!*out);
            const auto head = co_await asking.receive();
            if (!head) {
                *out = head.error();
                co_return;
            }
            const auto got = co_await asking.read_body();
            if (!got) {
                *out = got.error();
            } else if (into != nullptr) {
                *into = *got;
            }
        };
        io::block_on(ctx, whole(&ctx, &response, body, &result, options));
        return result;
    }
};

TEST_P(http_client_alone, accepts_bodies_that_end_with_the_connection_and_skips_interim_responses) {
    std::string body;
    EXPECT_FALSE(outcome(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it",
        &body));
    EXPECT_EQ(body, "all of it");
    EXPECT_FALSE(outcome("HTTP/1.0 200 OK\r\n\r\n", &body));
    EXPECT_EQ(body, "");
}

TEST_P(http_client_alone, refuses_responses_that_are_cut_short_or_ambiguous_or_too_large) {
    EXPECT_EQ(outcome(""), make_error_code(errc::no_response));
    EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nConte"), make_error_code(errc::incomplete_message));
    EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfour"), make_error_code(errc::incomplete_message));
    EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nfour\r\n"),
              make_error_code(errc::incomplete_message));
    EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nfives"),
              make_error_code(errc::ambiguous_length));
    EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
              make_error_code(errc::malformed_chunk));
    EXPECT_EQ(outcome("HTTP/2 200\r\n\r\n"), make_error_code(errc::malformed_start_line));
    client_options small;
    small.limits.body_bytes = 4;
    EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\n\r\nlarge", nullptr, small), make_error_code(errc::body_too_large));
    EXPECT_EQ(outcome("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nlarge", nullptr, small),
              make_error_code(errc::body_too_large));
}

CORRO_ON_EVERY_BACKEND(http_client);
CORRO_ON_EVERY_BACKEND(http_client_alone);

}  // namespace
}  // namespace corro::http
