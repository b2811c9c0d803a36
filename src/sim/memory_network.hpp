// The sockets of a world in memory, and who is bound where.
//
// Bytes and datagrams arrive at the moment in which they are sent. What the kernel does that a program can see is done
// here too: a full buffer makes a sender wait, a closed stream with unread bytes resets its peer, a port that nobody
// listens on refuses. Statuses are errno numbers.
//
// Threads: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "io/loop/backend.hpp"

namespace corro::sim {

/// Bytes that a stream holds for a peer that does not read; more wait with the sender.
inline constexpr std::size_t stream_bytes_max = std::size_t{256} * 1024;
/// Datagrams that a socket holds; further ones are lost, as in a kernel.
inline constexpr std::size_t datagrams_max = 4'096;
/// The largest datagram over an internet address, in bytes.
inline constexpr std::size_t datagram_bytes_max = 65'507;

class memory_backend;

/// A socket in memory. Owned by the backend of its context; a connection that nobody has accepted yet, by its acceptor.
struct memory_socket final : io::descriptor {
    memory_socket(io::context& on, memory_backend& by, io::transport what) noexcept
        : descriptor(on), home(&by), kind(what) {}
    ~memory_socket() = default;
    memory_socket(const memory_socket&) = delete;
    memory_socket& operator=(const memory_socket&) = delete;

    struct stored_datagram {
        std::vector<std::byte> data;
        io::socket_address from;
    };

    memory_backend* home;
    io::transport kind;
    io::socket_address local;
    io::socket_address remote;
    bool is_bound = false;
    bool is_connected = false;
    bool is_listening = false;
    bool has_news = false;        ///< in its backend's queue of events
    bool peer_has_ended = false;  ///< no more bytes come behind `inbox`
    bool send_is_over = false;
    bool was_reset = false;
    std::size_t backlog = 0;
    memory_socket* peer = nullptr;  ///< of a connected stream, or of a pair
    std::deque<std::byte> inbox;
    std::deque<stored_datagram> datagrams;
    std::deque<std::unique_ptr<memory_socket>> arrived;  ///< connections to be accepted
    std::map<io::socket_option, int> options;
    std::set<io::endpoint> groups;
    io::operation* reader = nullptr;
    io::operation* writer = nullptr;
};

[[nodiscard]] constexpr bool is_stream(io::transport kind) noexcept {
    return kind == io::transport::tcp_ipv4 || kind == io::transport::tcp_ipv6 || kind == io::transport::unix_stream;
}

class memory_network {
 public:
    /// Binds `socket`; port 0 gets a free one. @return EADDRINUSE, EINVAL (bound already), 0.
    [[nodiscard]] int bind(memory_socket& socket, const io::socket_address& address);
    /// Gives up what it is bound to, connected to, and what was not accepted.
    void unbind(memory_socket& socket) noexcept;

    /// Connects `socket` to the acceptor at `address`. @return ECONNREFUSED, EAGAIN (the acceptor's queue is full), 0.
    [[nodiscard]] int connect(memory_socket& socket, const io::socket_address& address);

    /// Each attempt returns true when the operation is complete, false when it has to wait.
    [[nodiscard]] static bool attempt(memory_socket& on, io::operation& what);
    [[nodiscard]] bool send_batch(memory_socket& from, io::operation& what);

 private:
    [[nodiscard]] memory_socket* find(io::transport kind, const io::socket_address& address) const;
    [[nodiscard]] int send_one(memory_socket& from, const io::datagram& what);

    using binding = std::pair<io::transport, io::socket_address>;
    std::multimap<binding, memory_socket*> bound_;
    std::uint16_t next_port_ = 49'152;
};

}  // namespace corro::sim
