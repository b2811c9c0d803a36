// SPDX-License-Identifier: Apache-2.0
// Test support for proxies: a server that speaks first, and a relay between two streams.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/test_bytes.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp.hpp"
#include "io/task/when_all.hpp"
#include "io/testing/test_require.hpp"

namespace corro::io {

using base::bytes_of;

/// Greets one peer, then returns what it sends, until it ends.
inline task<> greet_and_echo(tcp_acceptor* at) {
    auto peer = co_await at->accept();
    CORRO_REQUIRE(peer.has_value());
    co_await peer->write_all(bytes_of("hello "));
    std::array<std::byte, 256> room{};
    for (;;) {
        const io_result got = co_await peer->read_some(room);
        if (!got) co_return;
        co_await peer->write_all(std::span(room).first(got.bytes));
    }
}

/// Copies one direction, and its end.
inline task<> copy_until_end(tcp_stream* from, tcp_stream* to) {
    std::array<std::byte, 256> room{};
    for (;;) {
        const io_result got = co_await from->read_some(room);
        if (!got) break;
        co_await to->write_all(std::span(room).first(got.bytes));
    }
    static_cast<void>(to->shutdown_send());
}
inline task<> relay(tcp_stream* one, tcp_stream* other) {
    co_await when_all(copy_until_end(one, other), copy_until_end(other, one));
}

/// Reads the greeting, sends a text and reads it back. @return What was read.
template <stream Stream>
task<std::string> converse(Stream* on) {
    const std::string_view text = "through the proxy";
    const io_result put = co_await write_all(*on, bytes_of(text));
    if (!put) co_return put.error.message();
    std::string all(text.size() + 6, ' ');
    const io_result got = co_await read_exact(*on, std::as_writable_bytes(std::span(all)));
    if (!got) co_return got.error.message();
    co_return all;
}

}  // namespace corro::io
