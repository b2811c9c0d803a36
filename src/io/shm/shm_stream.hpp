// SPDX-License-Identifier: Apache-2.0
// Streams without a kernel: bytes go through memory that two processes of one machine share.
//
//     auto acceptor = io::shm_acceptor::open(ctx, *io::unix_endpoint::parse("/run/corro/orders"));
//     auto stream = co_await io::shm_stream::connect(ctx, *io::unix_endpoint::parse("/run/corro/orders"));
//     co_await stream->write_all(bytes);                       // as on any stream
//
// A client connects to a Unix socket, whose permissions and `peer_user` are those of any Unix socket, and is given the
// file of anonymous memory: a ring of bytes in each direction. From then on the socket only wakes a side that sleeps,
// and ends when a process dies. While a loop runs, or polls (`context_options::busy_poll`), it looks at the rings
// without a system call, and nothing is rung.
//
// The other side is not trusted: whatever it writes into the memory, at worst the stream fails with protocol_error.
// Available on contexts of the kernel's platforms; a simulated one reports operation_not_supported.
//
// Threads: one context.
// Limits:  shm::ring_bytes_min and ring_bytes_max; shm::stream_device::polled_max.
// Cost:    a stream is one pointer and its descriptor; its memory is used page by page. Reads and writes copy, and make
//          no system call while both sides are awake.
// Source:  docs/spec/shared_memory.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <system_error>

#include "io/net/socket.hpp"
#include "io/net/unix_endpoint.hpp"
#include "io/net/unix_socket.hpp"
#include "io/task/task.hpp"

namespace corro::io {

class shm_broadcast;

/// A connection through shared memory.
class shm_stream : public stream_socket {
 public:
    /// A closed stream.
    shm_stream() noexcept = default;

    /// Connects to an acceptor at `peer`.
    ///
    /// @error   As unix_stream::connect; protocol_error if what the peer gives is not what it must be;
    ///          operation_not_supported on a simulated platform.
    /// @suspend Until the peer has sent the memory.
    /// @cancel  Observes the task's stop token.
    [[nodiscard]] static task<std::expected<shm_stream, std::error_code>> connect(context& on, unix_endpoint peer) {
        return connect_on(&on, peer);
    }

    /// For a server whose acceptor hands out a broadcast: the client's reads continue there at `from`, behind what was
    /// written on this stream so far, and come back to this stream when the broadcast has ended. Once. @pre Open.
    void follow(std::uint64_t from) noexcept;
    /// After a write to the broadcast: rings if the client sleeps. @pre Open.
    void wake() noexcept;

 private:
    friend class shm_acceptor;
    explicit shm_stream(descriptor& owned) noexcept : stream_socket(owned) {}
    static task<std::expected<shm_stream, std::error_code>> connect_on(context* on, unix_endpoint peer);
};

/// Options of an acceptor.
struct shm_options {
    shm_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// The capacity of the ring to the server, a power of two (asserted). A ring that fits the processor's cache is
    /// faster than one that does not; one that is small makes its writer wait earlier.
    std::size_t to_server_bytes = std::size_t{64} * 1024;
    /// The capacity of the ring to the client, likewise.
    std::size_t to_client_bytes = std::size_t{128} * 1024;
    /// Handed out with each stream, for `shm_stream::follow`; outlives the acceptor. Null for none.
    const shm_broadcast* broadcast = nullptr;
    /// As `unix_acceptor::open`.
    int backlog = 4096;
};

/// Gives each process that connects memory to share.
class shm_acceptor {
 public:
    /// A closed acceptor.
    shm_acceptor() noexcept = default;

    /// Listens at `local`. A path must not exist yet, and is not removed when the acceptor is closed.
    /// @error As unix_acceptor::open.
    [[nodiscard]] static std::expected<shm_acceptor, std::error_code> open(context& on, unix_endpoint local,
                                                                           shm_options options = {}) noexcept;

    /// Takes the next connection. One for which there is no memory or no file is closed, and the next one is taken.
    ///
    /// @error   As unix_acceptor::accept; operation_not_supported on a simulated platform.
    /// @suspend Until a connection arrives. It never waits for a client.
    /// @overlap One accept at a time (asserted).
    /// @cancel  Observes the task's stop token.
    [[nodiscard]] task<std::expected<shm_stream, std::error_code>> accept();

    [[nodiscard]] bool is_open() const noexcept { return sockets_.is_open(); }
    void close() noexcept { sockets_.close(); }

 private:
    shm_acceptor(context& on, unix_acceptor sockets, shm_options options) noexcept
        : context_(&on), options_(options), sockets_(std::move(sockets)) {}
    [[nodiscard]] std::expected<shm_stream, std::error_code> share(unix_stream with);

    context* context_ = nullptr;
    shm_options options_;
    unix_acceptor sockets_;
};

}  // namespace corro::io
