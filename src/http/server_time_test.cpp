// SPDX-License-Identifier: Apache-2.0
// The deadlines of a server, with the times of real clients. In a world in memory: time is virtual.
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "http/server.hpp"
#include "http/server_fixture.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/scope.hpp"

namespace corro::http {
namespace {

using namespace std::chrono_literals;

class http_server_times : public with_server {};

/// Responds when it has the whole body.
io::task<> take(exchange* on) {
    const auto body = co_await on->read_body();
    if (body) on->respond(200, "text/plain", "taken");
}

/// Sends a byte each second, for ever: single bytes do not extend a deadline.
io::task<> drip(io::tcp_stream* to) {
    while (true) {
        const std::error_code stopped = co_await io::sleep_for(1s);
        if (stopped) co_return;
        const io::io_result written = co_await to->write_all(bytes_of("1"));
        if (written.error) co_return;
    }
}

struct answer {
    std::string first_bytes;  ///< of what the server sent; empty when it closed the connection without a response
    std::chrono::nanoseconds after{};
};

/// Sends `start`, and then a byte each second if `start` is not empty. Returns the server's answer.
io::task<> send_slowly(io::context* on, io::endpoint at, std::string start, answer* got) {
    io::tcp_stream stream = co_await connect_to(on, at);
    const io::steady_time begin = on->now();
    co_await stream.write_all(bytes_of(start));
    io::task_scope dripping(*on);
    if (!start.empty()) dripping.spawn(drip(&stream));
    std::string part(4096, '\0');
    const io::io_result read = co_await stream.read_some(std::as_writable_bytes(std::span(part)));
    got->after = on->now() - begin;
    got->first_bytes.assign(part, 0, read.bytes);
    dripping.request_stop();
    co_await dripping.join();
}

TEST_P(http_server_times, slow_senders_meet_a_deadline_wherever_they_drip) {
    const server_options options;
    struct slow_sender {
        std::string start;
        std::string_view expected;
        std::chrono::nanoseconds deadline;
    };
    const std::string_view timeout = "HTTP/1.1 408 Request Timeout\r\n";
    const slow_sender cases[] = {
        {"", "", options.time.idle},
        {"GET / HT", timeout, options.time.head},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n", timeout, options.time.transfer_grace},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n", timeout,
         options.time.transfer_grace}};
    for (const slow_sender& one : cases) {
        answer got;
        serve(take, [&](io::context* on, server*, io::endpoint at) { return send_slowly(on, at, one.start, &got); });
        EXPECT_TRUE(got.first_bytes.starts_with(one.expected)) << one.start << " -> " << got.first_bytes;
        EXPECT_EQ(got.first_bytes.empty(), one.expected.empty());
        EXPECT_GE(got.after, one.deadline) << one.start;
        EXPECT_LE(got.after, one.deadline + 1s) << one.start;
    }
}

TEST_P(http_server_times, takes_no_more_connections_than_allowed_until_one_ends) {
    server_options options;
    options.connections_max = 1;
    options.time.idle = 1h;
    serve(
        take,
        [](io::context* on, server* pages, io::endpoint at) -> io::task<> {
            io::tcp_stream first = co_await connect_to(on, at);
            while (pages->connections_count() != 1) co_await io::sleep_for(1ms);
            io::tcp_stream second = co_await connect_to(on, at);
            co_await second.write_all(bytes_of("GET /2 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
            co_await io::sleep_for(10min);
            EXPECT_EQ(pages->requests_count(), 0U);
            first.close();
            const std::string got = co_await read_to_end(&second);
            EXPECT_TRUE(got.ends_with("taken"));
            EXPECT_EQ(pages->requests_count(), 1U);
        },
        options);
}

CORRO_ON_EVERY_BACKEND(http_server_times);

}  // namespace
}  // namespace corro::http
