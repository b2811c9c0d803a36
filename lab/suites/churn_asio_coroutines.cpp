// SPDX-License-Identifier: Apache-2.0
// Suite `churn`, by Asio with coroutines.

#include <array>
#include <deque>

#include "lab/suites/asio_channel.hpp"
#include "lab/suites/asio_sockets.hpp"
#include "lab/suites/churn_shapes.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

using pairs = std::deque<asio_pair<tcp_socket>>;

tcp_acceptor listening(const executor& on) {
    return {on, net::ip::tcp::endpoint(net::ip::address_v4::loopback(), 0)};
}

awaitable<> come_and_go(executor on, timed_run& run) {
    tcp_acceptor acceptor = listening(on);
    const auto address = acceptor.local_endpoint();
    for (std::uint64_t at = run.now(); at != 0; at = run.lap(at)) {
        tcp_socket client(on);
        tcp_socket server(on);
        client.open(net::ip::tcp::v4());
        client.set_option(tcp_socket::linger(true, 0));
        bool connected = false;
        // The connection is in the acceptor's queue as soon as it is started. A callback that records the result is
        // enough; it needs no coroutine.
        client.async_connect(address, [&connected](const error_code& error) { connected = !error; });
        const auto [accept_error] = co_await acceptor.async_accept(server, as_results);
        verify_ok(accept_error, "accepting");
        while (!connected) co_await net::post(on, net::deferred);
        const std::byte sent = churn_byte;
        const auto [write_error, n] = co_await net::async_write(client, net::buffer(&sent, 1), as_results);
        verify_ok(write_error, "writing");
        std::byte received{};
        const auto [read_error, m] = co_await net::async_read(server, net::buffer(&received, 1), as_results);
        verify_ok(read_error, "reading");
        verify(received == sent, "another byte came");
        client.close();
        server.close();
    }
}

measurement churn(const run_parameters& how, int loops) {
    net::io_context context(alone);
    timed_run whole(how.seconds);
    std::deque<timed_run> runs;
    for (int i = 0; i < loops; ++i) {
        net::co_spawn(context, come_and_go(context.get_executor(), runs.emplace_back(whole, 0)), rethrow);
    }
    context.run();
    for (const timed_run& one : runs) whole.merge(one);
    return rate_with_latencies(whole);
}

awaitable<> burst(executor on, timed_run& run, int size) {
    tcp_acceptor acceptor = listening(on);
    const auto address = acceptor.local_endpoint();
    for (std::uint64_t at = run.now(); at != 0; at = run.lap(at)) {
        std::deque<tcp_socket> clients;
        std::deque<tcp_socket> servers;
        int connected = 0;
        for (int i = 0; i < size; ++i) {
            tcp_socket& client = clients.emplace_back(on);
            client.open(net::ip::tcp::v4());
            client.set_option(tcp_socket::linger(true, 0));
            client.async_connect(address, [&connected](const error_code& error) { connected += error ? 0 : 1; });
        }
        for (int i = 0; i < size; ++i) {
            const auto [error] = co_await acceptor.async_accept(servers.emplace_back(on), as_results);
            verify_ok(error, "accepting");
        }
        while (connected != size) co_await net::post(on, net::deferred);
    }
}

measurement bursts(const run_parameters& how, int size) {
    net::io_context context(alone);
    timed_run run(how.seconds);
    net::co_spawn(context, burst(context.get_executor(), run, size), rethrow);
    context.run();
    return rate_with_latencies(run);
}

awaitable<> echo(tcp_socket& with) {
    std::array<std::byte, fan_out_bytes> bytes{};
    for (;;) {
        const auto [error, got] = co_await with.async_read_some(into_buffer(bytes), as_results);
        if (is_end(error)) co_return;
        verify_ok(error, "reading");
        const auto [write_error, n] =
            co_await net::async_write(with, from_buffer(std::span<const std::byte>(bytes).first(got)), as_results);
        verify_ok(write_error, "writing");
    }
}

/// Counts children down and notifies the parent after the last one.
struct join {
    join(executor on, int children) : done(on, 1), left(children) {}
    void one_ended() {
        if (--left == 0) done.try_send(error_code());
    }
    channel done;
    int left;
};

awaitable<> request(tcp_socket& with) {
    std::array<std::byte, fan_out_bytes> bytes{};
    bytes.back() = churn_byte;
    const auto [write_error, n] = co_await net::async_write(with, from_buffer(bytes), as_results);
    verify_ok(write_error, "writing");
    bytes.back() = std::byte{0};
    const auto [read_error, m] = co_await net::async_read(with, into_buffer(bytes), as_results);
    verify_ok(read_error, "reading");
    verify(bytes.back() == churn_byte, "another message came back");
}

awaitable<> requests(executor on, pairs& of, std::size_t first, int count) {
    join children(on, count);
    for (int i = 0; i < count; ++i) {
        net::co_spawn(on, request(of[first + static_cast<std::size_t>(i)].client), [&children](std::exception_ptr e) {
            rethrow(e);
            children.one_ended();
        });
    }
    co_await children.done.async_receive(as_results);
}

awaitable<> parent(executor on, pairs& of, std::size_t first, const fan_out_shape& shape, timed_run& run) {
    for (std::uint64_t at = run.now(); at != 0; at = run.lap(at)) {
        if (shape.groups == 1) {
            co_await requests(on, of, first, shape.requests);
            continue;
        }
        join groups(on, shape.groups);
        for (int g = 0; g < shape.groups; ++g) {
            net::co_spawn(on, requests(on, of, first + static_cast<std::size_t>(g * shape.requests), shape.requests),
                          [&groups](std::exception_ptr e) {
                              rethrow(e);
                              groups.one_ended();
                          });
        }
        co_await groups.done.async_receive(as_results);
    }
    for (int i = 0; i < shape.groups * shape.requests; ++i) {
        of[first + static_cast<std::size_t>(i)].client.shutdown(tcp_socket::shutdown_send);
    }
}

measurement fan_out(const run_parameters& how, const fan_out_shape& shape) {
    net::io_context context(alone);
    pairs connections = connected_pairs<tcp_socket>(context, shape.connections());
    timed_run whole(how.seconds);
    std::deque<timed_run> runs;
    for (auto& one : connections) net::co_spawn(context, echo(one.server), rethrow);
    const auto each = connections.size() / static_cast<std::size_t>(shape.parents);
    for (std::size_t first = 0; first < connections.size(); first += each) {
        net::co_spawn(context, parent(context.get_executor(), connections, first, shape, runs.emplace_back(whole, 0)),
                      rethrow);
    }
    context.run();
    for (const timed_run& one : runs) whole.merge(one);
    return rate_with_latencies(whole);
}

}  // namespace

void implement_churn_coroutines(registry& into) {
    for (const int loops : churn_loops) {
        into.implement("churn", churn_row(loops), subject("coroutines"),
                       [loops](const run_parameters& how) { return churn(how, loops); });
    }
    for (const int size : churn_bursts) {
        into.implement("churn", burst_row(size), subject("coroutines"),
                       [size](const run_parameters& how) { return bursts(how, size); });
    }
    for (const fan_out_shape& shape : fan_out_shapes()) {
        into.implement("churn", shape.row(), subject("coroutines"),
                       [shape](const run_parameters& how) { return fan_out(how, shape); });
    }
}

}  // namespace corro::lab::CORRO_LAB_ASIO
