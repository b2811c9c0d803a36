// SPDX-License-Identifier: Apache-2.0
// Test support: a world with two hosts, a process and a context on each, and connections between them.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/loop/context.hpp"
#include "io/net/tcp.hpp"
#include "io/task/block_on.hpp"
#include "io/task/scope.hpp"
#include "sim/host.hpp"
#include "sim/world.hpp"

namespace corro::sim {

inline constexpr std::uint16_t tested_port = 9'000;

struct two_hosts {
    explicit two_hosts(std::uint64_t seed) : w(seed) {}

    /// Both links take this long, each way.
    void set_latency(std::chrono::nanoseconds time) {
        for (link* each : {&w.link_between(north, south), &w.link_between(south, north)}) {
            each->options().latency_min = each->options().latency_max = time;
        }
    }
    [[nodiscard]] io::endpoint at_south() const { return io::endpoint::ipv4({10, 0, 0, 2}, tested_port); }

    world w;
    host& north = w.add_host("north", {io::endpoint::ipv4({10, 0, 0, 1}, 0)});
    host& south = w.add_host("south", {io::endpoint::ipv4({10, 0, 0, 2}, 0)});
    process& client_process = north.start_process("client");
    process& server_process = south.start_process("server");
    io::context client{io::context_options(client_process)};
    io::context server{io::context_options(server_process)};
};

/// Both ends of a connection.
struct ends {
    std::optional<io::tcp_stream> client;
    std::optional<io::tcp_stream> server;
    std::error_code connect_error;
};

inline io::task<void> connect_into(ends* into, io::context* on, io::endpoint to) {
    auto made = co_await io::tcp_stream::connect(*on, to);
    if (made) {
        into->client = std::move(*made);
    } else {
        into->connect_error = made.error();
    }
}

inline io::task<void> accept_into(ends* into, io::tcp_acceptor* by) {
    auto made = co_await by->accept();
    if (made) into->server = std::move(*made);
}

/// A connection from `client` to an acceptor on `server` that is closed again.
inline ends connected(io::context& client, io::context& server, io::endpoint at) {
    ends both;
    auto acceptor = io::tcp_acceptor::open(server, at);
    if (!acceptor) {
        ADD_FAILURE() << acceptor.error().message();
        return both;
    }
    io::task_scope connecting(client);
    connecting.spawn(connect_into(&both, &client, *acceptor->local_endpoint()));
    io::block_on(server, accept_into(&both, &*acceptor));
    io::block_on(client, connecting.join());
    EXPECT_TRUE(both.client && both.server) << both.connect_error.message();
    return both;
}
inline ends connected(two_hosts& on) {
    return connected(on.client, on.server, on.at_south());
}

inline std::error_code write(io::context& on, io::tcp_stream& to, std::string_view text) {
    return io::block_on(on, [](io::tcp_stream* into, std::string_view what) -> io::task<std::error_code> {
        const io::io_result sent = co_await into->write_all(std::as_bytes(std::span(what)));
        co_return sent.error;
    }(&to, text));
}

/// What one read returns: at most `most` bytes, and how it ended.
struct read_result {
    std::string text;
    std::error_code error;
};
inline read_result read(io::context& on, io::tcp_stream& from, std::size_t most = 1'024) {
    return io::block_on(on, [](io::tcp_stream* of, std::size_t room) -> io::task<read_result> {
        read_result all;
        all.text.resize(room);
        const io::io_result got = co_await of->read_some(std::as_writable_bytes(std::span(all.text)));
        all.text.resize(got.bytes);
        all.error = got.error;
        co_return all;
    }(&from, most));
}

}  // namespace corro::sim
