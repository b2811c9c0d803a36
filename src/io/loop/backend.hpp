// SPDX-License-Identifier: Apache-2.0
// The seam: what a context needs from a kernel, real or simulated.
//
// A backend owns descriptors (sockets), starts operations on them, and reports their end by `context::complete`. It
// reads no clock. Tasks never see it; `tcp_stream` and its like stand on top. What a backend owes is written
// down in docs/design/io_backends.md. A descriptor that needs no kernel has another `device`: see io/shm.
//
// Threads: the context's thread, except `wake`.
// Cost:    one virtual call per operation started; none per resumption.
#pragma once

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>

#include "io/loop/detail/ready.hpp"
#include "io/loop/detail/timer_wheel.hpp"
#include "io/net/endpoint.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/task/stop.hpp"

namespace corro::io {

class context;
class device;
class file_operation;

namespace detail {
struct accept_pause;
}  // namespace detail

/// Where a socket may be bound or connected to.
using socket_address = std::variant<endpoint, unix_endpoint>;

/// What kind of socket to open.
enum class transport : std::uint8_t { tcp_ipv4, tcp_ipv6, udp_ipv4, udp_ipv6, unix_stream, unix_datagram };

/// Options that a backend understands; the value is a number whose meaning the option's own type states.
enum class socket_option : std::uint8_t {
    no_delay,
    keep_alive,
    keep_alive_idle_s,
    keep_alive_interval_s,
    keep_alive_count,
    user_timeout_ms,
    quick_acknowledge,
    linger_s,  // a negative value switches lingering off
    reuse_address,
    reuse_port,
    send_buffer_bytes,
    receive_buffer_bytes,
    ipv6_only,
    busy_poll_us,
    broadcast,
    multicast_loop,
    multicast_hops,
    multicast_interface,  // the index of the interface that multicast leaves by
    peer_user,            // only read: the user id of the process that connected a Unix socket
};

/// A socket as its device knows it. Each device derives its own.
struct descriptor {
    /// One of the context's backend.
    explicit descriptor(context& on) noexcept;
    /// One of another device of the context.
    descriptor(context& on, device& served_by) noexcept : owner(&on), by(&served_by) {}
    /// The context that it belongs to.
    context* owner;
    /// What carries out its operations.
    device* by;
    /// While a task pauses before it accepts again, because descriptors have run out: its pause. Otherwise null.
    detail::accept_pause* pause = nullptr;

 protected:
    ~descriptor() = default;
};

/// What a backend can be asked to do with a descriptor.
enum class operation_kind : std::uint8_t {
    receive,
    send,
    accept,
    connect,
    receive_batch,
    send_batch,
    wait_readable,
    send_file,  // a `file_send_operation`
};

/// One datagram: of a batch that is sent, or of the room for a batch that is received.
struct datagram {
    datagram() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions
    explicit datagram(std::span<std::byte> room) noexcept : data(room) {}
    /// One to be sent.
    datagram(std::span<const std::byte> contents, const socket_address& to) noexcept
        : data(const_cast<std::byte*>(contents.data()), contents.size()),  // NOLINT: sending never writes
          bytes(contents.size()),
          peer(to) {}

    std::span<std::byte> data;  // sending: what is sent; receiving: where it goes
    std::size_t bytes = 0;      // receiving: how much of `data` is filled
    socket_address peer;        // sending: where to, the unnamed address for the connected peer; receiving: where from
    bool truncated = false;     // receiving: the datagram was larger than `data`, its rest is lost
};

/// One operation in flight; a member of its awaiter, so of the frame that awaits it.
///
/// A backend reads what the upper half says, fills in the lower half, and leaves the rest alone. It completes the
/// operation either within `start` or by `context::complete`, exactly once.
class operation : public ready_item, public stop_callback {
 public:
    /// `status` of an operation that met the end of the stream; positive values are errno numbers.
    static constexpr int status_end_of_stream = -1;

