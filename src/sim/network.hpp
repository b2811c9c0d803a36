// SPDX-License-Identifier: Apache-2.0
// The network of a world: which host has which address, and the links between hosts.
//
// Hosts reach each other by their addresses, and themselves by 127.0.0.0/8 and [::1] as well. Datagrams may be lost,
// come twice, and overtake one another; a datagram for a port that nobody has is refused, which a connected socket
// learns. A group's datagrams go to its members on all hosts. Unix sockets are within a host.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "io/loop/backend.hpp"
#include "sim/action.hpp"
#include "sim/link.hpp"
#include "sim/socket.hpp"

namespace corro::sim {

class host;
class world;

/// The largest datagram over an internet address, in bytes.
inline constexpr std::size_t datagram_bytes_max = 65'507;

class network {
 public:
    explicit network(world& in) noexcept : world_(in) {}

    /// The link from one host to another, or within one. Made when it is asked for, by default without faults.
    [[nodiscard]] link& link_between(const host& from, const host& to);
    /// The options of links that are not made yet, except those within a host.
    [[nodiscard]] link_options& usual_options() noexcept { return usual_; }

    [[nodiscard]] bool has_address(const io::endpoint& address) const { return hosts_.contains(address.with_port(0)); }
    void add_address(const io::endpoint& address, host& of) { hosts_[address.with_port(0)] = &of; }
    /// The host that `asking` means by an address; null for one that nobody has.
    [[nodiscard]] host* find(const io::endpoint& address, host& asking) const;

    /// Binds `socket`, whose host is `on`. @return As ports::bind, and EADDRNOTAVAIL.
    [[nodiscard]] int bind(socket& socket, host& on, const io::socket_address& address) const;
    /// Connects a datagram socket, or begins to connect a stream. Its connection holds the outcome.
    /// @return ENOENT, EISCONN, EADDRNOTAVAIL; 0 when it is under way or done.
    [[nodiscard]] int connect(socket& socket, host& on, const io::socket_address& address);
    /// Sends the datagrams of a batch. @return Whether the operation is complete.
    [[nodiscard]] bool send_batch(socket& from, host& on, io::operation& what);

    // For connections.
    [[nodiscard]] std::uint64_t now_ns() const noexcept;
    void plan(std::uint64_t at_ns, action what);
    void record(std::uint64_t from, std::uint64_t to, std::span<const std::byte> bytes) noexcept;

 private:
    [[nodiscard]] int send_one(socket& from, host& on, const io::datagram& what);
    [[nodiscard]] int send_on_host(socket& from, host& on, const io::socket_address& to,
                                   const io::datagram& what) const;
    void send_to_host(host& on, host& target, io::transport kind, const stored_datagram& what, const io::endpoint& to,
                      bool is_connected);
    void arrive(host& on, host& target, io::transport kind, const stored_datagram& what, const io::endpoint& to,
                bool is_connected);
    void refuse(host& at, io::transport kind, const io::socket_address& sender) const;

    world& world_;
    link_options usual_;
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::unique_ptr<link>> links_;  // by numbers of hosts
    std::map<io::endpoint, host*> hosts_;                                             // by address, with port 0
};

}  // namespace corro::sim
