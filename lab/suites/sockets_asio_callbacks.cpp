// SPDX-License-Identifier: Apache-2.0
// Suite `sockets`, by Asio with callbacks.

#include <deque>

#include "lab/suites/asio_sockets.hpp"
#include "lab/suites/socket_shapes.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

template <class Socket>
class writer {
 public:
    writer(Socket& to, std::size_t buffer_bytes, const timed_run& run, stream_account& account)
        : to_(to), buffer_(buffer_bytes, stream_filler), run_(run), account_(account) {}

    void start() {
        if (!run_.goes_on(run_.now())) {
            to_.shutdown(Socket::shutdown_send);
            return;
        }
        to_.async_write_some(from_buffer(buffer_), [this](const error_code& error, std::size_t bytes) {
            verify_ok(error, "writing");
            account_.written += bytes;
            start();
        });
    }

 private:
    Socket& to_;
    std::vector<std::byte> buffer_;
    const timed_run& run_;
    stream_account& account_;
};

template <class Socket>
class reader {
 public:
    reader(Socket& from, std::size_t buffer_bytes, timed_run& run, stream_account& account)
        : from_(from), buffer_(buffer_bytes), run_(run), account_(account), at_(run.now()) {}

    void start() {
        from_.async_read_some(into_buffer(buffer_), [this](const error_code& error, std::size_t bytes) {
            if (is_end(error)) return;
            verify_ok(error, "reading");
            verify(buffer_[0] == stream_filler && buffer_[bytes - 1] == stream_filler, "other bytes than were written");
            account_.read += bytes;
            const std::uint64_t next = run_.count(at_, bytes);
            at_ = next == 0 ? run_.now() : next;
            start();
        });
    }

 private:
    Socket& from_;
    std::vector<std::byte> buffer_;
    timed_run& run_;
    stream_account& account_;
    std::uint64_t at_;
};

template <class Socket>
measurement throughput(const run_parameters& how, const throughput_shape& shape) {
    net::io_context on(alone);
    auto pairs = connected_pairs<Socket>(on, 1);
    auto& [client, server] = pairs.front();
    timed_run run(how.seconds);
    stream_account there;
    stream_account back;
    writer<Socket> write_there(client, shape.buffer_bytes, run, there);
    reader<Socket> read_there(server, shape.buffer_bytes, run, there);
    writer<Socket> write_back(server, shape.buffer_bytes, run, back);
    reader<Socket> read_back(client, shape.buffer_bytes, run, back);
    write_there.start();
    read_there.start();
    if (shape.two_way) {
        write_back.start();
        read_back.start();
    }
    on.run();
    verify_stream(there);
    verify_stream(back);
    return rate_of(run);
}

template <class Socket>
class echo {
 public:
    echo(Socket& with, std::size_t bytes_max) : with_(with), buffer_(bytes_max) {}

    void start() {
        with_.async_read_some(into_buffer(buffer_), [this](const error_code& error, std::size_t bytes) {
            if (is_end(error)) return;
            verify_ok(error, "reading");
            net::async_write(with_, from_buffer(std::span(buffer_).first(bytes)),
                             [this](const error_code& write_error, std::size_t) {
                                 verify_ok(write_error, "writing");
                                 start();
                             });
        });
    }

 private:
    Socket& with_;
    std::vector<std::byte> buffer_;
};

/// The client of a connection, with or without a timeout around its reads.
template <class Socket, bool with_timeout>
class client {
 public:
    client(Socket& with, std::size_t bytes, timed_run& run)
        : with_(with), message_(bytes), run_(run), at_(run.now()), limit_(with.get_executor()) {}

    void start() {
        message_.next();
        net::async_write(with_, from_buffer(message_.sent), [this](const error_code& error, std::size_t) {
            verify_ok(error, "writing");
            read();
        });
    }

 private:
    void read() {
        if constexpr (with_timeout) {
            limit_.expires_after(read_timeout);
            limit_.async_wait([this](const error_code& outcome) {
                if (!outcome) with_.cancel();
            });
        }
        net::async_read(with_, into_buffer(message_.received), [this](const error_code& error, std::size_t) {
            if constexpr (with_timeout) limit_.cancel();
            verify_ok(error, "reading");
            verify(message_.came_back(), "another message came back");
            at_ = run_.lap(at_);
            if (at_ != 0) {
                start();
            } else {
                with_.shutdown(Socket::shutdown_send);
            }
        });
    }

    Socket& with_;
    ping_message message_;
    timed_run& run_;
    std::uint64_t at_;
    timer limit_;
};

/// Both ends of a connection in one chain of callbacks.
template <class Socket>
class both_ends {
 public:
    both_ends(asio_pair<Socket>& both, std::size_t bytes, timed_run& run)
        : both_(both), message_(bytes), run_(run), at_(run.now()) {}

    void start() {
        message_.next();
        net::async_write(both_.client, from_buffer(message_.sent), [this](const error_code& error, std::size_t) {
            verify_ok(error, "writing");
            serve();
        });
    }

 private:
    void serve() {
        net::async_read(both_.server, into_buffer(message_.received), [this](const error_code& error, std::size_t) {
            verify_ok(error, "reading");
            answer();
        });
    }
    void answer() {
        net::async_write(both_.server, from_buffer(message_.received), [this](const error_code& error, std::size_t) {
            verify_ok(error, "writing");
            receive();
        });
    }
    void receive() {
        net::async_read(both_.client, into_buffer(message_.received), [this](const error_code& error, std::size_t) {
            verify_ok(error, "reading");
            verify(message_.came_back(), "another message came back");
            at_ = run_.lap(at_);
            if (at_ != 0) start();
        });
    }

    asio_pair<Socket>& both_;
    ping_message message_;
    timed_run& run_;
    std::uint64_t at_;
};

template <class Socket>
measurement ping_pong(const run_parameters& how, const ping_pong_shape& shape) {
    net::io_context on(alone);
    auto pairs = connected_pairs<Socket>(on, shape.pairs);
    ping_pong_run run(how.seconds, shape);
    std::deque<both_ends<Socket>> chains;
    std::deque<echo<Socket>> echoes;
    std::deque<client<Socket, false>> clients;
    std::deque<client<Socket, true>> clients_with_timeout;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (shape.alone) {
            chains.emplace_back(pairs[i], shape.message_bytes, run.of(i)).start();
            continue;
        }
        echoes.emplace_back(pairs[i].server, shape.message_bytes).start();
        if (shape.with_timeout) {
            clients_with_timeout.emplace_back(pairs[i].client, shape.message_bytes, run.of(i)).start();
        } else {
            clients.emplace_back(pairs[i].client, shape.message_bytes, run.of(i)).start();
        }
    }
    on.run();
    return run.result();
}

}  // namespace

void implement_sockets_callbacks(registry& into) {
    for (const throughput_shape& shape : throughput_shapes()) {
        into.implement("sockets", shape.row(), subject("callbacks"), [shape](const run_parameters& how) {
            return shape.over == wire::tcp ? throughput<tcp_socket>(how, shape) : throughput<unix_socket>(how, shape);
        });
    }
    for (const ping_pong_shape& shape : ping_pong_shapes()) {
        into.implement("sockets", shape.row(), subject("callbacks"), [shape](const run_parameters& how) {
            return shape.over == wire::tcp ? ping_pong<tcp_socket>(how, shape) : ping_pong<unix_socket>(how, shape);
        });
    }
}

}  // namespace corro::lab::CORRO_LAB_ASIO
