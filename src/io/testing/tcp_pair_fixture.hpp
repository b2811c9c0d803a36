// SPDX-License-Identifier: Apache-2.0
// Test support: two TCP streams connected to each other.
#pragma once

#include <gtest/gtest.h>

#include <utility>

#include "io/net/tcp.hpp"
#include "io/task/when_all.hpp"

namespace corro::io {

struct tcp_pair {
    tcp_pair() noexcept {}  // NOLINT: g++ 12 mistreats aggregates inside co_await expressions
    tcp_stream client;
    tcp_stream server;
};

inline task<tcp_pair> make_tcp_pair(context* on) {
    auto acceptor = tcp_acceptor::open(*on, endpoint::loopback(0));
    EXPECT_TRUE(acceptor) << acceptor.error().message();
    auto [client, server] =
        co_await when_all(tcp_stream::connect(*on, *acceptor->local_endpoint()), acceptor->accept());
    EXPECT_TRUE(client) << client.error().message();
    EXPECT_TRUE(server) << server.error().message();
    tcp_pair pair;
    pair.client = std::move(*client);
    pair.server = std::move(*server);
    co_return pair;
}

}  // namespace corro::io
