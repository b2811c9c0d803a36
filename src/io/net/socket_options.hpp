// SPDX-License-Identifier: Apache-2.0
// Socket options as types: `stream.set_option(no_delay(true))`.
#pragma once

#include <chrono>

#include "io/loop/backend.hpp"

namespace corro::io {

/// An option's name and value, in the unit that the backend takes.
template <socket_option Name>
struct number_option {
    /// Which option it is.
    static constexpr socket_option name = Name;
    explicit constexpr number_option(int number) noexcept : value(number) {}
    /// In the option's own unit.
    int value;
};

/// The same for an option that is on or off.
template <socket_option Name>
struct switch_option {
    /// Which option it is.
    static constexpr socket_option name = Name;
    explicit constexpr switch_option(bool on) noexcept : value(on ? 1 : 0) {}
    /// In the option's own unit.
    int value;
};

/// Send small writes at once instead of gathering them (Nagle's algorithm off).
using no_delay = switch_option<socket_option::no_delay>;
/// Probe an idle connection from time to time.
using keep_alive = switch_option<socket_option::keep_alive>;
/// Seconds of silence before the first probe.
using keep_alive_idle = number_option<socket_option::keep_alive_idle_s>;
/// Seconds between probes.
using keep_alive_interval = number_option<socket_option::keep_alive_interval_s>;
/// Unanswered probes until the connection counts as dead.
using keep_alive_count = number_option<socket_option::keep_alive_count>;
/// Milliseconds that sent data may stay unacknowledged before the connection counts as dead.
using user_timeout = number_option<socket_option::user_timeout_ms>;
/// Acknowledge at once instead of waiting for data to go with it; the kernel may switch back.
using quick_acknowledge = switch_option<socket_option::quick_acknowledge>;
/// Seconds that `close` tries to deliver unsent bytes; 0 resets the connection, a negative value is the default.
using linger_seconds = number_option<socket_option::linger_s>;
/// Bind although connections of an earlier socket linger.
using reuse_address = switch_option<socket_option::reuse_address>;
/// Let several sockets share the port; the kernel spreads connections or datagrams over them.
using reuse_port = switch_option<socket_option::reuse_port>;
/// Bytes; the kernel doubles the value for its own bookkeeping.
using send_buffer = number_option<socket_option::send_buffer_bytes>;
/// Bytes; the kernel doubles the value for its own bookkeeping.
using receive_buffer = number_option<socket_option::receive_buffer_bytes>;
/// Read-only, for a Unix socket: the user id of the process at the other end when it connected or listened.
using peer_user = number_option<socket_option::peer_user>;
/// Refuse IPv4 peers on an IPv6 socket.
using ipv6_only = switch_option<socket_option::ipv6_only>;

}  // namespace corro::io
