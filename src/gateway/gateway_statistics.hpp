// SPDX-License-Identifier: Apache-2.0
// What order entry counts. Each class of the gateway counts its own part of it.
#pragma once

#include <array>
#include <cstdint>

namespace corro::gateway {

/// Counts since the gateway was made.
struct gateway_statistics {
    // The acceptor.
    std::uint64_t connections_accepted = 0;
    std::uint64_t connections_refused = 0;   ///< closed at once: too many sessions
    std::uint64_t strangers_turned_out = 0;  ///< closed before they had logged on, to make room for newer ones
    std::uint64_t crowds_left = 0;           ///< after which idle memory was given back
    std::uint32_t connections_now = 0;

    // The registry of sessions.
    std::uint64_t logons = 0;
    std::uint64_t logons_throttled = 0;            ///< refused because the session had logged on too often
    std::uint64_t refusals_held_back = 0;          ///< refused after a wait, because of wrong proofs before
    std::array<std::uint64_t, 256> refusals_by{};  ///< of the facility, by domain::reject_reason
    std::uint64_t answers_undelivered = 0;         ///< private messages whose session was not connected
    std::uint64_t gaps_announced = 0;              ///< logons that asked for answers that were no longer kept
    std::uint64_t overloaded = 0;                  ///< requests that the facility could not take
    std::uint64_t taken_over = 0;                  ///< connections whose session another one has taken over
    std::uint64_t throttled_cut = 0;               ///< sessions ended because they sent far more than they may
    std::uint64_t cancels_on_disconnect = 0;
    std::uint64_t cancels_after_start = 0;  ///< for sessions that a restart disconnected and that did not come back
    std::uint64_t days_ended = 0;           ///< sessions that were logged out for a reset
    std::uint64_t numbers_reset = 0;        ///< resets of a session's numbers
    std::uint32_t sessions_now = 0;

    // The sessions.
    std::uint64_t logons_refused = 0;                    ///< also by a TLS handshake that failed
    std::array<std::uint64_t, 256> logons_refused_by{};  ///< by number_of(end_reason), of those that sent a hello
    std::uint64_t session_rejects = 0;
    std::array<std::uint64_t, 256> session_rejects_by{};  ///< by the protocol's own reason
    std::uint64_t requests = 0;                           ///< passed on to the facility
    std::uint64_t answers = 0;                            ///< private messages put into a session's buffer
    std::uint64_t answers_resent = 0;                     ///< private messages sent again to sessions that came back
    std::uint64_t protocol_errors = 0;  ///< connections closed because their bytes were not the protocol
    std::uint64_t idle_cut = 0;
    std::uint64_t slow_cut = 0;
};

}  // namespace corro::gateway
