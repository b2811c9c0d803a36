// SPDX-License-Identifier: Apache-2.0
// Test support: an HTTP server on every backend, and a peer that sends it any bytes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/test_bytes.hpp"
#include "http/server.hpp"
#include "io/loop/timer.hpp"
#include "io/net/tcp.hpp"
#include "io/task/when_all.hpp"
#include "io/task/with_timeout.hpp"
#include "io/testing/backend_tests.hpp"
#include "io/testing/test_require.hpp"

namespace corro::http {

using base::bytes_of;

/// Reads until the end of the stream.
inline io::task<std::string> read_to_end(io::tcp_stream* from) {
    std::string all;
    std::string part(16 * 1024, '\0');
    for (;;) {
        const io::io_result got = co_await from->read_some(std::as_writable_bytes(std::span(part)));
        all.append(part, 0, got.bytes);
        if (!got) co_return all;
    }
}

inline io::task<io::tcp_stream> connect_to(io::context* on, io::endpoint at) {
    auto stream = co_await io::tcp_stream::connect(*on, at);
    EXPECT_TRUE(stream) << stream.error().message();
    co_return stream ? std::move(*stream) : io::tcp_stream();
}

class with_server : public io::on_backend {
 protected:
    /// Serves with `answer` while `body(context, server, where)` runs, then drains.
    template <class Body>
    void serve(handler answer, Body body, server_options options = server_options()) {
        options.drain = io::test_patience;
        server pages(ctx, std::move(answer), options);
        auto acceptor = io::tcp_acceptor::open(ctx, io::endpoint::loopback(0));
        ASSERT_TRUE(acceptor) << acceptor.error().message();
        const auto play = [](io::context* on, server* pages_of, io::endpoint at, Body played) -> io::task<int> {
            co_await played(on, pages_of, at);
            pages_of->drain();
            co_return 0;
        };
        const auto whole = [](io::task<std::error_code> served, io::task<int> played) -> io::task<> {
            const auto [ended, zero] = co_await io::when_all(std::move(served), std::move(played));
            EXPECT_FALSE(ended) << ended.message();
        };
        io::block_on(ctx, whole(pages.serve(&*acceptor), play(&ctx, &pages, *acceptor->local_endpoint(), body)));
    }

    /// Sends `request` unchanged, and returns the whole answer. The request's end must end the connection.
    std::string ask(handler answer, std::string request, server_options options = server_options()) {
        std::string got;
        serve(
            std::move(answer),
            [&got, &request](io::context* on, server*, io::endpoint at) -> io::task<> {
                return exchange_text(on, at, &request, &got);
            },
            options);
        return got;
    }

 private:
    static io::task<> exchange_text(io::context* on, io::endpoint at, const std::string* request, std::string* got) {
        io::tcp_stream stream = co_await connect_to(on, at);
        co_await stream.write_all(bytes_of(*request));
        (void)stream.shutdown_send();
        *got = co_await read_to_end(&stream);
    }
};

}  // namespace corro::http
