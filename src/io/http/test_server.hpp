// Test support: an HTTP server on every backend, and a peer that sends it whatever bytes a test likes.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "io/backend_tests.hpp"
#include "io/http/server.hpp"
#include "io/tcp.hpp"
#include "io/test_require.hpp"
#include "io/timer.hpp"
#include "io/when_all.hpp"
#include "io/with_timeout.hpp"

namespace corro::io::http {

inline std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

/// Everything that comes until the end of the stream.
inline task<std::string> read_to_end(tcp_stream* from) {
    std::string all;
    std::string part(16 * 1024, '\0');
    for (;;) {
        const io_result got = co_await from->read_some(std::as_writable_bytes(std::span(part)));
        all.append(part, 0, got.bytes);
        if (!got) co_return all;
    }
}

inline task<tcp_stream> connect_to(context* on, endpoint at) {
    auto stream = co_await tcp_stream::connect(*on, at);
    EXPECT_TRUE(stream) << stream.error().message();
    co_return stream ? std::move(*stream) : tcp_stream();
}

class with_server : public on_backend {
 protected:
    /// Serves with `answer` while `body(context, server, where)` runs, then drains.
    template <class Body>
    void serve(handler answer, Body body, server_options options = server_options()) {
        options.drain = test_patience;
        server pages(ctx, std::move(answer), options);
        auto acceptor = tcp_acceptor::open(ctx, endpoint::loopback(0));
        ASSERT_TRUE(acceptor) << acceptor.error().message();
        const auto play = [](context* on, server* pages_of, endpoint at, Body played) -> task<int> {
            co_await played(on, pages_of, at);
            pages_of->drain();
            co_return 0;
        };
        const auto whole = [](task<std::error_code> served, task<int> played) -> task<> {
            const auto [ended, zero] = co_await when_all(std::move(served), std::move(played));
            EXPECT_FALSE(ended) << ended.message();
        };
        block_on(ctx, whole(pages.serve(&*acceptor), play(&ctx, &pages, *acceptor->local_endpoint(), body)));
    }

    /// Sends `request` as it is, and gives everything that comes back. The request's end must end the connection.
    std::string ask(handler answer, std::string request, server_options options = server_options()) {
        std::string got;
        serve(
            std::move(answer),
            [&got, &request](context* on, server*, endpoint at) -> task<> {
                return exchange_text(on, at, &request, &got);
            },
            options);
        return got;
    }

 private:
    static task<> exchange_text(context* on, endpoint at, const std::string* request, std::string* got) {
        tcp_stream stream = co_await connect_to(on, at);
        co_await stream.write_all(bytes_of(*request));
        (void)stream.shutdown_send();
        *got = co_await read_to_end(&stream);
    }
};

}  // namespace corro::io::http
