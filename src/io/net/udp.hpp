// SPDX-License-Identifier: Apache-2.0
// UDP: unicast and multicast, single datagrams and batches.
//
// Threads: one context.
// Cost:    as datagram_socket.hpp.
#pragma once

#include <cstdint>
#include <expected>
#include <system_error>

#include "io/net/datagram_socket.hpp"
#include "io/net/endpoint.hpp"

namespace corro::io {

/// Whether this machine's own members of a group receive what it sends to the group.
using multicast_loop = switch_option<socket_option::multicast_loop>;
/// How many routers multicast may cross; 1 stays in the local network.
using multicast_hops = number_option<socket_option::multicast_hops>;
/// The index of the interface that sends multicast.
using multicast_interface = number_option<socket_option::multicast_interface>;

/// Options of a UDP socket.
struct udp_options {
    udp_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// Allows several sockets to bind the same address and port, as members of one multicast group on one machine must.
    bool reuse_address = false;
};

/// A UDP socket.
class udp_socket : public datagram_socket {
 public:
    /// A closed socket.
    udp_socket() noexcept = default;

    /// Binds to `local`; port 0 lets the system choose.
    /// @error address_in_use, permission_denied and other errors of the system.
    [[nodiscard]] static std::expected<udp_socket, std::error_code> open(context& on, endpoint local,
                                                                         udp_options options = {}) noexcept;

    /// Joins `group` on the interface with this index (0: the system's choice). @error what the system reports.
    [[nodiscard]] std::error_code join_group(const endpoint& group, std::uint32_t interface = 0) noexcept;
    /// Leaves `group` again. @error the system's, if the group was not joined there.
    [[nodiscard]] std::error_code leave_group(const endpoint& group, std::uint32_t interface = 0) noexcept;

    [[nodiscard]] std::expected<endpoint, std::error_code> local_endpoint() const noexcept;

 private:
    explicit udp_socket(descriptor& owned) noexcept : datagram_socket(owned) {}
};

}  // namespace corro::io
