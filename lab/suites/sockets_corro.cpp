// SPDX-License-Identifier: Apache-2.0
// Suite `sockets`, by Corro.

#include <span>

#include "io/task/scope.hpp"
#include "io/task/with_timeout.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/socket_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

io::task<> write_on_and_on(io::stream_socket* to, std::size_t buffer_bytes, const timed_run* run,
                           stream_account* account) {
    const std::vector<std::byte> buffer(buffer_bytes, stream_filler);
    while (run->goes_on(run->now())) {
        const io::io_result wrote = co_await to->write_some(buffer);
        verify_io(wrote.error, "writing");
        account->written += wrote.bytes;
    }
    verify_io(to->shutdown_send(), "shutting down");
}

io::task<> read_on_and_on(io::stream_socket* from, std::size_t buffer_bytes, timed_run* run, stream_account* account) {
    std::vector<std::byte> buffer(buffer_bytes);
    std::uint64_t at = run->now();
    for (;;) {
        const io::io_result got = co_await from->read_some(buffer);
        if (got.error == io::condition::end_of_stream) co_return;
        verify_io(got.error, "reading");
        verify(buffer[0] == stream_filler && buffer[got.bytes - 1] == stream_filler, "other bytes than were written");
        account->read += got.bytes;
        const std::uint64_t next = run->count(at, got.bytes);
        at = next == 0 ? run->now() : next;
    }
}

template <class Stream>
measurement throughput(const run_parameters& how, io::platform* kind, const throughput_shape& shape) {
    io::context on{io::context_options(*kind)};
    auto pairs = connected_pairs<Stream>(on, 1);
    corro_pair<Stream>& pair = pairs.front();
    timed_run run(how.seconds);
    stream_account there;
    stream_account back;
    io::spawn(on, write_on_and_on(&pair.client, shape.buffer_bytes, &run, &there));
    io::spawn(on, read_on_and_on(&pair.server, shape.buffer_bytes, &run, &there));
    if (shape.two_way) {
        io::spawn(on, write_on_and_on(&pair.server, shape.buffer_bytes, &run, &back));
        io::spawn(on, read_on_and_on(&pair.client, shape.buffer_bytes, &run, &back));
    }
    on.run();
    verify_stream(there);
    verify_stream(back);
    return rate_of(run);
}

io::task<> ping(io::stream_socket* with, std::size_t bytes, timed_run* run) {
    ping_message message(bytes);
    for (std::uint64_t at = run->now(); at != 0; at = run->lap(at)) {
        message.next();
        const io::io_result sent = co_await with->write_all(message.sent);
        verify_io(sent.error, "writing");
        const io::io_result got = co_await with->read_exact(message.received);
        verify_io(got.error, "reading");
        verify(message.came_back(), "another message came back");
    }
    verify_io(with->shutdown_send(), "shutting down");
}

io::task<> ping_with_timeouts(io::stream_socket* with, std::size_t bytes, timed_run* run) {
    ping_message message(bytes);
    for (std::uint64_t at = run->now(); at != 0; at = run->lap(at)) {
        message.next();
        const io::io_result sent = co_await with->write_all(message.sent);
        verify_io(sent.error, "writing");
        const auto got = co_await io::with_timeout(read_timeout, with->read_exact(message.received));
        verify(got.has_value(), "a read timed out");
        verify_io(got->error, "reading");
        verify(message.came_back(), "another message came back");
    }
    verify_io(with->shutdown_send(), "shutting down");
}

template <class Stream>
io::task<> ping_and_pong(corro_pair<Stream>* both, std::size_t bytes, timed_run* run) {
    ping_message message(bytes);
    for (std::uint64_t at = run->now(); at != 0; at = run->lap(at)) {
        message.next();
        io::io_result done = co_await both->client.write_all(message.sent);
        verify_io(done.error, "writing");
        done = co_await both->server.read_exact(message.received);
        verify_io(done.error, "reading");
        done = co_await both->server.write_all(message.received);
        verify_io(done.error, "writing");
        done = co_await both->client.read_exact(message.received);
        verify_io(done.error, "reading");
        verify(message.came_back(), "another message came back");
    }
}

template <class Stream>
measurement ping_pong(const run_parameters& how, io::platform* kind, const ping_pong_shape& shape) {
    io::context on{io::context_options(*kind)};
    auto pairs = connected_pairs<Stream>(on, shape.pairs);
    ping_pong_run run(how.seconds, shape);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (shape.alone) {
            io::spawn(on, ping_and_pong(&pairs[i], shape.message_bytes, &run.of(i)));
            continue;
        }
        io::spawn(on, echo(&pairs[i].server, shape.message_bytes));
        io::spawn(on, shape.with_timeout ? ping_with_timeouts(&pairs[i].client, shape.message_bytes, &run.of(i))
                                         : ping(&pairs[i].client, shape.message_bytes, &run.of(i)));
    }
    on.run();
    return run.result();
}

}  // namespace

void implement_sockets_corro(registry& into) {
    for (const corro_backend& by : corro_backends_and_asio()) {
        io::platform* const kind = by.kind;
        for (const throughput_shape& shape : throughput_shapes()) {
            into.implement("sockets", shape.row(), by.subject, [kind, shape](const run_parameters& how) {
                return shape.over == wire::tcp ? throughput<io::tcp_stream>(how, kind, shape)
                                               : throughput<io::unix_stream>(how, kind, shape);
            });
        }
        for (const ping_pong_shape& shape : ping_pong_shapes()) {
            into.implement("sockets", shape.row(), by.subject, [kind, shape](const run_parameters& how) {
                return shape.over == wire::tcp ? ping_pong<io::tcp_stream>(how, kind, shape)
                                               : ping_pong<io::unix_stream>(how, kind, shape);
            });
        }
    }
}

}  // namespace corro::lab
