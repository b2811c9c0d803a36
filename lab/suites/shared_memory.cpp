// SPDX-License-Identifier: Apache-2.0
// Suite `sockets`, rows of shared memory: beside the same shapes over TCP and Unix sockets, with ends that poll.
//
// In the other rows of the suite both ends share a thread, so that a system call is what a transport costs. Here each
// end has a thread and a context of its own that polls, as a venue and its client on one machine.

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "io/net/tcp.hpp"
#include "io/net/unix_socket.hpp"
#include "io/shm/shm_broadcast.hpp"
#include "io/shm/shm_stream.hpp"
#include "io/task/block_on.hpp"
#include "lab/suites/corro_backends.hpp"
#include "lab/suites/corro_sockets.hpp"
#include "lab/suites/socket_shapes.hpp"
#include "lab/suites/suites.hpp"

namespace corro::lab {
namespace {

constexpr std::array<std::size_t, 2> message_sizes{64, 1024};
constexpr std::size_t packet_bytes = 48;
constexpr std::size_t packets_per_write = 64;
constexpr std::size_t broadcast_bytes = std::size_t{16} << 20U;

io::context_options polling(io::platform& kind) {
    io::context_options options(kind);
    options.busy_poll = std::chrono::seconds(1);
    return options;
}

io::unix_endpoint local_name() {
    static int count = 0;
    return *io::unix_endpoint::parse(fmt::format("@corro-lab-{}-{}", ::getpid(), ++count));
}

template <class Acceptor>
io::task<> answer(Acceptor* from, std::size_t bytes) {
    auto stream = co_await from->accept();
    verify(stream.has_value(), "accepting failed");
    from->close();  // on the thread that listened
    if constexpr (requires { stream->remote_endpoint(); })
        verify_io(stream->set_option(io::no_delay(true)), "no_delay");
    co_await echo(&*stream, bytes);
}

template <class Stream, class Address>
io::task<> ask(io::context* on, Address at, std::size_t bytes, timed_run* run) {
    auto stream = co_await Stream::connect(*on, at);
    verify(stream.has_value(), "connecting failed");
    if constexpr (requires { stream->remote_endpoint(); })
        verify_io(stream->set_option(io::no_delay(true)), "no_delay");
    ping_message message(bytes);
    for (std::uint64_t begun = run->now(); begun != 0; begun = run->lap(begun)) {
        message.next();
        const io::io_result sent = co_await stream->write_all(message.sent);
        verify_io(sent.error, "writing");
        const io::io_result got = co_await stream->read_exact(message.received);
        verify_io(got.error, "reading");
        verify(message.came_back(), "another message came back");
    }
    verify_io(stream->shutdown_send(), "shutting down");
}

template <class Acceptor, class Stream, class Address>
measurement polling_ping_pong(const run_parameters& how, io::platform* kind, Address at, std::size_t bytes) {
    io::context there{polling(*kind)};
    auto acceptor = Acceptor::open(there, at);
    verify(acceptor.has_value(), "listening failed");
    if constexpr (requires { acceptor->local_endpoint(); }) at = *acceptor->local_endpoint();
    std::thread server([&] { io::block_on(there, answer(&*acceptor, bytes)); });
    io::context here{polling(*kind)};
    timed_run run(how.seconds);
    io::block_on(here, ask<Stream>(&here, at, bytes, &run));
    server.join();
    return rate_with_latencies(run);
}

measurement polling_ping_pong_over(wire over, const run_parameters& how, io::platform* kind, std::size_t bytes) {
    if (over == wire::tcp) {
        return polling_ping_pong<io::tcp_acceptor, io::tcp_stream>(how, kind, io::endpoint::loopback(0), bytes);
    }
    if (over == wire::unix_stream) {
        return polling_ping_pong<io::unix_acceptor, io::unix_stream>(how, kind, local_name(), bytes);
    }
    return polling_ping_pong<io::shm_acceptor, io::shm_stream>(how, kind, local_name(), bytes);
}

/// Packets to one reader that polls. The writer keeps within half of the ring, as a feed whose reader keeps up.
measurement broadcast(const run_parameters& how, io::platform* kind) {
    auto made = io::shm_broadcast::make(broadcast_bytes, 0);
    verify(made.has_value(), "no memory for the broadcast");
    const io::unix_endpoint at = local_name();
    io::context there{polling(*kind)};
    io::shm_options options;
    options.broadcast = &*made;
    auto acceptor = io::shm_acceptor::open(there, at, options);
    verify(acceptor.has_value(), "listening failed");
    timed_run run(how.seconds);
    std::atomic<bool> is_over{false};
    std::atomic<std::uint64_t> bytes_read{0};
    std::thread reader([&] {
        io::context here{polling(*kind)};
        const auto body = [](io::context* on, io::unix_endpoint to, timed_run* timed, std::atomic<bool>* over,
                             std::atomic<std::uint64_t>* count) -> io::task<> {
            auto stream = co_await io::shm_stream::connect(*on, to);
            verify(stream.has_value(), "connecting failed");
            std::vector<std::byte> into(std::size_t{64} * 1024);
            std::uint64_t total = 0;
            for (std::uint64_t begun = timed->now(); begun != 0;) {
                const io::io_result got = co_await stream->read_some(into);
                verify_io(got.error, "reading the broadcast");
                verify(into[0] == stream_filler && into[got.bytes - 1] == stream_filler, "other bytes");
                total += got.bytes;
                count->store(total, std::memory_order_relaxed);
                begun = timed->count(begun, got.bytes);
            }
            over->store(true);
        };
        io::block_on(here, body(&here, at, &run, &is_over, &bytes_read));
    });
    auto stream = io::block_on(there, acceptor->accept());
    verify(stream.has_value(), "accepting failed");
    stream->follow(0);
    const std::vector<std::byte> packets(packet_bytes * packets_per_write, stream_filler);
    while (!is_over.load(std::memory_order_relaxed)) {
        const std::uint64_t lag = made->position() - bytes_read.load(std::memory_order_relaxed);
        if (lag > broadcast_bytes / 2) continue;
        made->write(packets);
        stream->wake();
    }
    reader.join();
    measurement result = rate_of(run);
    for (double& each : result.values) each /= static_cast<double>(packet_bytes);
    return result;
}

std::string polling_row(wire over, std::size_t bytes) {
    return fmt::format("{}_polling_ping_pong_{}", name_of(over), bytes);
}

constexpr const char* broadcast_row = "shm_broadcast_48";

}  // namespace

void declare_shared_memory(registry& into) {
    constexpr int threads = 2;
    for (const wire over : {wire::tcp, wire::unix_stream, wire::shared_memory}) {
        for (const std::size_t bytes : message_sizes) {
            const std::string does = fmt::format(
                "a pair over {}, each end on a thread of its own that polls, {} bytes to and fro; needs two processors",
                name_of(over), bytes);
            into.declare("sockets", {{polling_row(over, bytes), "/s", better::higher, does}}, threads);
        }
    }
    into.declare("sockets",
                 {{broadcast_row, "/s", better::higher,
                   "packets of 48 bytes, 64 in a write, to one reader on a thread of its own that polls"}},
                 threads);
}

void implement_shared_memory(registry& into) {
    for (const corro_backend& by : corro_backends_and_asio()) {
        io::platform* const kind = by.kind;
        for (const wire over : {wire::tcp, wire::unix_stream, wire::shared_memory}) {
            for (const std::size_t bytes : message_sizes) {
                into.implement("sockets", polling_row(over, bytes), by.subject,
                               [kind, over, bytes](const run_parameters& how) {
                                   return polling_ping_pong_over(over, how, kind, bytes);
                               });
            }
        }
        into.implement("sockets", broadcast_row, by.subject,
                       [kind](const run_parameters& how) { return broadcast(how, kind); });
    }
}

}  // namespace corro::lab
