// SPDX-License-Identifier: Apache-2.0
// Suite `http`, by Asio with callbacks and with coroutines, on one context shared by all threads and on one each.

#include <deque>
#include <memory>
#include <thread>

#include "lab/suites/asio_sockets.hpp"
#include "lab/suites/http_shapes.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

namespace coroutines {

awaitable<> serve(tcp_socket& with, http_connection_account& account) {
    http_buffer buffer;
    for (;;) {
        while (!buffer.take_request()) {
            const auto [error, bytes] = co_await with.async_read_some(into_buffer(buffer.room()), as_results);
            if (is_end(error)) co_return;
            verify_ok(error, "reading");
            buffer.filled(bytes);
        }
        ++account.served;
        const auto [error, bytes] = co_await net::async_write(with, from_buffer(bytes_of(http_response)), as_results);
        verify_ok(error, "writing");
    }
}

awaitable<> ask(tcp_socket& with, http_connection_account& account) {
    http_buffer buffer;
    for (std::uint64_t at = account.client.now(); at != 0; at = account.client.lap(at)) {
        const auto [error, bytes] = co_await net::async_write(with, from_buffer(bytes_of(http_request)), as_results);
        verify_ok(error, "writing");
        ++account.requested;
        while (!buffer.take_response()) {
            const auto [read_error, read] = co_await with.async_read_some(into_buffer(buffer.room()), as_results);
            verify_ok(read_error, "reading");
            buffer.filled(read);
        }
        ++account.answered;
    }
    with.shutdown(tcp_socket::shutdown_send);
}

struct connection {
    connection(asio_pair<tcp_socket>& pair, http_connection_account& account) {
        net::co_spawn(pair.server.get_executor(), serve(pair.server, account), rethrow);
        net::co_spawn(pair.client.get_executor(), ask(pair.client, account), rethrow);
    }
};

}  // namespace coroutines

namespace callbacks {

class server {
 public:
    server(tcp_socket& with, http_connection_account& account) : with_(with), account_(account) {}

    void start() {
        if (!buffer_.take_request()) {
            with_.async_read_some(into_buffer(buffer_.room()), [this](const error_code& error, std::size_t bytes) {
                if (is_end(error)) return;
                verify_ok(error, "reading");
                buffer_.filled(bytes);
                start();
            });
            return;
        }
        ++account_.served;
        net::async_write(with_, from_buffer(bytes_of(http_response)), [this](const error_code& error, std::size_t) {
            verify_ok(error, "writing");
            start();
        });
    }

 private:
    tcp_socket& with_;
    http_connection_account& account_;
    http_buffer buffer_;
};

class client {
 public:
    client(tcp_socket& with, http_connection_account& account)
        : with_(with), account_(account), at_(account.client.now()) {}

    void start() {
        net::async_write(with_, from_buffer(bytes_of(http_request)), [this](const error_code& error, std::size_t) {
            verify_ok(error, "writing");
            ++account_.requested;
            read();
        });
    }

 private:
    void read() {
        with_.async_read_some(into_buffer(buffer_.room()), [this](const error_code& error, std::size_t bytes) {
            verify_ok(error, "reading");
            buffer_.filled(bytes);
            if (!buffer_.take_response()) {
                read();
                return;
            }
            ++account_.answered;
            at_ = account_.client.lap(at_);
            if (at_ != 0) {
                start();
            } else {
                with_.shutdown(tcp_socket::shutdown_send);
            }
        });
    }

    tcp_socket& with_;
    http_connection_account& account_;
    std::uint64_t at_;
    http_buffer buffer_;
};

struct connection {
    connection(asio_pair<tcp_socket>& pair, http_connection_account& account)
        : serving(pair.server, account), asking(pair.client, account) {
        serving.start();
        asking.start();
    }
    server serving;
    client asking;
};

}  // namespace callbacks

/// A context with some of the connections, and how many threads run it.
template <class Connection>
struct share {
    share(int hint, int connections_count, int threads)
        : on(hint), pairs(connected_pairs<tcp_socket>(on, connections_count)), threads_count(threads) {}

    net::io_context on;
    std::deque<asio_pair<tcp_socket>> pairs;
    std::deque<http_connection_account> accounts;
    std::deque<Connection> connections;
    int threads_count;
};

template <class Connection>
measurement requests(const run_parameters& how, const http_shape& shape) {
    std::deque<share<Connection>> shares;
    if (shape.shared) {
        shares.emplace_back(shape.threads, shape.connections, shape.threads);
    } else {
        for (int i = 0; i < shape.threads; ++i) shares.emplace_back(alone, shape.connections_of(i), 1);
    }
    timed_run run(how.seconds);
    for (auto& mine : shares) {
        for (auto& pair : mine.pairs) mine.connections.emplace_back(pair, mine.accounts.emplace_back(run));
    }
    std::vector<std::thread> others;
    for (auto& mine : shares) {
        for (int i = &mine == &shares.front() ? 1 : 0; i < mine.threads_count; ++i) {
            others.emplace_back([&mine] { mine.on.run(); });
        }
    }
    shares.front().on.run();
    for (std::thread& one : others) one.join();
    measurement made;
    for (auto& mine : shares) made = http_result(run, mine.accounts);
    return made;
}

}  // namespace

void implement_http(registry& into, std::span<const int> threads) {
    for (const http_shape& shape : http_shapes(threads)) {
        into.implement("http", shape.row(), subject("callbacks"),
                       [shape](const run_parameters& how) { return requests<callbacks::connection>(how, shape); });
        into.implement("http", shape.row(), subject("coroutines"),
                       [shape](const run_parameters& how) { return requests<coroutines::connection>(how, shape); });
    }
}

}  // namespace corro::lab::CORRO_LAB_ASIO
