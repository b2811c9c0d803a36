// SPDX-License-Identifier: Apache-2.0
// Suite `facility`, by Asio with callbacks and with coroutines. As its experts write it: one thread and no locks, a
// write that fits into the socket's buffer is made at once, without a pass through the scheduler, and handlers live in
// memory of their own.

#include "lab/facility/station.hpp"
#include "lab/suites/asio_handlers.hpp"

namespace corro::lab::CORRO_LAB_ASIO {
namespace {

tcp_socket adopted(net::io_context& on, int file) {
    tcp_socket made(on.get_executor());
    made.assign(net::ip::tcp::v4(), file);
    made.non_blocking(true);
    return made;
}

/// Writes what the kernel takes now. @return Whether something is left.
bool write_now(tcp_socket& to, station& through) {
    while (!through.pending().empty()) {
        error_code error;
        const std::size_t written = to.write_some(from_buffer(through.pending()), error);
        if (error == net::error::would_block || error == net::error::try_again) return true;
        verify_ok(error, "writing");
        through.sent(written);
    }
    return false;
}

class callback_mover {
 public:
    callback_mover(net::io_context& on, station& through, int input, int output)
        : through_(through), from_(adopted(on, input)), to_(adopted(on, output)) {}

    void read() {
        from_.async_read_some(
            into_buffer(through_.room()),
            net::bind_allocator(handler_allocator<void>(reading_), [this](const error_code& error, std::size_t bytes) {
                if (is_end(error)) return;
                verify_ok(error, "reading");
                through_.received(bytes);
                write();
            }));
    }

 private:
    void write() {
        if (!write_now(to_, through_)) return read();
        net::async_write(
            to_, from_buffer(through_.pending()),
            net::bind_allocator(handler_allocator<void>(writing_), [this](const error_code& error, std::size_t bytes) {
                verify_ok(error, "writing");
                through_.sent(bytes);
                read();
            }));
    }

    station& through_;
    tcp_socket from_;
    tcp_socket to_;
    handler_memory reading_;
    handler_memory writing_;
};

awaitable<> move_bytes(station& through, tcp_socket from, tcp_socket to) {
    for (;;) {
        const auto [error, bytes] = co_await from.async_read_some(into_buffer(through.room()), as_results);
        if (is_end(error)) co_return;
        verify_ok(error, "reading");
        through.received(bytes);
        if (!write_now(to, through)) continue;
        const auto [write_error, written] = co_await net::async_write(to, from_buffer(through.pending()), as_results);
        verify_ok(write_error, "writing");
        through.sent(written);
    }
}

void run(net::io_context& on, idling idle) {
    if (idle == idling::sleeps) {
        on.run();
        return;
    }
    while (!on.stopped()) on.poll();
}

}  // namespace

void implement_facility(registry& into) {
    lab::implement_facility(into, subject("callbacks"), [](station& through, int input, int output, idling idle) {
        net::io_context on(alone);
        callback_mover mover(on, through, input, output);
        mover.read();
        run(on, idle);
    });
    lab::implement_facility(into, subject("coroutines"), [](station& through, int input, int output, idling idle) {
        net::io_context on(alone);
        net::co_spawn(on.get_executor(), move_bytes(through, adopted(on, input), adopted(on, output)), rethrow);
        run(on, idle);
    });
}

}  // namespace corro::lab::CORRO_LAB_ASIO
