// SPDX-License-Identifier: Apache-2.0
// Suite `http`, by Corro.

#include <deque>
#include <thread>

#include "io/loop/context_group.hpp"
#include "io/task/scope.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/http_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

io::task<> serve(io::tcp_stream* with, http_connection_account* account) {
    http_buffer buffer;
    for (;;) {
        while (!buffer.take_request()) {
            const io::io_result got = co_await with->read_some(buffer.room());
            if (got.error == io::condition::end_of_stream) co_return;
            verify_io(got.error, "reading");
            buffer.filled(got.bytes);
        }
        ++account->served;
        const io::io_result sent = co_await with->write_all(bytes_of(http_response));
        verify_io(sent.error, "writing");
    }
}

io::task<> ask(io::tcp_stream* with, http_connection_account* account) {
    http_buffer buffer;
    for (std::uint64_t at = account->client.now(); at != 0; at = account->client.lap(at)) {
        const io::io_result sent = co_await with->write_all(bytes_of(http_request));
        verify_io(sent.error, "writing");
        ++account->requested;
        while (!buffer.take_response()) {
            const io::io_result got = co_await with->read_some(buffer.room());
            verify_io(got.error, "reading");
            buffer.filled(got.bytes);
        }
        ++account->answered;
    }
    verify_io(with->shutdown_send(), "shutting down");
}

/// Makes a connection and lives on both of its ends. Everything stays on the context that runs this.
io::task<> converse(http_connection_account* account) {
    tcp_pair pair = co_await connect_tcp();
    io::task_scope both(co_await io::this_context());
    both.spawn(serve(&pair.server, account));
    both.spawn(ask(&pair.client, account));
    co_await both.join();
}

std::deque<http_connection_account> accounts_for(const timed_run& run, int connections) {
    std::deque<http_connection_account> accounts;
    for (int i = 0; i < connections; ++i) accounts.emplace_back(run);
    return accounts;
}

measurement on_own_contexts(const run_parameters& how, io::platform* kind, const http_shape& shape) {
    timed_run run(how.seconds);
    std::deque<http_connection_account> accounts = accounts_for(run, shape.connections);
    const auto work = [&](int thread) {
        io::context on{io::context_options(*kind)};
        for (int i = thread; i < shape.connections; i += shape.threads) {
            io::spawn(on, converse(&accounts[static_cast<std::size_t>(i)]));
        }
        on.run();
    };
    std::vector<std::thread> others;
    for (int i = 1; i < shape.threads; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& one : others) one.join();
    return http_result(run, accounts);
}

measurement on_one_group(const run_parameters& how, io::platform* kind, const http_shape& shape) {
    io::context_group group(static_cast<std::size_t>(shape.threads), io::context_options(*kind));
    timed_run run(how.seconds);
    std::deque<http_connection_account> accounts = accounts_for(run, shape.connections);
    // Connections stay where they begin, so they are dealt out, as `serve_balanced` does.
    for (std::size_t i = 0; i < accounts.size(); ++i) group.spawn_at(i % group.size(), converse(&accounts[i]));
    std::vector<std::thread> others;
    for (int i = 1; i < shape.threads; ++i) others.emplace_back([&] { group.run(); });
    group.run();
    for (std::thread& one : others) one.join();
    return http_result(run, accounts);
}

}  // namespace

void implement_http_corro(registry& into, std::span<const int> threads) {
    for (const corro_backend& by : corro_backends_and_asio()) {
        io::platform* const kind = by.kind;
        for (const http_shape& shape : http_shapes(threads)) {
            into.implement("http", shape.row(), by.subject, [kind, shape](const run_parameters& how) {
                return shape.shared ? on_one_group(how, kind, shape) : on_own_contexts(how, kind, shape);
            });
        }
    }
}

}  // namespace corro::lab
