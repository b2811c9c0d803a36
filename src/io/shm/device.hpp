// SPDX-License-Identifier: Apache-2.0
// The device of shared-memory streams: what a context does for them, in the place of a kernel.
//
// Not part of the library's interface. A stream's operation that cannot complete is parked, and the loop looks at its
// ring in every turn, without a system call. Before the loop sleeps, the words of the rings are set, and the peer
// rings: it sends one byte on the stream's Unix socket, where a task of the stream waits. The same wait reports the
// peer's death. Only the most recently used streams are looked at; the others rely on their bells.
//
//   open ---> polled ---> (complete)          looked at in every turn
//               |            ^
//               v            |
//             dozing --------+                its word is set: the peer rings
//
// Threads: one context. Limits: polled_max.
// Cost:    a look: two loads per polled stream. A bell: one system call on each side, only when a side sleeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <system_error>
#include <utility>

#include "io/loop/backend.hpp"
#include "io/loop/context.hpp"
#include "io/net/detail/kept.hpp"
#include "io/net/unix_socket.hpp"
#include "io/shm/layout.hpp"
#include "io/shm/memory.hpp"
#include "io/shm/ring.hpp"
#include "io/task/task.hpp"

namespace corro::io::shm {

/// The Unix socket of a stream.
struct bell_socket : unix_stream {
    bell_socket() noexcept = default;
    explicit bell_socket(unix_stream of) noexcept : unix_stream(std::move(of)) {}
    using socket_base::get;
};

/// One stream. Shared by the stream object and the task that waits for its bell.
struct stream_descriptor final : descriptor, io::detail::keepable {
    stream_descriptor(context& on, device& served_by) noexcept : descriptor(on, served_by) {}

    mapping memory;
    ring_reader reading;
    ring_writer writing;
    mapping broadcast;  // a client's; empty without one
    handover_words* handover = nullptr;
    broadcast_reader following;
    bool is_following = false;  // `following` is read, not `reading`
    bell_socket socket;
    int socket_file = -1;         // of `socket`; valid while that is open
    operation* reader = nullptr;  // a parked receive
    operation* writer = nullptr;  // a parked send
    stream_descriptor* newer = nullptr;
    stream_descriptor* older = nullptr;
    bool is_polled = false;
    bool is_peer_gone = false;           // the Unix socket has ended
    bool has_ended = false;              // this side sends no more
    bool has_announced_reading = false;  // its word is set, unless the peer has cleared it
    bool has_announced_writing = false;
};

class stream_device final : public memory_device {
 public:
    /// Streams that are looked at in every turn. A look at 64 idle ones takes a few hundred nanoseconds.
    static constexpr std::size_t polled_max = 64;

    explicit stream_device(context& on) noexcept : context_(on) {}
    /// The one of this context, made when it is first asked for.
    [[nodiscard]] static stream_device& of(context& on);

    /// A stream over memory that both sides have, with bells on `socket`.
    /// @param is_server  Which of the two rings it writes.
    /// @param file       The file of `socket`.
    /// @param broadcast  A client's: the ring that comes with it, or nothing.
    [[nodiscard]] descriptor& open(mapping memory, const hello& sizes, bool is_server, unix_stream socket, int file,
                                   mapping broadcast = {});
    /// Has the client continue in the broadcast ring, behind what was written so far. @pre On a server's stream.
    void follow(descriptor& on, std::uint64_t from) noexcept;
    /// Rings if the client sleeps.
    void wake(descriptor& on) noexcept;

    [[nodiscard]] std::error_code set_option(descriptor& on, socket_option option, int value) noexcept override;
    [[nodiscard]] std::expected<int, std::error_code> get_option(descriptor& on,
                                                                 socket_option option) noexcept override;
    [[nodiscard]] std::expected<socket_address, std::error_code> local_address(descriptor& on) noexcept override;
    [[nodiscard]] std::expected<socket_address, std::error_code> remote_address(descriptor& on) noexcept override;
    [[nodiscard]] std::error_code shutdown_send(descriptor& on) noexcept override;
    [[nodiscard]] int detach(descriptor& on) noexcept override;
    void close(descriptor& on) noexcept override;
    [[nodiscard]] bool start(operation& what) noexcept override;
    [[nodiscard]] bool try_send(operation& what) noexcept override;
    void cancel(operation& what) noexcept override;
    void abandon(operation& what) noexcept override;
    [[nodiscard]] bool look() noexcept override;
    [[nodiscard]] bool prepare_sleep() noexcept override;

 private:
    static stream_descriptor& own(descriptor& on) noexcept { return static_cast<stream_descriptor&>(on); }
    [[nodiscard]] static task<void> wait_for_bells(io::detail::kept<stream_descriptor> on);

    void ring(const stream_descriptor& on) noexcept;
    void on_bell(stream_descriptor& on) noexcept;
    [[nodiscard]] bool attempt_receive(stream_descriptor& on, operation& what) noexcept;
    [[nodiscard]] bool attempt_follow(stream_descriptor& on, operation& what) noexcept;
    static void begin_to_follow(stream_descriptor& on) noexcept;
    [[nodiscard]] bool attempt_send(stream_descriptor& on, operation& what) noexcept;
    [[nodiscard]] bool progress(stream_descriptor& on) noexcept;
    [[nodiscard]] bool doze(stream_descriptor& on) noexcept;
    void poll(stream_descriptor& on) noexcept;
    void stop_polling(stream_descriptor& on) noexcept;
    void unpark(operation& what) noexcept;

    context& context_;
    stream_descriptor* newest_ = nullptr;  // of the polled ones, by their last parking
    stream_descriptor* oldest_ = nullptr;
    std::size_t polled_count_ = 0;
};

}  // namespace corro::io::shm
