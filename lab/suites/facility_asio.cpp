// Suite `facility`, by Asio with callbacks and with coroutines. As its experts write it: one thread and no locks, a
// write that fits into the socket's buffer is made at once, without a pass through the scheduler, and handlers live in
// memory of their own.

#include <array>

#include "lab/facility/station.hpp"
#include "lab/suites/asio_sockets.hpp"

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

/// Memory for the one handler that is under way in one direction.
class handler_memory {
 public:
    void* allocate(std::size_t size) {
        if (used_ || size > bytes_.size()) return ::operator new(size);
        used_ = true;
        return bytes_.data();
    }
    void deallocate(void* what) noexcept {
        if (what == bytes_.data()) {
            used_ = false;
        } else {
            ::operator delete(what);
        }
    }

 private:
    alignas(std::max_align_t) std::array<std::byte, 512> bytes_;
    bool used_ = false;
};

template <class T>
struct handler_allocator {
    using value_type = T;
    explicit handler_allocator(handler_memory& m) noexcept : memory(&m) {}
    template <class U>
    handler_allocator(const handler_allocator<U>& other) noexcept : memory(other.memory) {}  // NOLINT: converts
    T* allocate(std::size_t n) { return static_cast<T*>(memory->allocate(n * sizeof(T))); }
    void deallocate(T* what, std::size_t) noexcept { memory->deallocate(what); }
    friend bool operator==(const handler_allocator& a, const handler_allocator& b) noexcept {
        return a.memory == b.memory;
    }
    handler_memory* memory;
};

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

}  // namespace

void implement_facility(registry& into) {
    lab::implement_facility(into, subject("callbacks"), [](station& through, int input, int output) {
        net::io_context on(alone);
        callback_mover mover(on, through, input, output);
        mover.read();
        on.run();
    });
    lab::implement_facility(into, subject("coroutines"), [](station& through, int input, int output) {
        net::io_context on(alone);
        net::co_spawn(on.get_executor(), move_bytes(through, adopted(on, input), adopted(on, output)), rethrow);
        on.run();
    });
}

}  // namespace corro::lab::CORRO_LAB_ASIO