    /// Not started yet.
    operation(operation_kind what, descriptor* on) noexcept : stop_callback(&on_stop), target(on), kind(what) {}
    ~operation();

    // What to do.
    /// What it acts on.
    descriptor* target;
    /// What is to be done.
    operation_kind kind;
    bool parked = false;            // the backend holds a pointer to this operation
    std::uint8_t backend_note = 0;  // for the backend
    /// The buffer: filled by a receive, read by a send.
    std::byte* data = nullptr;
    /// Bytes in the buffer.
    std::size_t size = 0;
    std::size_t minimum = 1;  // continue until this many bytes are transferred
    /// The address to connect to; null otherwise.
    const socket_address* address = nullptr;
    std::span<datagram> batch;  // `bytes` counts the datagrams of a batch that were sent or received

    // The result.
    /// 0, an error number of the system, or `status_end_of_stream`.
    int status = 0;
    /// The bytes moved; for batches the datagrams.
    std::size_t bytes = 0;
    /// The new connection. The code that takes it owns it.
    descriptor* accepted = nullptr;

 private:
    friend class context;
    static void on_stop(stop_callback& self) noexcept;
};

/// A send whose bytes come from an open file; `size` of them, from `offset` on. `status_end_of_stream` if the file ends
/// first.
class file_send_operation : public operation {
 public:
    /// Not started yet. @pre `on` sends files.
    file_send_operation(descriptor* on, int from, std::uint64_t at, std::size_t wanted) noexcept
        : operation(operation_kind::send_file, on), file(from), offset(at) {
        size = wanted;
        minimum = wanted;
    }

    int file;              ///< The number of the file.
    std::uint64_t offset;  ///< Of the first byte in the file.
};

/// What carries out the operations of open descriptors: the backend of their context, or memory that it shares with
/// other processes (`memory_device`).
class device {
 public:
    device() noexcept = default;
    device(const device&) = delete;
    device& operator=(const device&) = delete;
    virtual ~device() = default;

    // Set-up calls: done at once, never waiting, never throwing.
    /// Sets an option, in the option's own unit. @error what the system reports.
    [[nodiscard]] virtual std::error_code set_option(descriptor& on, socket_option option, int value) noexcept = 0;
    /// Reads an option, in the option's own unit. @error what the system reports.
    [[nodiscard]] virtual std::expected<int, std::error_code> get_option(descriptor& on,
                                                                         socket_option option) noexcept = 0;
    /// The address of the socket. @error what the system reports.
    [[nodiscard]] virtual std::expected<socket_address, std::error_code> local_address(descriptor& on) noexcept = 0;
    /// The address of the peer. @error not_connected and what else the system reports.
    [[nodiscard]] virtual std::expected<socket_address, std::error_code> remote_address(descriptor& on) noexcept = 0;
    /// Ends the sending direction. @error what the system reports.
    [[nodiscard]] virtual std::error_code shutdown_send(descriptor& on) noexcept = 0;

    /// Gives up the descriptor and hands out its file. @pre Nothing is parked on it (asserted). @return -1 where there
    /// is none; then nothing was given up.
    [[nodiscard]] virtual int detach(descriptor& on) noexcept = 0;

    /// Closes the descriptor. Operations parked on it complete with operation_canceled.
    virtual void close(descriptor& on) noexcept = 0;

    /// Starts an operation. @return true if it completed at once (status, bytes and accepted are set); false if it is
    /// parked and will be reported by `context::complete`.
    [[nodiscard]] virtual bool start(operation& what) noexcept = 0;

    /// Sends what the system takes now, without waiting. @return false: it takes nothing now, or the device has no
    /// such way; then nothing was sent, and a send that is started may wait.
    [[nodiscard]] virtual bool try_send(operation& /*what*/) noexcept { return false; }

    /// Whether the device carries out `operation_kind::send_file`. Without it, bytes of files are read and then sent.
    [[nodiscard]] virtual bool sends_files() const noexcept { return false; }

