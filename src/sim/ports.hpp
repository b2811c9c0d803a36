// SPDX-License-Identifier: Apache-2.0
// Which socket of a host is bound to which address.
//
// Threads: one.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "sim/socket.hpp"

namespace corro::sim {

class ports {
 public:
    /// Binds `socket`; port 0 gets a free one. @return EADDRINUSE, EINVAL (bound already), 0.
    [[nodiscard]] int bind(socket& socket, const io::socket_address& address);
    void unbind(socket& socket) noexcept;

    /// The socket that takes what is sent to `address`: one bound to it, or to its port on every address.
    [[nodiscard]] socket* find(io::transport kind, const io::socket_address& address) const;
    /// The sockets that are members of a group and bound to its port, in the order of their addresses.
    [[nodiscard]] std::vector<socket*> members(io::transport kind, const io::endpoint& group) const;

 private:
    using binding = std::pair<io::transport, io::socket_address>;

    std::multimap<binding, socket*> bound_;
    std::uint16_t next_port_ = 49'152;
};

/// 0.0.0.0 or [::], whatever the port.
[[nodiscard]] bool is_any_address(const io::endpoint& at) noexcept;
/// 127.0.0.0/8 or [::1].
[[nodiscard]] bool is_loopback(const io::endpoint& at) noexcept;
/// Every address of the family of `like`, with a port.
[[nodiscard]] io::endpoint any_address_like(const io::endpoint& like, std::uint16_t port) noexcept;

}  // namespace corro::sim
