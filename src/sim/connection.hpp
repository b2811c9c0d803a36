// SPDX-License-Identifier: Apache-2.0
// A connection of two stream sockets: the handshake, the bytes under way in either direction, and its end.
//
// Simulated: the handshake, refusal, a full queue of the acceptor (the request is sent again, after 1 s, 2 s, and so
// on), one window of bytes for each direction that stands for both buffers, the time until the sender learns that room
// was made, ends of one direction, resets, links that are cut (what is lost is sent again, at growing intervals, until
// `stream_timeout` is over), and peers that vanished without a word. Bytes of one direction arrive in order.
//
// Not simulated: congestion, delayed acknowledgements, keep-alive probes, simultaneous opens. The acceptor's side
// exists from the moment in which the request arrives.
//
// Threads: one.
// Source:  RFC 9293 (TCP); the behaviour of Linux 6 where that leaves a choice.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "sim/byte_queue.hpp"
#include "sim/socket.hpp"

namespace corro::sim {

class host;
class link;
class network;

/// Bytes of one direction that are under way, or wait for the peer's process; more wait with the sender.
inline constexpr std::size_t stream_window_bytes = std::size_t{256} * 1024;
/// The first interval after which lost bytes are sent again; it doubles up to `stream_retry_max`.
inline constexpr std::chrono::milliseconds stream_retry{200};
inline constexpr std::chrono::seconds stream_retry_max{120};
/// How long bytes are sent again before a connection fails with ETIMEDOUT, unless the socket's user timeout says less.
inline constexpr std::chrono::seconds stream_timeout{924};
/// The first interval after which a request for a connection is sent again; it doubles.
inline constexpr std::chrono::seconds connect_retry{1};
/// After this many requests without an answer, connecting fails with ETIMEDOUT: 127 s.
inline constexpr int connect_tries_max = 7;

class connection : public std::enable_shared_from_this<connection> {
 public:
    /// The ends of a connection, and the directions from them.
    enum end : std::size_t { caller = 0, callee = 1 };

    connection(network& in, host& from, host* to) noexcept;
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    /// Asks `address` for a connection; if the link takes no time, the answer is there at once. The caller's socket is
    /// connected then, or has an error.
    void ask(socket& from, const io::socket_address& address);
    /// Joins two sockets of one host.
    void join(socket& one, socket& other) noexcept;

    /// Sends as much of the bytes as the window has room for. @return How much.
    [[nodiscard]] std::size_t send(end from, std::span<const std::byte> bytes);
    /// Whether the peer's socket is closed. Unix sockets notice at once.
    [[nodiscard]] bool peer_is_gone(end of) const noexcept { return directions_[of].to == nullptr; }
    /// The process at this end has taken bytes.
    void was_read(end by, std::size_t bytes);
    /// Ends the sending direction.
    void end_sending(end from);
    /// The socket at this end is closed: what was sent still arrives, and bytes that it never read reset the peer.
    void close(end at, bool resets);
    /// The host of this end has lost its power: nothing more leaves or arrives there, and the peer is not told.
    void vanish(end at) noexcept;

 private:
    enum class packet_kind : std::uint8_t { bytes, end_of_stream, reset, nothing };
    struct packet {
        packet_kind what = packet_kind::bytes;
        bool is_lost = false;      // it leaves, and does not arrive
        std::size_t bytes = 0;     // how many it carries
        std::uint64_t offset = 0;  // of the first of them, in the stream
    };
    /// From one end to the other.
    struct direction {
        socket* from = nullptr;  // null when closed or gone
        socket* to = nullptr;
        host* source = nullptr;
        host* target = nullptr;  // null for an address that nobody has
        link* over = nullptr;    // null without a target
        byte_queue bytes;        // of the packets under way and lost
        std::deque<packet> under_way;
        std::deque<packet> lost;          // to be sent again
        std::uint64_t lost_since_ns = 0;  // of the first of them
        std::uint64_t retry_ns = 0;
        bool retries = false;  // a retry is planned
        std::uint64_t last_arrival_ns = 0;
        std::uint64_t sent_bytes = 0;
        std::uint64_t arrived_bytes = 0;
        std::uint64_t read_bytes = 0;        // by the process at the other end
        std::uint64_t known_read_bytes = 0;  // by the sender
        std::uint64_t telling_bytes = 0;     // what the word under way says
        bool tells = false;                  // such a word is under way
        bool waits = false;                  // the sender found no room
        bool vanished = false;               // `from` has gone without a word
    };

    [[nodiscard]] static end other(end of) noexcept { return of == caller ? callee : caller; }
    [[nodiscard]] std::uint64_t now_ns() const noexcept;
    using step = void (connection::*)(end);
    void plan(std::uint64_t at_ns, step what, end of);
    /// Sends a packet without contents that is not sent again, and goes on with `then` when it arrives.
    void signal(end from, step then);
    [[nodiscard]] static bool is_passable(const direction& way) noexcept;

    // The handshake; the argument is not used.
    void try_to_ask(end);
    void asked(end);
    void answered(end);
    void refused(end);
    void finish_asking(int status);
    [[nodiscard]] bool make_callee(socket& acceptor);

    void put(end from, packet what);
    void arrive(end from);
    void deliver(end from, const packet& what);
    void lose(end from, packet what);
    void retry(end from);
    static void give_up_lost(direction& way) noexcept;
    void fail(end whose, int error);
    void tell(end reader);
    void told(end reader);

    network& network_;
    std::array<direction, 2> directions_;
    io::socket_address address_;  // that the caller asked for
    int tries_count_ = 0;
    bool is_established_ = false;
};

}  // namespace corro::sim
