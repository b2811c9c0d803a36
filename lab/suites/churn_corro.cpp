// SPDX-License-Identifier: Apache-2.0
// Suite `churn`, the accept rows, by Corro.

#include <deque>
#include <vector>

#include "io/task/scope.hpp"
#include "io/task/when_all.hpp"
#include "lab/suites/churn_shapes.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

io::task<> come_and_go(timed_run* run) {
    io::context& on = co_await io::this_context();
    auto acceptor = io::tcp_acceptor::open(on, io::endpoint::loopback(0));
    verify(acceptor.has_value(), "listening failed");
    const io::endpoint address = *acceptor->local_endpoint();
    for (std::uint64_t at = run->now(); at != 0; at = run->lap(at)) {
        auto both = co_await io::when_all(io::tcp_stream::connect(on, address), acceptor->accept());
        auto& client = std::get<0>(both);
        auto& server = std::get<1>(both);
        verify(client.has_value() && server.has_value(), "connecting failed");
        verify_io(client->set_option(io::linger_seconds(0)), "linger");
        const std::byte sent = churn_byte;
        const io::io_result wrote = co_await client->write_all(std::span(&sent, 1));
        verify_io(wrote.error, "writing");
        std::byte received{};
        const io::io_result got = co_await server->read_exact(std::span(&received, 1));
        verify_io(got.error, "reading");
        verify(received == sent, "another byte came");
        client->close();
        server->close();
    }
}

measurement churn(const run_parameters& how, io::platform* kind, int loops) {
    io::context on{io::context_options(*kind)};
    timed_run whole(how.seconds);
    std::deque<timed_run> runs;
    for (int i = 0; i < loops; ++i) io::spawn(on, come_and_go(&runs.emplace_back(whole, 0)));
    on.run();
    for (const timed_run& one : runs) whole.merge(one);
    return rate_with_latencies(whole);
}

io::task<> connect(std::deque<io::tcp_stream>* into, io::endpoint address) {
    auto made = co_await io::tcp_stream::connect(co_await io::this_context(), address);
    verify(made.has_value(), "connecting failed");
    verify_io(made->set_option(io::linger_seconds(0)), "linger");
    into->push_back(std::move(*made));
}

io::task<> burst(timed_run* run, int size) {
    io::context& on = co_await io::this_context();
    auto acceptor = io::tcp_acceptor::open(on, io::endpoint::loopback(0));
    verify(acceptor.has_value(), "listening failed");
    const io::endpoint address = *acceptor->local_endpoint();
    io::task_scope connecting(on);
    for (std::uint64_t at = run->now(); at != 0; at = run->lap(at)) {
        std::deque<io::tcp_stream> clients;
        std::deque<io::tcp_stream> servers;
        for (int i = 0; i < size; ++i) connecting.spawn(connect(&clients, address));
        for (int i = 0; i < size; ++i) {
            auto accepted = co_await acceptor->accept();
            verify(accepted.has_value(), "accepting failed");
            servers.push_back(std::move(*accepted));
        }
        co_await connecting.join();
        verify_equal(clients.size(), servers.size(), "connections");
        clients.clear();
        servers.clear();
    }
}

measurement bursts(const run_parameters& how, io::platform* kind, int size) {
    io::context on{io::context_options(*kind)};
    timed_run run(how.seconds);
    io::spawn(on, burst(&run, size));
    on.run();
    return rate_with_latencies(run);
}

}  // namespace

void implement_churn_corro(registry& into) {
    for (const corro_backend& by : corro_backends()) {
        io::platform* const kind = by.kind;
        for (const int loops : churn_loops) {
            into.implement("churn", churn_row(loops), by.subject,
                           [kind, loops](const run_parameters& how) { return churn(how, kind, loops); });
        }
        for (const int size : churn_bursts) {
            into.implement("churn", burst_row(size), by.subject,
                           [kind, size](const run_parameters& how) { return bursts(how, kind, size); });
        }
    }
}

}  // namespace corro::lab