    /// Asks a parked operation to end. It completes as canceled or with the result that it reached meanwhile; either
    /// now or later, but without waiting for a peer.
    virtual void cancel(operation& what) noexcept = 0;

    /// Forgets a parked operation whose frame is destroyed. Only while the context is destroyed, after `tear_down`.
    virtual void abandon(operation& what) noexcept = 0;
};

/// Memory that other processes write. No kernel reports what they write: the loop looks.
class memory_device : public device {
 public:
    /// Completes the operations that can complete. @return whether there were any.
    [[nodiscard]] virtual bool look() noexcept = 0;
    /// The loop is about to sleep: from now on the other processes wake it. @return false: an operation has completed
    /// meanwhile, so the loop must not sleep.
    [[nodiscard]] virtual bool prepare_sleep() noexcept = 0;
};

/// A kernel, real or simulated, for one context.
class backend : public device {
 public:
    /// No backend's descriptor is larger than this (asserted where they are defined): with its handle, what an open
    /// socket costs beside the kernel's own memory.
    static constexpr std::size_t socket_bytes_max = 128;

    /// "epoll", "uring" and so on.
    [[nodiscard]] virtual std::string_view name() const noexcept = 0;

    /// Attaches the backend to its context. Called once, before anything else.
    virtual void attach(context& owner) noexcept { owner_ = &owner; }

    // Set-up calls: done at once, never waiting, never throwing.
    /// Opens a socket; `close` gives it back. @error what the system reports.
    [[nodiscard]] virtual std::expected<descriptor*, std::error_code> open(transport kind) noexcept = 0;
    /// Binds to `address`. @error address_in_use and what else the system reports.
    [[nodiscard]] virtual std::error_code bind(descriptor& on, const socket_address& address) noexcept = 0;
    /// Starts to take connections, of which `backlog` may wait. @error what the system reports.
    [[nodiscard]] virtual std::error_code listen(descriptor& on, int backlog) noexcept = 0;
    /// Two sockets that are connected to each other; `kind` is unix_stream or unix_datagram.
    [[nodiscard]] virtual std::expected<std::pair<descriptor*, descriptor*>, std::error_code> open_pair(
        transport kind) noexcept = 0;
    /// Joins or leaves a multicast group on the interface with this index (0: the system's choice).
    [[nodiscard]] virtual std::error_code set_membership(descriptor& on, const endpoint& group, std::uint32_t interface,
                                                         bool joined) noexcept = 0;
    /// Takes over a connected or bound file of the operating system. @error not_supported where there is none.
    [[nodiscard]] virtual std::expected<descriptor*, std::error_code> adopt(int file) noexcept = 0;
    /// Starts a call on a file, to be reported by `file_operation::finished`, from within `wait` or `dispatch_one`.
    /// @return false if this backend has no way of its own for it: then a thread does it.
    [[nodiscard]] virtual bool start_file(file_operation&) noexcept { return false; }

    /// Waits up to `timeout` (zero: not at all; negative: without limit) for events, and handles the first of them.
    virtual void wait(std::chrono::nanoseconds timeout) noexcept = 0;

    /// Handles one more of the events that `wait` collected. @pre `collected_count() != 0`.
    virtual void dispatch_one() noexcept = 0;

    /// Ends a running `wait`, or the next one that would block. Any thread, and signal handlers.
    virtual void wake() noexcept = 0;

    /// Ensures that nothing writes into the memory of parked operations any more. Called once, before frames are
    /// destroyed.
    virtual void tear_down() noexcept = 0;

    /// The number of collected events that wait for `dispatch_one`.
    [[nodiscard]] std::size_t collected_count() const noexcept { return collected_count_; }
    /// The number of parked operations.
    [[nodiscard]] std::size_t parked_count() const noexcept { return parked_count_; }

 protected:
    [[nodiscard]] context& owner() const noexcept { return *owner_; }

    std::size_t collected_count_ = 0;
    std::size_t parked_count_ = 0;

 private:
    context* owner_ = nullptr;
};

}  // namespace corro::io
