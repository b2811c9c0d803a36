// SPDX-License-Identifier: Apache-2.0
// Connecting to a name: its addresses are raced, so that one that does not work delays the others by little.
//
//     auto venue = co_await io::connect_by_name("venue.example", 9000);
//
// Many names have addresses of both families, and often one family does not work from a given place. A client that
// tries one address after the other then waits for minutes. Here the families take turns; the next attempt begins when
// an attempt has failed, or 250 ms after the last one began. The first connection wins; the other attempts are stopped,
// and their sockets closed.
//
// Limits:  the first `connect_attempts_max` addresses are tried, after the families have been interleaved.
// Threads: one context, whose clock times the attempts.
// Cost:    one frame and one socket for each attempt under way.
// Source:  RFC 8305, sections 4 and 5. The two families of a name are not looked up separately (section 3): the
//          system's resolver returns both at once.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <system_error>
#include <vector>

#include "io/net/endpoint.hpp"
#include "io/net/tcp.hpp"
#include "io/task/task.hpp"

namespace corro::io {

/// Attempts of one call, at most: with the usual delay the last one begins after 8 seconds.
inline constexpr std::size_t connect_attempts_max = 32;

/// An address that could not be connected, and why.
struct failed_attempt {
    /// An attempt to connect to `to`.
    failed_attempt(endpoint to, std::error_code reason) noexcept : address(to), error(reason) {}

    /// Where the attempt went.
    endpoint address;
    /// The system's error, such as connection_refused or network_unreachable.
    std::error_code error;
};

/// Options of connecting to one of several addresses.
struct connect_options {
    connect_options() noexcept {}  // NOLINT: g++ 12 mistreats aggregate temporaries inside co_await expressions

    /// From the beginning of an attempt to that of the next, unless one fails before. RFC 8305 recommends 250 ms, and
    /// not less than 100 ms. Zero: all attempts begin at once.
    std::chrono::nanoseconds attempt_delay = std::chrono::milliseconds(250);
    /// The attempts that failed by themselves are appended here, in the order in which they failed, also when another
    /// one succeeds. The caller owns it until the call has ended. Null: not wanted.
    std::vector<failed_attempt>* failures = nullptr;
};

/// Connects to the address that answers first.
///
/// @param addresses  In the order of preference; the family of the first begins. Repeated addresses count once.
/// @return           A connection; `remote_endpoint` of it is the address that won.
/// @error            The error of the attempt that failed last, when all have failed (`options.failures` lists all);
///                   errc::host_not_found if there is no address; operation_canceled on stop.
/// @suspend          Until one attempt has succeeded or all have failed, and the others have been stopped; resumes on
///                   the task's own context.
/// @cancel           Observes the task's stop token; all attempts are stopped and their sockets closed. A connection
///                   that was established before the stop is returned.
[[nodiscard]] task<std::expected<tcp_stream, std::error_code>> connect_to_first(std::vector<endpoint> addresses,
                                                                                connect_options options = {});

/// Looks up `host`, a name or a numeric address, and connects to the address that answers first.
///
/// @error   As `resolve` and as `connect_to_first`.
/// @suspend Until the name is looked up and one attempt has succeeded or all have failed; resumes on the task's own
///          context.
/// @cancel  Observes the task's stop token, as `resolve` and `connect_to_first` do.
[[nodiscard]] task<std::expected<tcp_stream, std::error_code>> connect_by_name(std::string host, std::uint16_t port,
                                                                               connect_options options = {});

namespace detail {

/// The addresses to try, in their order: the families take turns, each in its own order; at most
/// `connect_attempts_max`, none twice.
[[nodiscard]] std::vector<endpoint> interleaved(const std::vector<endpoint>& addresses);

}  // namespace detail
}  // namespace corro::io
