// SPDX-License-Identifier: Apache-2.0
// Suite `sockets`, by Asio with coroutines.

#include "lab/suites/asio_sockets.hpp"
#include "lab/suites/socket_shapes.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

template <class Socket>
awaitable<> write_on_and_on(Socket& to, std::size_t buffer_bytes, const timed_run& run, stream_account& account) {
    const std::vector<std::byte> buffer(buffer_bytes, stream_filler);
    while (run.goes_on(run.now())) {
        const auto [error, bytes] = co_await to.async_write_some(from_buffer(buffer), as_results);
        verify_ok(error, "writing");
        account.written += bytes;
    }
    to.shutdown(Socket::shutdown_send);
}

template <class Socket>
awaitable<> read_on_and_on(Socket& from, std::size_t buffer_bytes, timed_run& run, stream_account& account) {
    std::vector<std::byte> buffer(buffer_bytes);
    std::uint64_t at = run.now();
    for (;;) {
        const auto [error, bytes] = co_await from.async_read_some(into_buffer(buffer), as_results);
        if (is_end(error)) co_return;
        verify_ok(error, "reading");
        verify(buffer[0] == stream_filler && buffer[bytes - 1] == stream_filler, "other bytes than were written");
        account.read += bytes;
        const std::uint64_t next = run.count(at, bytes);
        at = next == 0 ? run.now() : next;
    }
}

template <class Socket>
measurement throughput(const run_parameters& how, const throughput_shape& shape) {
    net::io_context on(alone);
    auto pairs = connected_pairs<Socket>(on, 1);
    auto& [client, server] = pairs.front();
    timed_run run(how.seconds);
    stream_account there;
    stream_account back;
    net::co_spawn(on.get_executor(), write_on_and_on(client, shape.buffer_bytes, run, there), rethrow);
    net::co_spawn(on.get_executor(), read_on_and_on(server, shape.buffer_bytes, run, there), rethrow);
    if (shape.two_way) {
        net::co_spawn(on.get_executor(), write_on_and_on(server, shape.buffer_bytes, run, back), rethrow);
        net::co_spawn(on.get_executor(), read_on_and_on(client, shape.buffer_bytes, run, back), rethrow);
    }
    on.run();
    verify_stream(there);
    verify_stream(back);
    return rate_of(run);
}

template <class Socket>
awaitable<> echo(Socket& with, std::size_t bytes_max) {
    std::vector<std::byte> buffer(bytes_max);
    for (;;) {
        const auto [error, bytes] = co_await with.async_read_some(into_buffer(buffer), as_results);
        if (is_end(error)) co_return;
        verify_ok(error, "reading");
        const auto [write_error, written] =
            co_await net::async_write(with, from_buffer(std::span(buffer).first(bytes)), as_results);
        verify_ok(write_error, "writing");
    }
}

template <class Socket>
awaitable<> ping(Socket& with, std::size_t bytes, timed_run& run) {
    ping_message message(bytes);
    for (std::uint64_t at = run.now(); at != 0; at = run.lap(at)) {
        message.next();
        const auto [write_error, written] = co_await net::async_write(with, from_buffer(message.sent), as_results);
        verify_ok(write_error, "writing");
        const auto [read_error, read] = co_await net::async_read(with, into_buffer(message.received), as_results);
        verify_ok(read_error, "reading");
        verify(message.came_back(), "another message came back");
    }
    with.shutdown(Socket::shutdown_send);
}

// A timer per connection that cancels the socket. This is cheaper than `read || timer`, which makes two coroutines for
// every read.
template <class Socket>
awaitable<> ping_with_timeouts(Socket& with, std::size_t bytes, timed_run& run) {
    ping_message message(bytes);
    timer limit(with.get_executor());
    for (std::uint64_t at = run.now(); at != 0; at = run.lap(at)) {
        message.next();
        const auto [write_error, written] = co_await net::async_write(with, from_buffer(message.sent), as_results);
        verify_ok(write_error, "writing");
        limit.expires_after(read_timeout);
        limit.async_wait([&with](const error_code& outcome) {
            if (!outcome) with.cancel();
        });
        const auto [read_error, read] = co_await net::async_read(with, into_buffer(message.received), as_results);
        limit.cancel();
        verify_ok(read_error, "reading");
        verify(message.came_back(), "another message came back");
    }
    with.shutdown(Socket::shutdown_send);
}

template <class Socket>
awaitable<> ping_and_pong(asio_pair<Socket>& both, std::size_t bytes, timed_run& run) {
    ping_message message(bytes);
    for (std::uint64_t at = run.now(); at != 0; at = run.lap(at)) {
        message.next();
        const auto [e1, n1] = co_await net::async_write(both.client, from_buffer(message.sent), as_results);
        verify_ok(e1, "writing");
        const auto [e2, n2] = co_await net::async_read(both.server, into_buffer(message.received), as_results);
        verify_ok(e2, "reading");
        const auto [e3, n3] = co_await net::async_write(both.server, from_buffer(message.received), as_results);
        verify_ok(e3, "writing");
        const auto [e4, n4] = co_await net::async_read(both.client, into_buffer(message.received), as_results);
        verify_ok(e4, "reading");
        verify(message.came_back(), "another message came back");
    }
}

template <class Socket>
measurement ping_pong(const run_parameters& how, const ping_pong_shape& shape) {
    net::io_context on(alone);
    auto pairs = connected_pairs<Socket>(on, shape.pairs);
    ping_pong_run run(how.seconds, shape);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (shape.alone) {
            net::co_spawn(on.get_executor(), ping_and_pong(pairs[i], shape.message_bytes, run.of(i)), rethrow);
            continue;
        }
        net::co_spawn(on.get_executor(), echo(pairs[i].server, shape.message_bytes), rethrow);
        net::co_spawn(on.get_executor(),
                      shape.with_timeout ? ping_with_timeouts(pairs[i].client, shape.message_bytes, run.of(i))
                                         : ping(pairs[i].client, shape.message_bytes, run.of(i)),
                      rethrow);
    }
    on.run();
    return run.result();
}

}  // namespace

void implement_sockets_coroutines(registry& into) {
    for (const throughput_shape& shape : throughput_shapes()) {
        into.implement("sockets", shape.row(), subject("coroutines"), [shape](const run_parameters& how) {
            return shape.over == wire::tcp ? throughput<tcp_socket>(how, shape) : throughput<unix_socket>(how, shape);
        });
    }
    for (const ping_pong_shape& shape : ping_pong_shapes()) {
        into.implement("sockets", shape.row(), subject("coroutines"), [shape](const run_parameters& how) {
            return shape.over == wire::tcp ? ping_pong<tcp_socket>(how, shape) : ping_pong<unix_socket>(how, shape);
        });
    }
}

}  // namespace corro::lab::CORRO_LAB_ASIO
